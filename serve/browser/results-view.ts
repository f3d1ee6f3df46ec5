/** Agents on the same samples, with significance tests of their differences. */
import { sectionTitles } from '../../reports/titles.js';
import type { ShownComparison, ShownSet, ShownTable } from '../api.js';
import { choice, get, h, quiet, table, trouble } from './dom.js';
import type { State } from './state.js';

/** A test takes about a second per agent. */
const mostCompared = 16;

/** Fills the view; reads again when the list of runs changes. */
export function openResults(view: HTMLElement, _state: State) {
  const body = h('div', {});
  let read = '';
  view.replaceChildren(h('h1', {}, sectionTitles.results), body);
  const update = async () => {
    try {
      const { sets } = await get<{ sets: ShownSet[] }>('/api/results');
      const now = JSON.stringify(sets);
      if (now === read) return;
      read = now;
      const none = quiet(
        'Nothing was evaluated yet: ',
        h('code', {}, 'kgwalk evaluate RUN'),
        ' and ',
        h('code', {}, 'kgwalk compare A B'),
        ' keep what they find, and it appears here.',
      );
      body.replaceChildren(...(sets.length > 0 ? sets.map(setSection) : [none]));
    } catch (error) {
      body.replaceChildren(trouble(error));
    }
  };
  void update();
  return { update: (change: string) => change === 'list' && void update(), close() {} };
}

function setSection(set: ShownSet): HTMLElement {
  const { heading, table: shown, caption } = set.shown;
  const below = h('div', { 'aria-live': 'polite' });
  const links = set.rows.map(({ examples, evaluations: [key] }) => {
    const href = key !== undefined && `#examples?evaluation=${encodeURIComponent(key)}`;
    return examples > 0 && href && h('small', {}, h('a', { href }, `${examples} examples`));
  });
  return h(
    'section',
    { class: 'set' },
    h('h2', {}, heading),
    textTable(shown, set.title, links),
    quiet(caption),
    set.rows.length > 1 && tester(set, below),
    below,
  );
}

function tester(set: ShownSet, below: HTMLElement): HTMLElement {
  const comparable = set.rows.filter(({ evaluations }) => evaluations.length > 0).slice(0, mostCompared);
  // Default reference: the best untrained agent.
  const reference = comparable.find(({ own }) => !own) ?? comparable.at(-1)!;
  let [against, mixed] = [reference.evaluations[0]!, false];
  const test = async () => {
    go.disabled = true;
    below.replaceChildren(quiet('testing …'));
    const evaluation = comparable.map(({ evaluations }) => (evaluations.includes(against) ? against : evaluations[0]!));
    try {
      const found = await get<ShownComparison>('/api/compare', { evaluation, against, mixed: String(mixed) });
      below.replaceChildren(comparisonTable(found));
    } catch (error) {
      below.replaceChildren(trouble(error));
    }
    go.disabled = false;
  };
  const go = h('button', { type: 'submit', class: 'act' }, 'Test the differences');
  const references = comparable.map(({ label, evaluations }) => [evaluations[0]!, label] as const);
  const box = h('input', { type: 'checkbox', change: () => (mixed = box.checked) });
  return h(
    'form',
    { class: 'controls', submit: (event) => (event.preventDefault(), void test()) },
    choice('against', references, against, (key) => (against = key)),
    h('label', { class: 'field' }, box, h('span', {}, 'models and budgets may differ')),
    go,
  );
}

function comparisonTable({ against, n, clusters, table: shown }: ShownComparison): HTMLElement {
  return h(
    'div',
    {},
    h('h3', {}, `Differences from ${against.name}`),
    textTable(shown, `differences from ${against.name}`),
    quiet(
      `Paired, over the same ${n.toLocaleString('en-US')} samples, by a bootstrap over ${clusters}; p is two-sided and not corrected for the number of tests.`,
    ),
  );
}

/** A table of texts. @param below element in the first cell of each row */
function textTable({ head, rows }: ShownTable, label: string, below: readonly (Node | '' | false)[] = []): HTMLElement {
  const cells = rows.map((row, place) =>
    row.cells.map(({ text, details = [], kind }, column) => {
      const lines = details.map((line) => h('small', {}, line));
      return h('span', { class: kind }, text, ...lines, (column === 0 && below[place]) || undefined);
    }),
  );
  const own = rows.flatMap((row, place) => (row.own ? [place] : []));
  return table(head, cells, { label, own });
}

/** Agents on the same samples, with significance tests of their differences. */
import type { ShownComparison, ShownDifference, ShownEstimate, ShownFigure, ShownRow, ShownSet } from '../api.js';
import { choice, get, h, quiet, table, trouble } from './dom.js';
import type { State } from './state.js';

/** A test takes about a second per agent. */
const mostCompared = 16;

/** Fills the view; reads again when the list of runs changes. */
export function openResults(view: HTMLElement, _state: State) {
  const body = h('div', {});
  let read = '';
  view.replaceChildren(h('h1', {}, 'Results'), body);
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
  const figures = mainFigures(set.figures);
  const below = h('div', { 'aria-live': 'polite' });
  const best = new Map(figures.map(({ key, better }) => [key, extreme(set.rows, key, better)]));
  const asks = set.rows.some(({ cost }) => (cost.calls ?? 0) > 0);
  const rows = set.rows.map((row) => [
    h('span', {}, h('b', {}, row.label), ...row.aside.map((line) => h('small', {}, line))),
    ...figures.map((figure) => figureCell(row.metrics[figure.key], figure, best.get(figure.key))),
    ...(asks ? [row.cost.calls ? row.cost.calls.toFixed(1) : ''] : []),
    row.examples > 0 && row.evaluations[0] !== undefined
      ? h('a', { href: `#examples?evaluation=${encodeURIComponent(row.evaluations[0])}` }, `${row.examples}`)
      : '',
  ]);
  const n = Math.max(...set.rows.flatMap(({ metrics }) => Object.values(metrics).map((one) => one.n)));
  return h(
    'section',
    { class: 'set' },
    h('h2', {}, set.title),
    quiet(
      `n = ${n.toLocaleString('en-US')}; below each figure its 95 % interval${set.simulated === undefined ? '' : `; simulated by ${set.simulated}, which knows the answers`}`,
    ),
    table(['agent', ...figures.map(headOf), ...(asks ? ['calls'] : []), 'examples'], rows, { label: set.title }),
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

function comparisonTable({ against, n, clusters, figures, comparisons }: ShownComparison): HTMLElement {
  const shown = mainFigures(figures.filter(({ key }) => comparisons.some(({ differences }) => differences[key])));
  const rows = comparisons.flatMap(({ agent, differences, slices = {} }) => [
    [h('b', {}, agent), ...shown.map((figure) => differenceCell(differences[figure.key], figure))],
    ...Object.entries(slices).map(([slice, own]) => [
      h('span', { class: 'quiet' }, slice),
      ...shown.map((figure) => differenceCell(own[figure.key], figure)),
    ]),
  ]);
  return h(
    'div',
    {},
    h('h3', {}, `Differences from ${against.name}`),
    quiet(
      `Paired, over the same ${n.toLocaleString('en-US')} samples, by a bootstrap over ${clusters}; p is two-sided and not corrected for the number of tests.`,
    ),
    table(['agent', ...shown.map(headOf)], rows, { label: `differences from ${against.name}` }),
  );
}

/** Main figures, otherwise the first ones. */
function mainFigures(figures: readonly ShownFigure[]): ShownFigure[] {
  const main = figures.filter(({ place }) => place === 'main');
  return main.length > 0 ? main : figures.slice(0, 4);
}

const headOf = ({ title, unit }: ShownFigure) => `${title}${unit === '%' ? ', %' : ''}`;

function numberText(value: number, unit: ShownFigure['unit']): string {
  return unit === '%' ? (100 * value).toFixed(1) : value.toFixed(unit === 'mean' ? 3 : 1);
}

function extreme(rows: readonly ShownRow[], key: string, better: 'high' | 'low'): number {
  const values = rows.flatMap(({ metrics }) => metrics[key]?.value ?? []);
  return better === 'high' ? Math.max(...values) : Math.min(...values);
}

function figureCell(figure: ShownEstimate | undefined, { unit }: ShownFigure, best: number | undefined): Node | string {
  if (!figure) return '';
  const value = numberText(figure.value, unit);
  const interval = `${numberText(figure.low, unit)} to ${numberText(figure.high, unit)}`;
  return h('span', {}, figure.value === best ? h('b', {}, value) : value, h('small', {}, interval));
}

function differenceCell(one: ShownDifference | undefined, { unit, better }: ShownFigure): Node | string {
  if (!one) return '';
  const sign = (value: number) => `${value > 0 ? '+' : value < 0 ? '−' : ''}${numberText(Math.abs(value), unit)}`;
  const isSure = one.low > 0 || one.high < 0;
  const kind = !isSure ? undefined : one.value > 0 === (better === 'high') ? 'better' : 'worse';
  const p = one.pValue < 0.001 ? 'p < 0.001' : `p = ${one.pValue.toFixed(3)}`;
  return h(
    'span',
    { class: kind },
    sign(one.value),
    h('small', {}, `${sign(one.low)} to ${sign(one.high)}`),
    h('small', {}, p),
  );
}

/** Worked examples: the question, and the agent's ranked walks drawn on the graph. */
import { examplesCaption, sectionTitles } from '../../reports/titles.js';
import type { ShownExample, ShownSet } from '../api.js';
import { choice, controls, drawing, get, h, quiet, trouble } from './dom.js';
import type { State } from './state.js';

type Wanted = 'all' | 'right' | 'wrong';

/** Fills the view. The evaluation is in the URL: `#examples?evaluation=KEY`. */
export function openExamples(view: HTMLElement, _state: State) {
  const body = h('div', { class: 'examples' });
  const note = h('p', { class: 'quiet', role: 'status' });
  const chosenBy = controls();
  let [wanted, examples]: [Wanted, ShownExample[]] = ['all', []];
  view.replaceChildren(h('h1', {}, sectionTitles.examples), chosenBy, note, body);

  const draw = () => {
    const shown = examples.filter(({ right }) => wanted === 'all' || right === (wanted === 'right'));
    note.textContent = `${shown.length} of ${examples.length}. ${examplesCaption}`;
    body.replaceChildren(...shown.map(exampleCard));
  };
  const load = async () => {
    try {
      const { sets } = await get<{ sets: ShownSet[] }>('/api/results');
      const known = sets.flatMap(({ title, rows }) =>
        rows.flatMap(({ label, evaluations, examples: count }) =>
          count > 0 ? evaluations.map((key): [string, string] => [key, nameOf(label, title, key, evaluations)]) : [],
        ),
      );
      if (known.length === 0) {
        note.textContent = 'No evaluation has examples yet.';
        return;
      }
      const asked = new URLSearchParams(location.hash.split('?')[1] ?? '').get('evaluation');
      const chosen = known.some(([key]) => key === asked) ? asked! : known[0]![0];
      chosenBy.replaceChildren(
        choice('evaluation', known, chosen, (key) => {
          history.replaceState(null, '', `#examples?evaluation=${encodeURIComponent(key)}`);
          void show(key);
        }),
        choice('show', ['all', ['wrong', 'wrong ones'], ['right', 'right ones']], wanted, (value) => {
          wanted = value as Wanted;
          draw();
        }),
      );
      await show(chosen);
    } catch (error) {
      body.replaceChildren(trouble(error));
    }
  };
  const show = async (key: string) => {
    try {
      ({ examples } = await get<{ examples: ShownExample[] }>('/api/examples', { evaluation: key }));
      draw();
    } catch (error) {
      body.replaceChildren(trouble(error));
    }
  };
  void load();
  return { update() {}, close() {} };
}

function nameOf(label: string, title: string, key: string, all: readonly string[]): string {
  return `${label}${all.length > 1 ? `, ${key.split('/')[0]}` : ''} — ${title}`;
}

function exampleCard(example: ShownExample): HTMLElement {
  const { id, asked, gold, answers, right, verdict, lines = [], drawing: svg } = example;
  const messages = asked.map((text) => {
    const [, sender, said] = /^(user|assistant): ([^]*)$/.exec(text) ?? [];
    return h('p', { class: `message ${sender ?? ''}` }, said ?? text);
  });
  const earlier = messages.slice(0, -3);
  const count = (of: readonly unknown[], what: string) => `${of.length} ${what}${of.length === 1 ? '' : 's'}`;
  const items = answers.map(({ text, score, right: hit }) => {
    const shown = score !== undefined && h('span', { class: 'quiet' }, ` ${score}`);
    return h('li', { class: hit ? 'hit' : undefined }, text, shown);
  });
  return h(
    'article',
    { class: 'example' },
    h(
      'header',
      {},
      h('span', { class: 'quiet' }, id),
      h('span', { class: `verdict ${right ? 'right' : 'wrong'}` }, verdict),
    ),
    earlier.length > 0 &&
      h('details', { class: 'earlier' }, h('summary', {}, count(earlier, 'earlier message')), ...earlier),
    ...messages.slice(-3),
    h('dl', {}, h('dt', {}, 'right'), h('dd', { class: 'hit' }, gold.join('; '))),
    svg !== '' && drawing(svg),
    h(
      'details',
      { open: svg === '' },
      h('summary', { class: 'quiet' }, count(answers, 'answer')),
      h('ol', {}, ...items),
      ...lines.map((line) => quiet(line)),
    ),
  );
}

/** Custom questions to a trained run. */
import type { Answered, ShownRun, ShownSection, Suggestions } from '../api.js';
import { completed, inBrackets, wholeText } from './completion.js';
import { choice, drawing, get, h, post, quiet, table, trouble } from './dom.js';
import type { State } from './state.js';

const fieldTitles: Readonly<Record<string, readonly [title: string, example: string]>> = {
  question: ['question', 'what is said or asked; on questions [brackets] mark the topic'],
  start: ['start', 'the entity to walk from, as the graph writes it'],
  head: ['head', 'an entity'],
  relation: ['relation', 'a relation; ~RELATION asks for heads'],
};

type Fields = Suggestions['examples'][number];

/** Names offered while one is typed. */
const mostNames = 10;

/** Fills the view. The run is in the URL: `#ask?run=KEY`. */
export function openAsk(view: HTMLElement, state: State) {
  const form = h('form', { class: 'ask', submit: (event) => (event.preventDefault(), void ask()) });
  const offers = h('div', { class: 'offers' });
  const answers = h('div', { 'aria-live': 'polite' });
  const values: Record<string, string> = {};
  let relations: readonly string[] = [];
  let [run, checkpoint] = ['', 'best'];
  let offered = '';
  view.replaceChildren(h('h1', {}, 'Ask'), form, offers, answers);

  const ask = async () => {
    const body = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ''));
    const waiting = quiet('the first question loads the checkpoint …');
    answers.prepend(waiting);
    try {
      const answered = await post<Answered>('/ask', { run, checkpoint, ...body });
      waiting.replaceWith(answerCard(Object.values(body).join(' · '), answered));
    } catch (error) {
      waiting.replaceWith(trouble(error));
    }
  };
  /** Examples and relations: read after the form is there, since the data set is loaded for them. */
  const suggest = async () => {
    const of = run;
    try {
      const found = await get<Suggestions>('/api/questions', { run });
      if (of !== run) return;
      ({ relations } = found);
      offers.replaceChildren(
        ...(found.examples.length > 0 ? ['For example', ...found.examples.map(exampleButton)] : []),
      );
    } catch (error) {
      if (of === run) offers.replaceChildren(`No examples: ${(error as Error).message}`);
    }
  };
  const exampleButton = (fields: Fields) => {
    const fill = () => {
      for (const [name, value = ''] of Object.entries(fields)) {
        values[name] = value;
        form.querySelector<HTMLInputElement>(`input[name="${name}"]`)!.value = value;
      }
      void ask();
    };
    return h('button', { type: 'button', click: fill }, Object.values(fields).join(' · '));
  };
  const furnish = async () => {
    offers.replaceChildren();
    relations = [];
    try {
      const about = await get<ShownRun>('/api/run', { run });
      if (about.asked.words.length === 0) throw new Error(`${about.id} plays episodes: there is nothing to ask it.`);
      if (about.checkpoints.length === 0) throw new Error(`${about.id} has saved no checkpoint yet.`);
      if (!about.checkpoints.includes(checkpoint)) checkpoint = about.checkpoints[0]!;
      void suggest();
      const names = [...about.asked.words, ...(about.asked.start ? ['start'] : [])];
      for (const name of Object.keys(values)) if (!names.includes(name)) delete values[name];
      form.replaceChildren(
        runChoice(),
        choice('checkpoint', about.checkpoints, checkpoint, (value) => (checkpoint = value)),
        ...names.map(field),
        h('button', { type: 'submit', class: 'act' }, 'Ask'),
      );
    } catch (error) {
      form.replaceChildren(runChoice(), trouble(error));
    }
  };
  const runChoice = () => {
    const runs = askable().map(({ key, id }) => [key, id] as const);
    return choice('run', runs, run, (key) => {
      run = key;
      history.replaceState(null, '', `#ask?run=${encodeURIComponent(key)}`);
      void furnish();
    });
  };
  const field = (name: string) => {
    const [title, placeholder] = fieldTitles[name]!;
    const fixed = { name, type: 'text', placeholder, required: true, autocomplete: 'off', 'aria-label': title };
    const input = h('input', { ...fixed, input: () => (values[name] = input.value) });
    input.value = values[name] ?? '';
    const completion = {
      part: name === 'question' ? inBrackets : wholeText,
      names: name === 'relation' ? async (part: string) => holding(relations, part) : entitiesOf,
      ...(name === 'question' && { written: (entity: string) => `${entity}]` }),
    };
    return h('label', { class: 'field wide' }, h('span', {}, title), completed(input, completion));
  };
  const entitiesOf = async (prefix: string) =>
    (await get<{ entities: string[] }>('/api/entities', { run, prefix, limit: String(mostNames) })).entities;
  const askable = () => state.runs.filter(({ state: how }) => how !== 'broken');
  const update = () => {
    const runs = askable();
    const now = JSON.stringify(runs.map(({ key }) => key));
    if (now === offered) return;
    offered = now;
    const asked = new URLSearchParams(location.hash.split('?')[1] ?? '').get('run');
    const wanted = runs.find(({ key }) => key === (run || asked)) ?? runs[0];
    if (!wanted) return form.replaceChildren(quiet('There is no run to ask yet.'));
    run = wanted.key;
    void furnish();
  };
  update();
  return { update, close() {} };
}

/** Names that hold a part, those that begin with it first. */
function holding(names: readonly string[], part: string): string[] {
  const placeOf = (name: string) => name.toLowerCase().indexOf(part.toLowerCase());
  return names.filter((name) => placeOf(name) >= 0).sort((a, b) => Number(placeOf(a) > 0) - Number(placeOf(b) > 0));
}

function answerCard(question: string, { sections, milliseconds, drawing: svg }: Answered): HTMLElement {
  const head = h('header', {}, h('b', {}, question), h('span', { class: 'quiet' }, `${milliseconds} ms`));
  return h('article', { class: 'example answered' }, head, !!svg && drawing(svg), ...sections.map(sectionOf));
}

function sectionOf({ title, lines = [], rows }: ShownSection): HTMLElement {
  const keys = [...new Set((rows ?? []).flatMap((row) => Object.keys(row)))];
  const words = keys.flatMap((key, i) => (/^(path|rule|answer|entity)$/.test(key) ? [i] : []));
  const cells = rows?.map((row) => keys.map((key) => String(row[key] ?? '')));
  return h(
    'div',
    {},
    title !== '' && h('h4', {}, title),
    cells && table(keys, cells, { label: title || 'answers', words }),
    ...lines.map((line) => h('p', {}, line)),
  );
}

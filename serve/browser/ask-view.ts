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

/** A question to be asked; kept while another run is chosen. */
interface Asked {
  run: string;
  checkpoint: string;
  /** Texts by field. */
  values: Record<string, string>;
}

/** Fills the view. The run is in the URL: `#ask?run=KEY`. */
export function openAsk(view: HTMLElement, state: State) {
  const asked: Asked = { run: '', checkpoint: 'best', values: {} };
  const ask = () => void answer(asked, answers);
  const form = h('form', { class: 'ask', submit: (event) => (event.preventDefault(), ask()) });
  const offers = h('div', { class: 'offers' });
  const answers = h('div', { 'aria-live': 'polite' });
  let offered = '';
  view.replaceChildren(h('h1', {}, 'Ask'), form, offers, answers);

  const fill = (fields: Fields) => {
    for (const [name, value = ''] of Object.entries(fields)) {
      asked.values[name] = value;
      form.querySelector<HTMLInputElement>(`input[name="${name}"]`)!.value = value;
    }
    ask();
  };
  const furnish = async () => {
    const { run } = asked;
    const isChosen = () => run === asked.run;
    offers.replaceChildren();
    try {
      const about = await askableRun(run);
      if (!isChosen()) return;
      // The data set is loaded for them: the form does not wait.
      const suggestions = get<Suggestions>('/api/questions', { run });
      form.replaceChildren(runChoice(), ...fieldsOf(about, asked, suggestions));
      const shown = await offersOf(suggestions, fill);
      if (isChosen()) offers.replaceChildren(...shown);
    } catch (error) {
      if (isChosen()) form.replaceChildren(runChoice(), trouble(error));
    }
  };
  const runs = () => state.runs.filter(({ state: how }) => how !== 'broken');
  const runChoice = () => {
    const options = runs().map(({ key, id }) => [key, id] as const);
    return choice('run', options, asked.run, (key) => {
      asked.run = key;
      history.replaceState(null, '', `#ask?run=${encodeURIComponent(key)}`);
      void furnish();
    });
  };
  const update = () => {
    const now = JSON.stringify(runs().map(({ key }) => key));
    if (now === offered) return;
    offered = now;
    const named = asked.run || new URLSearchParams(location.hash.split('?')[1] ?? '').get('run');
    const wanted = runs().find(({ key }) => key === named) ?? runs()[0];
    if (!wanted) return form.replaceChildren(quiet('There is no run to ask yet.'));
    asked.run = wanted.key;
    void furnish();
  };
  update();
  return { update, close() {} };
}

/** @throws Error if there is nothing to ask the run, or nothing that would answer */
async function askableRun(run: string): Promise<ShownRun> {
  const about = await get<ShownRun>('/api/run', { run });
  if (about.asked.words.length === 0) throw new Error(`${about.id} plays episodes: there is nothing to ask it.`);
  if (about.checkpoints.length === 0) throw new Error(`${about.id} has saved no checkpoint yet.`);
  return about;
}

/** Checkpoint, a field for each input of the run, and the button; drops texts of other fields. */
function fieldsOf({ asked: { words, start }, checkpoints }: ShownRun, asked: Asked, suggestions: Promise<Suggestions>) {
  const names = [...words, ...(start ? ['start'] : [])];
  for (const name of Object.keys(asked.values)) if (!names.includes(name)) delete asked.values[name];
  if (!checkpoints.includes(asked.checkpoint)) asked.checkpoint = checkpoints[0]!;
  return [
    choice('checkpoint', checkpoints, asked.checkpoint, (value) => (asked.checkpoint = value)),
    ...names.map((name) => field(name, asked, suggestions)),
    h('button', { type: 'submit', class: 'act' }, 'Ask'),
  ];
}

function field(name: string, { run, values }: Asked, suggestions: Promise<Suggestions>): HTMLElement {
  const [title, placeholder] = fieldTitles[name]!;
  const fixed = { name, type: 'text', placeholder, required: true, autocomplete: 'off', 'aria-label': title };
  const input = h('input', { ...fixed, input: () => (values[name] = input.value) });
  input.value = values[name] ?? '';
  const relations = async (part: string) => holding((await suggestions).relations, part);
  const entities = async (prefix: string) =>
    (await get<{ entities: string[] }>('/api/entities', { run, prefix, limit: String(mostNames) })).entities;
  const completion = {
    part: name === 'question' ? inBrackets : wholeText,
    names: name === 'relation' ? relations : entities,
    ...(name === 'question' && { written: (entity: string) => `${entity}]` }),
  };
  return h('label', { class: 'field wide' }, h('span', {}, title), completed(input, completion));
}

/** Buttons of examples, or why there are none. @param fill called with the example that is chosen */
async function offersOf(suggestions: Promise<Suggestions>, fill: (fields: Fields) => void): Promise<(Node | string)[]> {
  try {
    const { examples } = await suggestions;
    const buttons = examples.map((fields) =>
      h('button', { type: 'button', click: () => fill(fields) }, Object.values(fields).join(' · ')),
    );
    return buttons.length > 0 ? ['For example', ...buttons] : [];
  } catch (error) {
    return [`No examples: ${(error as Error).message}`];
  }
}

/** Asks, and puts the answer before earlier ones. */
async function answer({ run, checkpoint, values }: Asked, answers: HTMLElement): Promise<void> {
  const body = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ''));
  const waiting = quiet('the first question loads the checkpoint …');
  answers.prepend(waiting);
  try {
    const answered = await post<Answered>('/ask', { run, checkpoint, ...body });
    waiting.replaceWith(answerCard(Object.values(body).join(' · '), answered));
  } catch (error) {
    waiting.replaceWith(trouble(error));
  }
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

/** The page of an exported agent: a form, examples, ranked answers and the walk to the chosen one. */
import { completed, inBrackets, wholeText } from '../../serve/browser/completion.js';
import { drawing, h, quiet, trouble } from '../../serve/browser/dom.js';
import type { Fields, PageAgent, PageReply } from '../contract.js';

const titles: Readonly<Record<string, string>> = {
  question: 'question',
  start: 'start entity',
  head: 'head',
  relation: 'relation; ~ asks for heads',
};

/** Examples offered at once, and names while one is typed. */
const [mostOffered, mostNames] = [4, 10];

/** Fills `main`. @param agent opened from the data of the page */
export function showPage(agent: PageAgent): void {
  const { about } = agent;
  const inputs = new Map(about.fields.map((name) => [name as string, field(agent, name)]));
  const result = h('div', { 'aria-live': 'polite' });
  const offers = h('div', { class: 'offers' });
  const fields = () => Object.fromEntries([...inputs].map(([name, { input }]) => [name, input.value]));
  // One question at a time, as agents are asked everywhere.
  let last = Promise.resolve();
  const ask = () => (last = last.then(async () => result.replaceChildren(await answered(agent, fields()))));
  const fill = (example: Fields) => {
    for (const [name, { input }] of inputs) input.value = example[name] ?? '';
    void ask();
  };
  let first = 0;
  const offer = () => {
    const { examples } = about;
    const some = examples.slice(first, first + mostOffered);
    first = first + mostOffered < examples.length ? first + mostOffered : 0;
    const button = (text: string, click: () => void, of = {}) => h('button', { type: 'button', click, ...of }, text);
    const buttons = some.map((example) => button(Object.values(example).join(' · '), () => fill(example)));
    const others = examples.length > mostOffered ? [button('others', offer, { class: 'more' })] : [];
    offers.replaceChildren('For example', ...buttons, ...others);
  };
  const form = h(
    'form',
    { class: 'ask', submit: (event) => (event.preventDefault(), void ask()) },
    ...[...inputs.values()].map(({ label }) => label),
    h('button', { type: 'submit', class: 'act' }, 'Ask'),
  );
  document.querySelector('main')!.replaceChildren(form, offers, result, quiet(about.texts));
  offer();
  if (about.examples[0]) fill(about.examples[0]);
}

function field(agent: PageAgent, name: string) {
  const title = titles[name]!;
  const list = agent.names(name);
  const input = h('input', { name, type: 'text', required: true, autocomplete: 'off' });
  const isTopic = name === 'question' && !agent.about.fields.includes('start');
  const completion = {
    part: isTopic ? inBrackets : wholeText,
    names: (part: string) => Promise.resolve(holding(list, part)),
    ...(isTopic && { written: (entity: string) => `${entity}]` }),
  };
  const isPlain = name === 'question' && !isTopic;
  const label = h(
    'label',
    { class: 'field wide' },
    h('span', {}, title),
    isPlain ? input : completed(input, completion),
  );
  return { input, label };
}

/** Names that hold a part, those that begin with it first. */
function holding(names: readonly string[], part: string): string[] {
  const wanted = part.toLowerCase();
  const found = names.filter((name) => name.toLowerCase().includes(wanted));
  const begins = (name: string) => name.toLowerCase().startsWith(wanted);
  return [...found.filter(begins), ...found.filter((name) => !begins(name))].slice(0, mostNames);
}

async function answered(agent: PageAgent, fields: Fields): Promise<HTMLElement> {
  const started = performance.now();
  try {
    const reply = await agent.ask(fields);
    return answerCard(agent, fields, reply, performance.now() - started);
  } catch (error) {
    return trouble(error);
  }
}

function answerCard(agent: PageAgent, fields: Fields, reply: PageReply, milliseconds: number): HTMLElement {
  const drawn = h('div', { class: 'drawn' });
  const most = Math.max(...reply.answers.map(({ share, score }) => share ?? score));
  const isEven = reply.answers.every(({ score }) => score === most);
  const choose = (place: number) => {
    const svg = reply.answers[place] ? agent.draw(reply, place) : '';
    rows.forEach((row, at) => row.setAttribute('aria-pressed', String(at === place)));
    const { from } = reply.answers[place] ?? {};
    drawn.replaceChildren(
      svg === '' ? quiet('No walk leads to this answer.') : drawing(svg),
      ...(from ? [quiet(from)] : []),
    );
  };
  const rows = reply.answers.map(({ text, shown, share, score }, place) => {
    const bar = h('i', { hidden: share === undefined && isEven });
    bar.style.width = `${(100 * (share ?? score)) / most}%`;
    return h(
      'button',
      { type: 'button', class: 'answer', click: () => choose(place) },
      h('b', {}, text),
      h('span', {}, shown),
      bar,
    );
  });
  choose(0);
  return h(
    'article',
    { class: 'example answered' },
    h(
      'header',
      {},
      h('b', {}, Object.values(fields).join(' · ')),
      h('span', { class: 'quiet' }, `${milliseconds.toFixed(0)} ms`),
    ),
    h('div', { class: 'both' }, h('div', {}, ...rows), drawn),
    ...reply.notes.map((note) => quiet(note)),
  );
}

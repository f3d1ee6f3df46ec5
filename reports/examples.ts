/** Worked examples: the question, the gold answers, and each agent's ranked answers with the walks that led to them. */
import type { Example } from '../src/run/evaluation.js';
import type { AnswerView, ExampleView, PageView, SaidView, WalkView } from './html.js';
import { walkSvg } from './plots/walks.js';
import { mainRow, modelName, type ResultSet } from './results.js';
import { isSimulation } from './sections.js';
import { readRelation } from './format.js';

/** Examples shown per set, and messages shown per example; earlier messages are folded. */
const shown = { examples: 4, messages: 4 };

type Walk = NonNullable<Example['goldWalk']>;

/** First examples of the main agent, for the first set of each data set, with the other agents' answers. */
export function workedExamples(sets: readonly ResultSet[]): ExampleView[] {
  const worked = sets.filter(({ rows }) =>
    rows.some(({ records }) => records.some(({ examples }) => examples.length > 0)),
  );
  return worked
    .filter((set, i) => {
      const same = ({ about: { task, dataset } }: ResultSet) =>
        task === set.about.task && dataset === set.about.dataset;
      return worked.findIndex((one) => (set.simulated === undefined ? same(one) : isSimulation(one, set))) === i;
    })
    .flatMap(examplesOf);
}

/** A walk for the head of the page: of the first question that the first agent answered right, with its last message. */
export function firstWalk(examples: readonly ExampleView[]): PageView['walk'] {
  const example = examples.find(({ said: [first] }) => first?.right && first.drawing !== '');
  if (!example) return undefined;
  const { agent, drawing } = example.said[0]!;
  const said = example.messages.filter(({ lines }) => !lines.at(-1)!.endsWith(': …'));
  return { agent, asked: said.at(-1)?.lines.join(' ') ?? '', drawing };
}

function examplesOf(set: ResultSet): ExampleView[] {
  const main = mainRow(set);
  const has = ({ records }: (typeof set.rows)[number]) => records.find(({ examples }) => examples.length > 0)?.examples;
  const first = [main, ...set.rows].find((row) => has(row));
  const examples = (first && has(first)) ?? [];
  return examples.slice(0, shown.examples).map((example): ExampleView => {
    const rows = first ? [first, ...set.rows.filter((row) => row !== first)] : [];
    const said = rows.flatMap((row): SaidView[] => {
      const own = has(row)?.find(({ id }) => id === example.id);
      if (!own) return [];
      const folded = row !== first && own.walks !== undefined;
      return [{ agent: row.label, model: modelName(row), ...saidView(own), folded }];
    });
    return { id: `${set.title}, ${example.id}`, ...askedView(example), said };
  });
}

/** The question and its gold answers. */
export function askedView({ asked, gold, goldWalk, ...further }: Example): Omit<ExampleView, 'id' | 'said'> {
  const messages = asked.map((text) => {
    const [, sender, words] = /^(user|assistant): ([^]*)$/.exec(text) ?? [];
    return { assistant: sender === 'assistant', lines: (words ?? text).split(/\r?\n/) };
  });
  const facts = Object.entries(further).flatMap(([name, value]) =>
    !known.has(name) && Array.isArray(value) ? [{ name, value: value.join('; ') }] : [],
  );
  return {
    earlier: messages.slice(0, -shown.messages),
    messages: messages.slice(-shown.messages),
    facts,
    gold: gold.join('; '),
    goldWalk: goldWalk && goldWalk.length > 0 ? walkView(goldWalk, '') : undefined,
  };
}

/** Example keys that are shown separately. */
const known = new Set(['id', 'answers', 'walks', 'lines']);

/** An agent's answers; nothing is escaped yet. */
export function saidView(example: Example): Omit<SaidView, 'agent' | 'model' | 'folded'> {
  const { answers, walks, goldWalk, right, lines = [], miss } = example;
  const index = answers.findIndex((answer) => answer.right);
  const wrong =
    index > 0 ? `right is ranked ${index + 1}` : typeof miss === 'string' ? miss.replaceAll('-', ' ') : 'wrong';
  return {
    right,
    verdict: right ? 'right' : wrong,
    answers: answers.map(({ text, score = '', right: hit = false }, i): AnswerView => {
      const [, share] = /^([\d.]+) %$/.exec(score) ?? [];
      return {
        ...{ text, score, right: hit },
        width: share === undefined ? 0 : Math.round(Number(share)),
        walk: walks?.[i] && walkView(walks[i], text, { goldWalk, hit }),
      };
    }),
    drawing: drawingOf(example),
    lines,
  };
}

/** Walks of an example as SVG; empty if there are none. Scores are percentages, or probabilities for links. */
export function drawingOf({ answers, walks, goldWalk }: Pick<Example, 'answers' | 'walks' | 'goldWalk'>): string {
  return walkSvg({
    walks: (walks ?? []).map((walk, i) => {
      const [, number, percent] = /^([\d.]+(?:e-\d+)?)( %)?(?:,|$)/.exec(answers[i]?.score ?? '') ?? [];
      const share = Number(number) / (percent === undefined ? 1 : 100);
      return { walk, right: answers[i]?.right ?? false, share: share <= 1 ? share : undefined };
    }),
    gold: goldWalk,
  });
}

/**
 * @param start entity shown for an empty walk
 * @param of gold walk: hops are marked up to the first one that differs (wrong); otherwise the end of a correct walk is marked
 */
function walkView(walk: Walk, start: string, of?: { goldWalk: Walk | undefined; hit: boolean }): WalkView {
  const same = (hop: Walk[number], i: number) => JSON.stringify(hop) === JSON.stringify(of?.goldWalk?.[i]);
  const wrong = of?.goldWalk ? walk.findIndex((hop, i) => !same(hop, i)) : -1;
  return {
    start: walk[0]?.[0] ?? start,
    hops: walk.map(([, relation, entity], i) => {
      const compared = wrong >= 0 && i > wrong ? '' : i === wrong ? 'wrong' : 'right';
      const mark = of?.goldWalk ? compared : of?.hit && i === walk.length - 1 ? 'right' : '';
      return { ...readRelation(relation), entity, mark };
    }),
  };
}

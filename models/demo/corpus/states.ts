/**
 * The very texts that walkers encode, each followed by the target of its vector: the vector is the model's state after the
 * text, so what is predicted next is what it holds. What follows begins with the relation or with the target, by lot, so that
 * the state has to know both.
 */
import { lastMessageText, relationTexts, windowText } from '../../../agents/dialogue-walker/vectors.js';
import { maskedQuestion } from '../../../datasets/question.js';
import { walkSamples } from '../../../datasets/walk-sample.js';
import { canonicalPath, type Graph } from '../../../src/kg/graph.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { CorpusSegment } from '../../llama/corpus-document.js';
import type { CorpusDraft, CorpusSource } from './draft.js';
import { someEdges } from './facts.js';
import type { CorpusWorld } from './world.js';

/** Lengths of texts, and their weights in the loss. */
export interface StateOptions {
  countTokens: (text: string) => number;
  /** Weight, in [0, 1], of the encoded text's own tokens. */
  textWeight: number;
}

/** Token budgets of the last message and of the last three together, of the demo's preset and by default: by lot. */
const budgets = [
  { last: 48, window: 64 },
  { last: 96, window: 128 },
] as const;
const windowMessages = 3;

/** In the loss: which of several entities is meant can rarely be foretold. */
const nameWeight = 0.3;

/** Dialogue states, endless; each round has every train sample once. */
export function* dialogueStates(
  { graph, dialogues }: CorpusWorld['walks'],
  rng: Rng,
  options: StateOptions,
): Generator<CorpusDraft> {
  const words = directedWords(graph);
  const samples = walkSamples(dialogues, graph).filter(({ gold }) => gold.inGraph);
  while (samples.length > 0) {
    for (const place of rng.shuffle(Int32Array.from(samples.keys()))) {
      const { task, gold } = samples[place]!;
      const last = rng.uniform() < 0.5;
      const budget = budgets[rng.integer(budgets.length)]!;
      const text = last
        ? lastTokens(lastMessageText(task), budget.last, options.countTokens)
        : lastTokens(windowText(task, windowMessages), budget.window, options.countTokens);
      const path = canonicalPath(gold.path, graph.equalRelation);
      const relations = path.map(([, relation]) => words[relation]!);
      const target = graph.entityNames[gold.target]!;
      if (text === '' || relations.length === 0) continue;
      const steps = rotated(relations, rng).join(', ');
      const segments =
        rng.uniform() < 0.3
          ? [
              { text: target, weight: nameWeight },
              { text: `: ${steps}`, weight: 1 },
            ]
          : [
              { text: steps, weight: 1 },
              { text: `: ${target}`, weight: nameWeight },
            ];
      yield stateDraft(last ? 'last-message' : 'window', text, segments, options, {
        of: 'dialogues',
        id: task.dialogueId,
      });
    }
  }
}

/** Question states, endless: the masked question and the relations of its chain. */
export function* questionStates(
  { graph, train }: CorpusWorld['questions'],
  rng: Rng,
  options: StateOptions,
): Generator<CorpusDraft> {
  const words = directedWords(graph);
  const known = train.filter(({ gold }) => gold.chains.length > 0);
  while (known.length > 0) {
    for (const place of rng.shuffle(Int32Array.from(known.keys()))) {
      const { task, gold } = known[place]!;
      const chain = gold.chains[rng.integer(gold.chains.length)]!.map((relation) => words[relation]!);
      // With its topic now and then: the agents' memories compare such texts too.
      const text = rng.uniform() < 0.85 ? maskedQuestion(task) : task.question;
      const segments = { text: rotated(chain, rng).join(', '), weight: 1 };
      yield stateDraft('question', text, [segments], options, { of: 'questions', id: task.id });
    }
  }
}

/** Names of entities and relations, endless, and what lies behind them. */
export function* nameStates({ graph }: CorpusWorld['walks'], rng: Rng, options: StateOptions): Generator<CorpusDraft> {
  const words = directedWords(graph);
  const texts = relationTexts(graph);
  while (graph.numEdges > 0) {
    for (const entity of rng.shuffle(Int32Array.from({ length: graph.numEntities }, (_, id) => id))) {
      const triples = someEdges(graph, entity, rng, 3);
      if (triples.length === 0) continue;
      const segments = triples.map(([, relation, tail]) => `${words[relation]!}: ${graph.entityNames[tail]!}`);
      yield stateDraft('entity', graph.entityNames[entity]!, [{ text: segments.join('; '), weight: 0.5 }], options);
      if (rng.uniform() < 0.1) {
        const [head, relation, tail] = triples[0]!;
        const ends = `${graph.entityNames[head]!}, ${graph.entityNames[tail]!}`;
        yield stateDraft('relation', texts[relation]!, [{ text: ends, weight: nameWeight }], options);
      }
    }
  }
}

/** Relations as words of which the first distinguishes them: the direction comes last. */
function directedWords(graph: Graph): string[] {
  return relationTexts(graph).map((text) => (text.startsWith('inverse of ') ? `${text.slice(11)} of` : text));
}

/** The list from a drawn place on, then its beginning: half of the time from the first on. */
function rotated(items: readonly string[], rng: Rng): string[] {
  const begin = rng.uniform() < 0.5 ? 0 : rng.integer(items.length);
  return [...items.slice(begin), ...items.slice(0, begin)];
}

/** The end of a text, from a word on, within a budget of tokens. */
function lastTokens(text: string, most: number, countTokens: (text: string) => number): string {
  let kept = text;
  while (countTokens(kept) > most) {
    const next = /\s\S/.exec(kept);
    if (!next) break;
    kept = kept.slice(next.index).trimStart();
  }
  return kept;
}

function stateDraft(
  phase: string,
  text: string,
  segments: readonly CorpusSegment[],
  { textWeight }: StateOptions,
  source?: CorpusSource,
): CorpusDraft {
  return {
    kind: 'state',
    phase,
    ...(source && { source }),
    segments: [
      { special: 'bos', weight: 0 },
      { text, weight: textWeight },
      { special: 'eos', weight: 0 },
      ...segments,
      { special: 'eos', weight: 1 },
    ],
  };
}

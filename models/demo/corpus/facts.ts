/**
 * What the graph holds, in words: some facts of one entity as sentences, or a walk as prompts show facts. In a walk each
 * fact has an entity of those before it, so it can be copied: names in replies are copied from prompts just so.
 */
import { factOf } from '../../../agents/prompted/facts.js';
import type { Graph, Triple } from '../../../src/kg/graph.js';
import { numberedLines, shownTriple } from '../../../src/llm/decisions/prompt-text.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { CorpusDraft } from './draft.js';
import { sentenceOf } from './sentences.js';

/** Names of a recital. */
const recited = { least: 3, most: 10 };

/**
 * A list of names, and the same list as a reply writes it: nothing but copying. A model that has learned this copies names out of
 * questions and facts too; without it small ones write other names of the right kind. Endless.
 */
export function* recitalDrafts(graph: Graph, rng: Rng): Generator<CorpusDraft> {
  while (graph.numEntities > 0) {
    const count = recited.least + rng.integer(recited.most - recited.least + 1);
    const names = Array.from({ length: count }, () => graph.entityNames[rng.integer(graph.numEntities)]!);
    const [from, to] = [rng.integer(recitals.length), rng.integer(recitals.length)];
    yield {
      ...{ kind: 'fact', phase: 'recital' },
      segments: [
        { special: 'bos', weight: 0 },
        { text: recitals[from]!(names), weight: 0 },
        { text: `\n${recitals[to]!(names)}`, weight: 1 },
        { special: 'eos', weight: 1 },
      ],
    };
  }
}

/** Form of lists of names in prompts and replies. */
const recitals: readonly ((names: readonly string[]) => string)[] = [
  (names) => JSON.stringify({ answers: names }),
  (names) => JSON.stringify({ items: names }),
  (names) => numberedLines(names).join('\n'),
  (names) => names.join(', '),
  (names) => names.join(' | '),
];

/** In the loss: names that nothing foretells must not outweigh what can be learned. */
const weights = { sentences: 0.25, walk: 0.5 };

/** Facts of one document. */
const mostFacts = 8;

/** Endless; each round has every entity once, with other facts of those that have many. */
export function* factDrafts(graph: Graph, rng: Rng): Generator<CorpusDraft> {
  if (graph.numEdges === 0) return;
  for (;;) {
    for (const entity of rng.shuffle(Int32Array.from({ length: graph.numEntities }, (_, id) => id))) {
      if (graph.degree(entity) === 0) continue;
      const phase = rng.uniform() < 0.35 ? 'sentences' : 'walk';
      const text =
        phase === 'sentences'
          ? someEdges(graph, entity, rng)
              .map((triple) => sentenceOf(graph, triple, rng))
              .join(' ')
          : walkFrom(graph, entity, rng)
              .map((triple) => shownTriple(factOf(graph, triple)))
              .join('\n');
      yield {
        ...{ kind: 'fact', phase },
        segments: [
          { special: 'bos', weight: 0 },
          { text, weight: weights[phase] },
          { special: 'eos', weight: 1 },
        ],
      };
    }
  }
}

/** Edges, each from the end of the one before, now and then from an earlier place. */
function walkFrom(graph: Graph, start: number, rng: Rng): Triple[] {
  const indices = [start];
  return Array.from({ length: mostFacts }, (): Triple => {
    const from = rng.uniform() < 0.6 ? indices.at(-1)! : indices[rng.integer(indices.length)]!;
    const edge = graph.offsets[from]! + rng.integer(graph.degree(from));
    if (graph.degree(graph.tails[edge]!) > 0) indices.push(graph.tails[edge]!);
    return [from, graph.relations[edge]!, graph.tails[edge]!];
  });
}

/** Drawn without repeats, in the order of the graph. */
export function someEdges(graph: Graph, entity: number, rng: Rng, most = mostFacts): Triple[] {
  const edges = rng.shuffle(Int32Array.from({ length: graph.degree(entity) }, (_, i) => graph.offsets[entity]! + i));
  return Array.from(edges.slice(0, most).sort(), (edge): Triple => [
    entity,
    graph.relations[edge]!,
    graph.tails[edge]!,
  ]);
}

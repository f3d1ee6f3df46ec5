/** What the graph holds, in words: a few facts of one entity at a time, as sentences or as prompts show them. */
import { factOf } from '../../../agents/prompted/facts.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { Triple } from '../../../src/kg/path.js';
import { shownTriple } from '../../../src/llm/decisions/prompt-text.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { CorpusDraft } from './draft.js';
import { sentenceOf } from './sentences.js';

/** In the loss: names that nothing foretells must not outweigh what can be learned. */
const factWeight = 0.25;

/** Facts of one document. */
const mostFacts = 8;

/** Endless; each round has every entity once, with other facts of those that have many. */
export function* factDrafts(graph: Graph, rng: Rng): Generator<CorpusDraft> {
  if (graph.numEdges === 0) return;
  for (;;) {
    for (const entity of rng.shuffle(Int32Array.from({ length: graph.numEntities }, (_, id) => id))) {
      const triples = someEdges(graph, entity, rng);
      if (triples.length === 0) continue;
      const asSentences = rng.uniform() < 0.6;
      const text = asSentences
        ? triples.map((triple) => sentenceOf(graph, triple, rng)).join(' ')
        : triples.map((triple) => shownTriple(factOf(graph, triple))).join('\n');
      yield {
        kind: 'fact',
        phase: asSentences ? 'sentences' : 'triples',
        segments: [
          { special: 'bos', weight: 0 },
          { text, weight: factWeight },
          { special: 'eos', weight: 1 },
        ],
      };
    }
  }
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

/** How often train golds take a relation, or a pair of relations, whatever the entities. */
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import type { WalkScores } from '../top-paths.js';

/** Count of a sequence that train never shows: below every seen one, and any rarer tail choice still orders them. */
const unseenCount = 0.001;

/**
 * Scores a walk by the share of its relation sequence in train times the probability of each tail given head and relation.
 * @param tailLogProbs float32 [numEdges] from `tailShares`
 */
export function sequenceScores(graph: Graph, train: readonly WalkSample[], tailLogProbs: Float32Array): WalkScores {
  const relations = graph.numRelations;
  const one = new Float64Array(relations).fill(unseenCount);
  const two = new Float32Array(relations * relations).fill(unseenCount);
  let total = (one.length + two.length) * unseenCount;
  const note = madeFromSamples('frequency table', 'relation sequences');
  for (const sample of train) {
    const { gold } = sample;
    const [first, second] = gold.path;
    if (!gold.inGraph || gold.path.length > 2) continue;
    note(sample);
    if (second) two[first![1] * relations + second[1]]!++;
    else one[first![1]]!++;
    total++;
  }
  const oneLog = one.map((count) => Math.log(count / total));
  const twoLog = two.map((count) => Math.log(count / total));
  return {
    oneHop: (edge) => oneLog[graph.relations[edge]!]! + tailLogProbs[edge]!,
    twoHops: (first) => {
      const row = graph.relations[first]! * relations;
      const before = tailLogProbs[first]!;
      return (second) => before + twoLog[row + graph.relations[second]!]! + tailLogProbs[second]!;
    },
  };
}

/**
 * Log-probability of each edge's tail among the edges of the same head and relation.
 * @param weightOf positive weight of an entity; constant for a uniform choice
 * @returns float32 [numEdges]
 */
export function tailShares(graph: Graph, weightOf: (entity: number) => number): Float32Array {
  const logShares = new Float32Array(graph.numEdges);
  for (let head = 0; head < graph.numEntities; head++) {
    const end = graph.offsets[head + 1]!;
    for (let begin = graph.offsets[head]!; begin < end;) {
      const relation = graph.relations[begin];
      let stop = begin;
      let sum = 0;
      for (; stop < end && graph.relations[stop] === relation; stop++) sum += weightOf(graph.tails[stop]!);
      for (; begin < stop; begin++) logShares[begin] = Math.log(weightOf(graph.tails[begin]!) / sum);
    }
  }
  return logShares;
}

/** Baselines that repeat relations, entities or walks of train regardless of the messages. */
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkSample, WalkTask } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import type { Agent } from '../agent.js';
import type { WalkScores } from '../top-paths.js';
import { type BaselineContext, rankingAgent, uniformScores } from './baseline.js';

/** Most frequent relation sequence; tails of one head and relation are uniform. */
export function frequencyBaseline(context: BaselineContext): Agent {
  const { graph, train } = context;
  const uniformTails = tailShares(graph, () => 1);
  const scores = sequenceScores(graph, train, uniformTails);
  return rankingAgent({ name: 'frequency' }, context, () => scores);
}

/** Count of unseen sequences: below every seen one. */
const unseenCount = 0.001;

/**
 * Scores a walk by its relation sequence's share in train times the probability of each tail given head and relation.
 * @param tailLogProbs float32 [numEdges] from `tailShares`
 */
function sequenceScores(graph: Graph, train: readonly WalkSample[], tailLogProbs: Float32Array): WalkScores {
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
 * @param weightOf positive weight of an entity; constant for uniform
 * @returns float32 [numEdges]
 */
function tailShares(graph: Graph, weightOf: (entity: number) => number): Float32Array {
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

/**
 * Most frequent relation sequence; tails of one head and relation are weighted by 1 + their count as a tail of train golds. Entity counts
 * leak if the graph holds only entities of dialogues, evaluation included: count 0 then marks the answer. The agent's note says so.
 */
export function popularityBaseline(context: BaselineContext): Agent {
  const { graph, train } = context;
  const counts = new Uint32Array(graph.numEntities);
  const note = madeFromSamples('frequency table', 'tails of walks', { counts: ['entity'] });
  for (const sample of train) {
    if (!sample.gold.inGraph) continue;
    note(sample);
    for (const [, , tail] of sample.gold.path) counts[tail]!++;
  }
  const popularTails = tailShares(graph, (entity) => 1 + counts[entity]!);
  const scores = sequenceScores(graph, train, popularTails);
  return rankingAgent({ name: 'popularity', note: 'uses entity counts' }, context, () => scores);
}

/**
 * Train golds of the task's start by count, then all other walks in `random`'s order: that model counts as one more observation, so
 * unseen walks rank below seen ones. Unknown starts use `random` alone.
 */
export function memoryBaseline(context: BaselineContext): Agent {
  const { graph, train } = context;
  const keyOf = (first: number, second: number) => first * (graph.numEdges + 1) + second + 1;
  /** Count in train by start, then by walk (key of its edges; -1 for none). */
  const memories = new Map<number, Map<number, number>>();
  const note = madeFromSamples('memory', 'walks of a start', { counts: ['start and end'] });
  for (const sample of train) {
    const { gold } = sample;
    if (!gold.inGraph || gold.path.length > 2) continue;
    note(sample);
    const [first, second] = gold.path;
    const counts = memories.get(first![0]) ?? new Map<number, number>();
    const key = keyOf(graph.edgeIndex(...first!), second ? graph.edgeIndex(...second) : -1);
    memories.set(first![0], counts.set(key, (counts.get(key) ?? 0) + 1));
  }

  return rankingAgent({ name: 'memory' }, context, (task: WalkTask) => {
    const unseen = uniformScores(graph, task.start);
    const counts = memories.get(task.start);
    if (!counts) return unseen;
    const logTotal = Math.log([...counts.values()].reduce((sum, count) => sum + count, 1));
    const blend = (logProb: number, count: number) =>
      (count > 0 ? Math.log(count + Math.exp(logProb)) : logProb) - logTotal;
    return {
      oneHop: (edge) => blend(unseen.oneHop(edge), counts.get(keyOf(edge, -1)) ?? 0),
      twoHops: (first) => {
        const unseenAfter = unseen.twoHops(first);
        return (second) => blend(unseenAfter(second), counts.get(keyOf(first, second)) ?? 0);
      },
    };
  });
}

/** Turns scores of edges into one distribution a head, with a sharpness that train decides. */
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';

/** Sharpnesses tried; 0 is uniform. */
const sharpnesses = [0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64];

/**
 * Log-probability of each edge among the edges of its head.
 * @param scores float32 [numEdges], higher is likelier
 * @returns float32 [numEdges]
 */
export function edgeLogSoftmax(graph: Graph, scores: Float32Array, sharpness: number): Float32Array {
  const logProbs = new Float32Array(graph.numEdges);
  for (let head = 0; head < graph.numEntities; head++) headLogSoftmax(graph, scores, sharpness, head, logProbs);
  return logProbs;
}

/** The same for the edges of one head, into `logProbs` [numEdges], which may be `scores`. */
export function headLogSoftmax(
  graph: Graph,
  scores: Float32Array,
  sharpness: number,
  head: number,
  logProbs: Float32Array,
): void {
  const logSum = headLogSum(graph, scores, sharpness, head);
  for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
    logProbs[edge] = sharpness * scores[edge]! - logSum;
  }
}

/** The sharpness under which the first edges of train golds are most likely. */
export function fittedSharpness(graph: Graph, scores: Float32Array, train: readonly WalkSample[]): number {
  const known = train.filter(({ gold }) => gold.inGraph);
  known.forEach(madeFromSamples('training', 'sharpness of edge scores'));
  const golds = known.map(({ gold }) => gold.path[0]!);
  const logLikelihood = (sharpness: number) => {
    const logSums = new Map<number, number>();
    let sum = 0;
    for (const [head, relation, tail] of golds) {
      let logSum = logSums.get(head);
      if (logSum === undefined) logSums.set(head, (logSum = headLogSum(graph, scores, sharpness, head)));
      sum += sharpness * scores[graph.edgeIndex(head, relation, tail)]! - logSum;
    }
    return sum;
  };
  const likelihoods = sharpnesses.map(logLikelihood);
  return sharpnesses[likelihoods.indexOf(Math.max(...likelihoods))]!;
}

function headLogSum(graph: Graph, scores: Float32Array, sharpness: number, head: number): number {
  const begin = graph.offsets[head]!;
  const end = graph.offsets[head + 1]!;
  let max = -Infinity;
  for (let edge = begin; edge < end; edge++) max = Math.max(max, sharpness * scores[edge]!);
  let sum = 0;
  for (let edge = begin; edge < end; edge++) sum += Math.exp(sharpness * scores[edge]! - max);
  return max + Math.log(sum);
}

/** Walks to what the embedding puts near, whatever is said: what the graph alone is worth. */
import type { EmbeddingTable } from '../../src/embedding/transe.js';
import type { Agent } from '../agent.js';
import { type BaselineContext, oneHopShare, rankingAgent, stopPriorScores } from './baseline.js';
import { edgeLogSoftmax, fittedSharpness } from './edge-softmax.js';

/**
 * An edge's probability is the softmax of the negative distance |head − tail| of its ends over the edges of its head, the
 * sharpness fitted to train's first edges; stops after the first edge with train's share of one-hop golds. The score of
 * the triple itself, |head + relation − tail|, says whether an edge is true: all candidates are, and it ranks no better
 * than chance.
 * @param table of the graph in `context`
 */
export function transeBaseline(context: BaselineContext, table: EmbeddingTable): Agent {
  const { graph, train } = context;
  const nearness = new Float32Array(graph.numEdges);
  for (let head = 0; head < graph.numEntities; head++) {
    for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
      nearness[edge] = -entityDistance(table, head, graph.tails[edge]!);
    }
  }
  const edgeLogProbs = edgeLogSoftmax(graph, nearness, fittedSharpness(graph, nearness, train));
  const walkScores = stopPriorScores(graph, edgeLogProbs, oneHopShare(train));
  return rankingAgent({ name: 'transe' }, context, () => walkScores);
}

function entityDistance({ entities, dim, norm }: EmbeddingTable, a: number, b: number): number {
  let sum = 0;
  for (let k = 0; k < dim; k++) {
    const difference = entities[a * dim + k]! - entities[b * dim + k]!;
    sum += norm === 1 ? Math.abs(difference) : difference * difference;
  }
  return norm === 1 ? sum : Math.sqrt(sum);
}

/** Walks where the embedding says that edges are plausible, whatever is said: what the graph alone is worth. */
import { scoreTriple } from '../../src/embedding/embedding-table.js';
import type { EmbeddingTable } from '../../src/embedding/embedding-table.js';
import type { Agent } from '../agent.js';
import { oneHopShare, rankingAgent, stopPriorScores } from './baseline.js';
import type { BaselineContext } from './baseline.js';
import { edgeLogSoftmax, fittedSharpness } from './edge-softmax.js';

/**
 * An edge's probability is the softmax of its negative distance |head + relation − tail| over the edges of its head, its
 * sharpness fitted to train's first edges; stops after the first edge with train's share of one-hop golds.
 * @param table of the graph in `context`
 */
export function transeBaseline(context: BaselineContext, table: EmbeddingTable): Agent {
  const { graph, train } = context;
  const scores = new Float32Array(graph.numEdges);
  for (let head = 0; head < graph.numEntities; head++) {
    for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
      scores[edge] = scoreTriple(table, head, graph.relations[edge]!, graph.tails[edge]!);
    }
  }
  const edgeLogProbs = edgeLogSoftmax(graph, scores, fittedSharpness(graph, scores, train));
  const walkScores = stopPriorScores(graph, edgeLogProbs, oneHopShare(train));
  return rankingAgent({ name: 'transe' }, context, () => walkScores);
}

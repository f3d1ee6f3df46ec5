/** Walks at random but knows how often people stop after one edge. */
import type { Agent } from '../agent.js';
import { oneHopShare, rankingAgent, stopPriorScores } from './baseline.js';
import type { BaselineContext } from './baseline.js';

/** Uniform over edges at both hops; stops after the first with train's share of one-hop golds. */
export function stopPriorBaseline(context: BaselineContext): Agent {
  const { graph, train } = context;
  const uniform = new Float32Array(graph.numEdges);
  for (let head = 0; head < graph.numEntities; head++) {
    uniform.fill(-Math.log(graph.degree(head)), graph.offsets[head]!, graph.offsets[head + 1]!);
  }
  const scores = stopPriorScores(graph, uniform, oneHopShare(train));
  return rankingAgent({ name: 'stop-prior' }, context, () => scores);
}

/** Takes the relations that train takes most, whatever is said. */
import type { Agent } from '../agent.js';
import { rankingAgent } from './baseline.js';
import type { BaselineContext } from './baseline.js';
import { sequenceScores, tailShares } from './relation-sequences.js';

/** Most frequent relation sequence; among edges of one head and relation the tail is uniform. */
export function frequencyBaseline(context: BaselineContext): Agent {
  const { graph, train } = context;
  const uniformTails = tailShares(graph, () => 1);
  const scores = sequenceScores(graph, train, uniformTails);
  return rankingAgent({ name: 'frequency' }, context, () => scores);
}

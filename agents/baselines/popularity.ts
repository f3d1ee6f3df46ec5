/** Takes the relations and the entities that train takes most: the rule that learns nothing and beats many models. */
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { Agent } from '../agent.js';
import { rankingAgent } from './baseline.js';
import type { BaselineContext } from './baseline.js';
import { sequenceScores, tailShares } from './relation-sequences.js';

/**
 * Most frequent relation sequence; among edges of one head and relation a tail weighs 1 + its count as a tail of train
 * golds. Entity counts leak where a graph holds only entities of dialogues, evaluation dialogues included: count 0 then
 * marks the answer. The note says so beside every number.
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

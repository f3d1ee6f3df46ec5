/** Random relations: the floor for scores on questions. */
import { z } from 'zod';
import { choice, whole } from '../registry.js';
import { frontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import { applyRelation, initialRelationState, relationActionMask } from '../../envs/relation-walk/rules.js';
import { questionRoot } from '../../envs/relation-walk/relation-walk-env.js';
import { Rng } from '../../src/run/seeds.js';
import { chainAnswer, noAnswer, type QuestionAgentEntry } from '../question-agent.js';

const settings = z.strictObject({
  horizon: whole(1, 8, 3).describe('Maximum walk length.'),
  hops: choice(['learned', 'given'], 'learned').describe(
    'How a walk ends: STOP is drawn like a relation, or at the hop count of the data set.',
  ),
});

/**
 * Inputs: topic. Calls: none. Stop: when STOP is drawn, or at the horizon. Output: all entities behind uniformly drawn relations, STOP
 * among them after the first; seeded by run and question, independent of order.
 */
export const randomChainEntry: QuestionAgentEntry<typeof settings> = {
  settings,
  create({ graph, seed }, rules) {
    const trie = frontierTrie(graph);
    return {
      name: 'random-chain',
      topicGiven: true,
      hopSource: () => (rules.hops === 'given' ? 'given' : 'none'),
      prompted: false,
      async answer(task, { trace }) {
        if (task.form !== 'entities') return noAnswer('form');
        let state = initialRelationState(questionRoot(trie, task), rules, task.hops);
        trace({ event: 'start', entities: state.node.topics });
        if (state.done) return noAnswer('no topic');
        const rng = Rng.named(seed, `random-chain/${task.id}`);
        let confidence = 1;
        while (!state.done) {
          const mask = relationActionMask(state);
          const legal = [...mask.keys()].filter((action) => mask[action] === 1);
          state = applyRelation(state, legal[rng.integer(legal.length)]!);
          confidence /= legal.length;
        }
        const { node, limit } = state;
        const stop = node.relations.length < limit ? 'stop' : 'depth';
        trace({ event: 'stop', reason: stop });
        return chainAnswer(graph, node, { stop, confidence, cost: { graphReads: node.relations.length } });
      },
    };
  },
};

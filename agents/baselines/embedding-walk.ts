/** Follows, at each hop, the relation most similar to the question: a baseline for sentence vectors alone. */
import { z } from 'zod';
import { choice, whole } from '../registry.js';
import { frontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import { questionRoot } from '../../envs/relation-walk/relation-walk-env.js';
import { applyRelation, initialRelationState, relationActionMask } from '../../envs/relation-walk/rules.js';
import { hopsSwitch, hopSourceFor, openHops } from '../prompted/hops/hops.js';
import { openPrefilter } from '../prompted/prefilter/prefilter.js';
import { chainAnswer, noAnswer, type QuestionAgentEntry } from '../question-agent.js';

const settings = z.strictObject({
  source: choice(['embedding', 'bm25'], 'embedding').describe('Similarity measure: sentence vectors or words.'),
  horizon: whole(1, 8, 3).describe('Walk length if the number of hops is unknown.'),
  hops: hopsSwitch,
});

/**
 * Inputs: question, topic, and the number of hops if the data set provides it. Calls: none. Stop: after that many relations, else at the
 * horizon. Output: all entities behind the pre-filter's top relation of each hop, with its probability.
 */
export const embeddingWalkEntry: QuestionAgentEntry<typeof settings> = {
  settings,
  needs: ['encoder', 'train'],
  async create(resources, { source, horizon, hops }) {
    const { graph } = resources;
    const prefilter = await openPrefilter(resources, { prefilter: source, keep: 1, mass: 1 });
    const hopsOf = await openHops(resources, hops);
    const trie = frontierTrie(graph);
    return {
      name: 'embedding-walk',
      note: 'follows the relation most similar to the question; no model calls, no training',
      topicGiven: true,
      hopSource: () => hopSourceFor(hops, false),
      hopAccuracy: hopsOf.accuracy,
      prompted: false,
      prepare: (tasks, signal) => prefilter.prepare(tasks, signal),
      async answer(task, session) {
        const { trace } = session;
        if (task.form !== 'entities') return noAnswer('form');
        const wanted = await hopsOf(task, session);
        const rules = { horizon: Math.max(horizon, wanted ?? 0), hops: 'given' } as const;
        let state = initialRelationState(questionRoot(trie, task), rules, wanted ?? horizon);
        trace({ event: 'start', entities: state.node.topics });
        if (state.done) return noAnswer('no topic');
        let confidence = 1;
        while (!state.done) {
          const mask = relationActionMask(state).subarray(0, graph.numRelations);
          const legal = [...mask.keys()].filter((relation) => mask[relation] === 1);
          if (legal.length === 0) break;
          const [best] = await prefilter.rank(task, [...state.node.relations], legal);
          trace({ event: 'graph', operation: `follow ${graph.relationNames[best!.relation]!}`, reads: 1 });
          state = applyRelation(state, best!.relation);
          confidence *= best!.share;
        }
        const { node } = state;
        const stop = node.relations.length === wanted ? 'stop' : 'depth';
        trace({ event: 'stop', reason: stop });
        return chainAnswer(graph, node, {
          stop,
          confidence,
          cost: { encodes: source === 'embedding' ? 1 : 0, graphReads: node.relations.length },
        });
      },
    };
  },
};

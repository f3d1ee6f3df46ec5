/** The dialogue walker as PPO sees it. */
import type { DialogueWalkObservation } from '../../envs/dialogue-walk/dialogue-walk-env.js';
import { legalActions, numActions } from '../../envs/dialogue-walk/rules.js';
import { pathKey } from '../../src/kg/graph.js';
import type { Actor, ValueNetwork } from '../actor.js';
import type { Critic } from './critic.js';
import type { Featurizer, StateRequest } from './features/featurizer.js';
import type { Policy } from './policy.js';

/**
 * Wraps a policy; disposing one disposes the other.
 * @param forRanking whether no training follows: the head may then compute scores where it is faster
 */
export function walkerActor(policy: Policy, forRanking = false): Actor<DialogueWalkObservation, StateRequest> {
  const { head, featurizer, reader } = policy;
  const { graph, rules } = featurizer.parts;
  return {
    parameters: head.parameters,
    precision: head.precision,
    requestOf: ({ task, start, current, hop, path }) => ({ task, state: { start, current, hop, path, done: false } }),
    stateKey: ({ path }) => pathKey(path),
    numScores: ({ state, actions }) => actions?.length ?? numActions(graph, state, rules),
    // Larger runs are no longer faster and hold more memory.
    scoresReadAtOnce: 16384,
    ...(reader && { prepare: (requests) => reader.read(requests) }),
    score: (requests) => {
      const batch = featurizer.batch(requests);
      return {
        offsets: batch.offsets,
        logits: (dropout) => head.logits(batch, dropout),
        infer: () => (forRanking && head.rank ? head.rank(batch) : head.infer(batch)),
      };
    },
    envAction: ({ state }, place) => legalActions(graph, state, rules)?.[place] ?? place,
    weightsChanged: () => head.weightsChanged(),
    dispose: () => head.dispose(),
  };
}

/** Wraps a critic, with the featurizer of the policy it belongs to; disposing one disposes the other. */
export function walkerValues(critic: Critic, featurizer: Featurizer): ValueNetwork<StateRequest> {
  // The critic reads no actions: none are listed.
  const actions = new Int32Array(0);
  return {
    parameters: critic.parameters,
    values: (requests) => {
      const batch = featurizer.batch(requests.map((request) => ({ ...request, actions })));
      return () => critic.values(batch);
    },
    dispose: () => critic.dispose(),
  };
}

/** The relation walker as PPO sees it. */
import type { RelationWalkObservation } from '../../envs/relation-walk/relation-walk-env.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { Actor } from '../actor.js';
import type { RelationNetwork } from './network.js';
import type { QuestionVectors } from './question-vectors.js';
import { relationBatch, type RelationRequest } from './relation-batch.js';

/** An actor whose question vectors are set once they are known. */
export interface RelationActor extends Actor<RelationWalkObservation, RelationRequest> {
  readonly network: RelationNetwork;
  /** Of all questions that it is asked about. */
  vectors: QuestionVectors | undefined;
}

/** Wraps a network; disposing one disposes the other. */
export function relationActor(network: RelationNetwork, vectors?: QuestionVectors): RelationActor {
  const { parameters, shape } = network;
  const numActions = shape.numRelations + 1;
  const actor: RelationActor = {
    network,
    parameters,
    vectors,
    requestOf: ({ task, relations, actionMask }) => ({ task, relations, mask: actionMask }),
    stateKey: ({ relations }) => relations.join(),
    numScores: () => numActions,
    // 8,192 states: bounds memory.
    scoresReadAtOnce: 8192 * numActions,
    envAction: ({ mask }, place) => {
      let action = mask.indexOf(1);
      for (let skip = place; skip > 0; skip--) action = mask.indexOf(1, action + 1);
      return action;
    },
    score: (requests) => {
      const batch = batchOf(requests);
      const { offsets, legal, scoredOffsets } = batch;
      return { offsets, masked: { scoredOffsets, legal }, logits: () => network.scores(batch) };
    },
    weightsChanged: () => {},
    dispose: () => network.dispose(),
  };
  const batchOf = (requests: readonly RelationRequest[]) => {
    if (actor.vectors) return relationBatch(requests, actor.vectors, shape);
    throw new WorkbenchError('failure', 'expected question vectors, got none, at relationActor');
  };
  return actor;
}

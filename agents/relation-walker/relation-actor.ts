/** The relation walker as PPO sees it. */
import type { RelationWalkObservation } from '../../envs/relation-walk-world.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { segmentLogSoftmax } from '../../src/tensor/categorical.js';
import { readTensor } from '../../src/tensor/ops.js';
import type { Actor } from '../actor.js';
import type { RelationNetwork } from './network.js';
import type { QuestionVectors } from './question-vectors.js';
import { relationBatch, type RelationRequest } from './relation-batch.js';

/** States scored at once: bounds memory. */
const maxChunkStates = 8192;

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
    envAction: ({ mask }, place) => {
      let action = mask.indexOf(1);
      for (let skip = place; skip > 0; skip--) action = mask.indexOf(1, action + 1);
      return action;
    },
    actionLogProbs: async (requests) => {
      const offsets = new Int32Array(requests.length + 1);
      const parts: Float32Array[] = [];
      for (let begin = 0; begin < requests.length; begin += maxChunkStates) {
        const batch = batchOf(requests.slice(begin, begin + maxChunkStates));
        const scores = await readTensor(parameters.tf, () => network.scores(batch));
        parts.push(
          segmentLogSoftmax(
            Float32Array.from(batch.legal, (place) => scores[place]!),
            batch.offsets,
          ),
        );
        for (let s = 1; s <= batch.numStates; s++) offsets[begin + s] = offsets[begin]! + batch.offsets[s]!;
      }
      const logProbs = new Float32Array(offsets.at(-1)!);
      parts.reduce((at, part) => (logProbs.set(part, at), at + part.length), 0);
      return { logProbs, offsets };
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

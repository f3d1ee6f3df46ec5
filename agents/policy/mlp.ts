/** Networks of dense layers over vectors, actor and critic apart. */
import type { Executor } from '../../src/nn/executor.js';
import { mlp } from '../../src/nn/mlp.js';
import { type Actor, legalActions, nthLegal, pickRequests, type ValueNetwork } from '../../trainers/actor.js';
import { maskOf, type PolicyShape, type VectorObservation, vectorsOf } from './spaces.js';

/** An actor over vectors that scores observations as they are. */
type VectorActor = Actor<VectorObservation, VectorObservation>;
type VectorCritic = ValueNetwork<VectorObservation>;

/** Executor of networks, and the seed of their weights. */
export interface Start {
  executor?: Executor | undefined;
  /** Seed of the weights; without it zeros, for weights that are loaded. */
  seed?: number | undefined;
}

/**
 * A policy: tanh layers, then a score for each action. Orthogonal starts, gain √2, of the scores 0.01.
 * @source Huang et al. 2022, "The 37 implementation details of PPO", details 2 and 13
 * @throws WorkbenchError `native` without WebAssembly SIMD
 */
export function mlpActor(
  { inputs, numActions, masked }: PolicyShape,
  hidden: readonly number[],
  start: Start,
): VectorActor {
  const network = mlp({ name: 'actor', inputs, hidden, outputs: numActions, gain: 0.01, ...start });
  const offsetsOf = everyAction(numActions);
  const actionsOf = (observations: readonly VectorObservation[]) => {
    const offsets = offsetsOf(observations.length);
    return masked
      ? legalActions(
          observations.map((one) => maskOf(one)!),
          offsets,
        )
      : { offsets };
  };
  return {
    parameters: network.parameters,
    requestOf: (observation) => observation,
    numScores: () => numActions,
    score: (observations) => ({
      ...actionsOf(observations),
      logits: () => network.outputs(vectorsOf(observations)),
      infer: () => network.values(vectorsOf(observations)),
    }),
    hold(observations) {
      const scores = network.hold(vectorsOf(observations));
      return (chosen) => ({ ...actionsOf(pickRequests(observations, chosen)), logits: () => scores(chosen) });
    },
    envAction: masked ? (observation, index) => nthLegal(maskOf(observation)!, index) : undefined,
    weightsChanged: () => undefined,
    dispose: () => network.parameters.dispose(),
  };
}

/** A critic of the same layers; gain of the value 1. */
export function mlpCritic({ inputs }: PolicyShape, hidden: readonly number[], start: Start): VectorCritic {
  const network = mlp({ name: 'critic', inputs, hidden, outputs: 1, ...start });
  return {
    parameters: network.parameters,
    values: (observations) => () => network.outputs(vectorsOf(observations)),
    hold(observations) {
      const values = network.hold(vectorsOf(observations));
      return (chosen) => () => values(chosen);
    },
    dispose: () => network.parameters.dispose(),
  };
}

/** Makes offsets of states of which each has `numActions` scores: views of one list. */
function everyAction(numActions: number): (states: number) => Int32Array {
  let offsets = new Int32Array(1);
  return (states) => {
    if (offsets.length <= states) offsets = Int32Array.from({ length: 2 * states + 1 }, (_, i) => i * numActions);
    return offsets.subarray(0, states + 1);
  };
}

/** Networks of dense layers over vectors, actor and critic apart, computed by SIMD kernels on the host. */
import { mlp } from '../../src/nn/mlp.js';
import type { Actor, MaskedActions, ValueNetwork } from '../actor.js';
import { maskOf, type PolicyShape, vectorOf, type VectorObservation } from './spaces.js';

/** An actor over vectors that scores observations as they are. */
type VectorActor = Actor<VectorObservation, VectorObservation>;
type VectorCritic = ValueNetwork<VectorObservation>;

/**
 * A policy: tanh layers, then a score for each action. Orthogonal starts, gain √2, of the scores 0.01.
 * @param seed undefined: zeros, for weights that are loaded
 * @source Huang et al. 2022, "The 37 implementation details of PPO", details 2 and 13
 * @throws WorkbenchError `native` without WebAssembly SIMD
 */
export function mlpActor(
  { inputs, numActions, masked }: PolicyShape,
  hidden: readonly number[],
  seed?: number,
): VectorActor {
  const network = mlp({ name: 'actor', inputs, hidden, outputs: numActions, gain: 0.01, seed });
  return {
    parameters: network.parameters,
    requestOf: (observation) => observation,
    numScores: () => numActions,
    score: (observations) => ({
      ...(masked ? legalOf(observations, numActions) : { offsets: everyAction(observations.length, numActions) }),
      logits: () => network.outputs(observations.map(vectorOf)),
      infer: () => Promise.resolve(network.values(observations.map(vectorOf))),
    }),
    envAction: masked ? (observation, index) => nthLegal(maskOf(observation)!, index) : undefined,
    weightsChanged: () => undefined,
    dispose: () => network.parameters.dispose(),
  };
}

/** A critic of the same layers; gain of the value 1. */
export function mlpCritic({ inputs }: PolicyShape, hidden: readonly number[], seed?: number): VectorCritic {
  const network = mlp({ name: 'critic', inputs, hidden, outputs: 1, seed });
  return {
    parameters: network.parameters,
    values: (observations) => () => network.outputs(observations.map(vectorOf)),
    dispose: () => network.parameters.dispose(),
  };
}

const everyAction = (states: number, numActions: number) => new Int32Array(states + 1).map((_, i) => i * numActions);

function legalOf(
  observations: readonly VectorObservation[],
  numActions: number,
): { offsets: Int32Array; masked: MaskedActions } {
  const offsets = new Int32Array(observations.length + 1);
  const legal = new Int32Array(observations.length * numActions);
  let end = 0;
  for (let i = 0; i < observations.length; i++) {
    const mask = maskOf(observations[i]!)!;
    for (let action = 0; action < numActions; action++) if (mask[action] === 1) legal[end++] = i * numActions + action;
    offsets[i + 1] = end;
  }
  return {
    offsets,
    masked: { scoredOffsets: everyAction(observations.length, numActions), legal: legal.subarray(0, end) },
  };
}

function nthLegal(mask: Uint8Array, index: number): number {
  let action = -1;
  for (let left = index; left >= 0; left--) action = mask.indexOf(1, action + 1);
  return action;
}

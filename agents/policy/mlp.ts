/** Networks of dense layers over vectors, actor and critic apart, computed by SIMD kernels on the host. */
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { Arena } from '../../src/simd/arena.js';
import { openKernels } from '../../src/simd/kernels.js';
import { denseStarts, HostLayers } from '../../src/tensor/host/host-layers.js';
import { type HostOutputs, HostParameters } from '../../src/tensor/host/host-parameters.js';
import type { Actor, MaskedActions, ValueNetwork } from '../actor.js';
import { maskOf, type PolicyShape, vectorOf, type VectorObservation } from './spaces.js';

/** An actor over vectors that scores observations as they are. */
export type VectorActor = Actor<VectorObservation, VectorObservation>;
/** A critic over vectors. */
export type VectorCritic = ValueNetwork<VectorObservation>;

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
  const network = new DenseNetwork('actor', inputs, [...hidden, numActions], 0.01, seed);
  return {
    parameters: network.parameters,
    requestOf: (observation) => observation,
    numScores: () => numActions,
    score: (observations) => ({
      ...(masked ? legalOf(observations, numActions) : { offsets: everyAction(observations.length, numActions) }),
      logits: () => network.outputs(observations),
      infer: () => Promise.resolve(network.values(observations)),
    }),
    ...(masked && { envAction: (observation, place) => nthLegal(maskOf(observation)!, place) }),
    weightsChanged: () => undefined,
    dispose: () => network.parameters.dispose(),
  };
}

/** A critic of the same layers; gain of the value 1. */
export function mlpCritic({ inputs }: PolicyShape, hidden: readonly number[], seed?: number): VectorCritic {
  const network = new DenseNetwork('critic', inputs, [...hidden, 1], 1, seed);
  return {
    parameters: network.parameters,
    values: (observations) => () => network.outputs(observations),
    dispose: () => network.parameters.dispose(),
  };
}

class DenseNetwork {
  readonly parameters: HostParameters;
  readonly #layers: HostLayers;
  readonly #inputs: number;
  /** Counts computations: the layers hold the latest one. */
  #computed = 0;

  constructor(name: string, inputs: number, widths: readonly number[], gain: number, seed: number | undefined) {
    const layers = widths.map((width, i) => {
      const last = i === widths.length - 1;
      return { name: `${name}.${last ? 'out' : i + 1}`, width, biased: true, gain: last ? gain : Math.SQRT2 };
    });
    const rngOf = (layer: string) => Rng.named(seed!, `policy/${layer}`);
    const arena = new Arena();
    const starts = denseStarts(inputs, layers, seed === undefined ? undefined : rngOf);
    this.parameters = new HostParameters(starts, arena, openKernels(arena.memory));
    this.#layers = new HostLayers(this.parameters, inputs, layers);
    this.#inputs = inputs;
  }

  /** float32 [observations, outputs]; changes with the next computation. */
  values(observations: readonly VectorObservation[]): Float32Array {
    this.#computed++;
    const input = this.#layers.input(observations.length);
    for (let i = 0; i < observations.length; i++) input.set(vectorOf(observations[i]!), i * this.#inputs);
    return this.#layers.compute(observations.length);
  }

  outputs(observations: readonly VectorObservation[]): HostOutputs {
    const values = this.values(observations);
    const [mine, { version }] = [this.#computed, this.parameters];
    return {
      values,
      back: (slope) => {
        if (mine !== this.#computed || version !== this.parameters.version) {
          throw new WorkbenchError(
            'failure',
            'expected the latest computation, got an earlier one, at the way back of a policy',
          );
        }
        this.#layers.outputSlopes(observations.length).set(slope);
        this.#layers.back(observations.length, false);
      },
    };
  }
}

const everyAction = (states: number, numActions: number) =>
  Int32Array.from({ length: states + 1 }, (_, i) => i * numActions);

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

function nthLegal(mask: Uint8Array, place: number): number {
  let action = -1;
  for (let left = place; left >= 0; left--) action = mask.indexOf(1, action + 1);
  return action;
}

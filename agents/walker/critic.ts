/** The critic: expected return of a state, from the dialogue and from where the walk stands. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { matMul, matMulConst, roundingOf } from '../../src/tensor/ops.js';
import { orthogonalValues, ParameterSet } from '../../src/tensor/parameters.js';
import type { WalkerSettings } from './settings.js';
import { createStateRows, type StateBatch, type StateRowShape } from './heads/head.js';

export interface Critic {
  readonly parameters: ParameterSet;
  /** float32 [S]; differentiable, owned by the caller. */
  values(batch: StateBatch): tfTypes.Tensor1D;
  dispose(): void;
}

/** The critic that the settings name: the plain one reads what the plain head reads, the other no relations. */
export function createCritic(tf: Tf, settings: WalkerSettings, shape: StateRowShape, seed: number): Critic {
  const rows = createStateRows(settings, shape, settings.critic === 'plain');
  const { critic: kind, width, precision } = settings;
  const { parameters, values } = createValueNetwork(tf, { stateDim: rows.dim, width, kind, precision }, seed);
  return {
    parameters,
    values: (batch) => values(rows.of(batch), batch.numStates),
    dispose: () => parameters.dispose(),
  };
}

interface ValueNetworkOptions extends Partial<Pick<WalkerSettings, 'precision'>> {
  stateDim: number;
  width: number;
  /** Default `standard`. */
  kind?: WalkerSettings['critic'];
  /** Those that the network's own are added to. Default: none. */
  parameters?: ParameterSet;
}

/**
 * V = w·tanh(W2·tanh(W1·s + b1) + b2) + b over states that stand ready; orthogonal starts with gains √2 and 1. The plain
 * kind has no biases, and gains 1 and 0.01.
 * @returns the parameters, the caller's to dispose, and what values float32 [count, stateDim] as float32 [count]; states that
 *   are a tensor are differentiated
 * @source the plain kind: LLM-ARK (Huang 2024), equation 6
 */
export function createValueNetwork(
  tf: Tf,
  { stateDim, width, kind = 'standard', precision = 'f32', parameters = new ParameterSet(tf) }: ValueNetworkOptions,
  seed: number,
) {
  const biased = kind === 'standard';
  const gains = biased ? { hidden: Math.SQRT2, out: 1 } : { hidden: 1, out: 0.01 };
  const round = roundingOf(tf, precision);
  const layer = (name: string, rows: number, columns: number, gain: number) => {
    parameters.add(name, [rows, columns], orthogonalValues(Rng.named(seed, `walker/${name}`), rows, columns, gain));
    if (biased) parameters.add(`${name}.bias`, [columns], new Float32Array(columns));
  };
  layer('critic.1', stateDim, width, gains.hidden);
  layer('critic.2', width, width, gains.hidden);
  layer('critic.out', width, 1, gains.out);
  const weight = (name: string) => round(parameters.get(name) as unknown as tfTypes.Tensor2D);
  const withBias = (product: tfTypes.Tensor2D, name: string) =>
    round(biased ? (tf.add(product, weight(`${name}.bias`)) as tfTypes.Tensor2D) : product);

  const values = (states: Float32Array | tfTypes.Tensor2D, count: number): tfTypes.Tensor1D => {
    const inputs =
      states instanceof Float32Array
        ? matMulConst(tf, tf.tensor2d(states, [count, stateDim]), weight('critic.1'))
        : matMul(tf, states, weight('critic.1'));
    const first = round(tf.tanh(withBias(inputs, 'critic.1')));
    const second = round(tf.tanh(withBias(matMul(tf, first, weight('critic.2')), 'critic.2')));
    return tf.reshape(withBias(matMul(tf, second, weight('critic.out')), 'critic.out'), [-1]);
  };
  return { parameters, values };
}

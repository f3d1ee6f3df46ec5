/** The critic: expected return of a state, from the dialogue and from where the walk stands. */
import type * as tfTypes from '@tensorflow/tfjs';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { matMul, matMulConst } from '../../src/tensor/ops.js';
import { orthogonalValues, ParameterSet } from '../../src/tensor/parameters.js';
import type { FrozenTables } from './frozen-tables.js';
import { stateScalars, type StateBatch } from './state-batch.js';

/** A network that values the states of a batch. */
export interface Critic {
  readonly parameters: ParameterSet;
  /** float32 [S]; differentiable, owned by the caller. */
  values(batch: StateBatch): tfTypes.Tensor1D;
  dispose(): void;
}

/** The network that `createValueNetwork` builds over the dialogue's vectors, the start and the current entity. */
export function createCritic(tf: Tf, tables: FrozenTables, contextDim: number, width: number, seed: number): Critic {
  const stateDim = contextDim + 2 * tables.entityDim + stateScalars.length;
  const { parameters, values } = createValueNetwork(tf, stateDim, width, seed);
  return {
    parameters,
    values: (batch) => values(stateVectors(batch, tables, contextDim, stateDim), batch.numStates),
    dispose: () => parameters.dispose(),
  };
}

/**
 * V = w·tanh(W2·tanh(W1·s + b1) + b2) + b over states that stand ready; orthogonal starts with gains √2 and 1.
 * @param width units of each hidden layer
 * @returns the parameters, the caller's to dispose, and what values float32 [count, stateDim] as float32 [count]
 */
export function createValueNetwork(tf: Tf, stateDim: number, width: number, seed: number) {
  const parameters = new ParameterSet(tf);
  const layer = (name: string, rows: number, columns: number, gain: number) => {
    parameters.add(name, [rows, columns], orthogonalValues(Rng.named(seed, `walker/${name}`), rows, columns, gain));
    parameters.add(`${name}.bias`, [columns], new Float32Array(columns));
  };
  layer('critic.1', stateDim, width, Math.SQRT2);
  layer('critic.2', width, width, Math.SQRT2);
  layer('critic.out', width, 1, 1);
  const weight = (name: string) => parameters.get(name) as unknown as tfTypes.Tensor2D;

  const values = (states: Float32Array, count: number): tfTypes.Tensor1D => {
    const input = tf.tensor2d(states, [count, stateDim]);
    const first = tf.tanh(tf.add(matMulConst(tf, input, weight('critic.1')), weight('critic.1.bias')));
    const second = tf.tanh(tf.add(matMul(tf, first as tfTypes.Tensor2D, weight('critic.2')), weight('critic.2.bias')));
    const out = tf.add(matMul(tf, second as tfTypes.Tensor2D, weight('critic.out')), weight('critic.out.bias'));
    return tf.reshape(out, [-1]);
  };
  return { parameters, values };
}

function stateVectors(
  batch: StateBatch,
  { entities, entityDim }: FrozenTables,
  contextDim: number,
  stateDim: number,
): Float32Array {
  const states = new Float32Array(batch.numStates * stateDim);
  for (let s = 0; s < batch.numStates; s++) {
    const at = s * stateDim;
    states.set(batch.context.subarray(s * contextDim, (s + 1) * contextDim), at);
    [batch.start[s]!, batch.current[s]!].forEach((entity, i) => {
      states.set(entities.subarray(entity * entityDim, (entity + 1) * entityDim), at + contextDim + i * entityDim);
    });
    states.set(
      batch.scalars.subarray(s * stateScalars.length, (s + 1) * stateScalars.length),
      at + contextDim + 2 * entityDim,
    );
  }
  return states;
}

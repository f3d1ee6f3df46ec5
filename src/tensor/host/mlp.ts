/** A small dense network over vectors, forward and back, computed by SIMD kernels: an actor's or a critic's. */
import { WorkbenchError } from '../../run/errors.js';
import { Rng } from '../../run/seeds.js';
import { denseStarts, HostLayers } from './host-layers.js';
import { type HostOutputs, HostParameters } from './host-parameters.js';

/** Shape and start of a network. */
export interface MlpOptions {
  /** Numbers that a row has. */
  inputs: number;
  /** Units of each hidden layer, with tanh behind each; none makes it linear. */
  hidden: readonly number[];
  /** Numbers that a row gives. */
  outputs: number;
  /** Scale of the orthogonal start of the last layer; hidden ones have √2. Default 1; 0.01 for the scores of a policy. */
  gain?: number;
  /** Goes before the names of its parameters, `NAME.1`, `NAME.1.bias` … `NAME.out`. Default `mlp`. */
  name?: string;
  /** Seed of the initial weights; without it zeros, for weights to be loaded. */
  seed?: number | undefined;
}

/** A network and its weights. */
export interface Mlp {
  /** Weights, for an optimizer (`adamW`) and checkpoints (`export`, `import`). */
  readonly parameters: HostParameters;
  /**
   * @param rows each of `inputs` numbers
   * @returns float32 [rows, outputs]: a view, which the next computation changes. A row's numbers do not depend on the other rows.
   */
  values(rows: readonly ArrayLike<number>[]): Float32Array;
  /** The same, with the backward pass, which adds to the gradients of the parameters. Once, and before the next computation. */
  outputs(rows: readonly ArrayLike<number>[]): HostOutputs;
}

/**
 * Makes a network: y = W_n · tanh(… tanh(W_1 · x + b_1) …) + b_n in float32.
 * @source Huang et al. 2022, "The 37 implementation details of PPO", details 2 and 13, for the start
 * @throws WorkbenchError `native` where there is no WebAssembly SIMD
 */
export function mlp({ inputs, hidden, outputs, gain = 1, name = 'mlp', seed }: MlpOptions): Mlp {
  const layers = [...hidden, outputs].map((width, i) => {
    const last = i === hidden.length;
    return { name: `${name}.${last ? 'out' : i + 1}`, width, biased: true, gain: last ? gain : Math.SQRT2 };
  });
  const rngOf = seed === undefined ? undefined : (layer: string) => Rng.named(seed, `policy/${layer}`);
  const parameters = new HostParameters(denseStarts(inputs, layers, rngOf));
  const dense = new HostLayers(parameters, inputs, layers);
  let computed = 0;
  const values = (rows: readonly ArrayLike<number>[]) => {
    computed++;
    const input = dense.input(rows.length);
    for (let i = 0; i < rows.length; i++) input.set(rows[i]!, i * inputs);
    return dense.compute(rows.length);
  };
  return {
    parameters,
    values,
    outputs(rows) {
      const given = { values: values(rows), computed, version: parameters.version };
      return {
        values: given.values,
        back(grad) {
          if (given.computed !== computed || given.version !== parameters.version) {
            throw new WorkbenchError(
              'failure',
              `expected the latest computation, got an earlier one, in backward of ${name}`,
            );
          }
          dense.outputGrads(rows.length).set(grad);
          dense.back(rows.length, false);
        },
      };
    },
  };
}

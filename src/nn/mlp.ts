/** A small dense network over vectors, forward and back, computed by SIMD kernels: an actor's or a critic's. */
import { Rng } from '../run/seeds.js';
import { type HostTensor, orthogonalValues } from './parameters.js';
import { type HostOutputs, type HostTaped, SimdParameters, SimdTape } from './simd/tape.js';

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
  readonly parameters: SimdParameters;
  /**
   * @param rows each of `inputs` numbers
   * @returns float32 [rows, outputs]: a view, which the next computation changes. A row's numbers do not depend on the other rows.
   */
  values(rows: readonly ArrayLike<number>[]): Float32Array;
  /** The same, with the backward pass, which adds to the gradients of the parameters. Once, and before the next `outputs`. */
  outputs(rows: readonly ArrayLike<number>[]): HostOutputs;
}

/**
 * Makes a network: y = W_n · tanh(… tanh(W_1 · x + b_1) …) + b_n in float32.
 * @source Huang et al. 2022, "The 37 implementation details of PPO", details 2 and 13, for the start
 * @throws WorkbenchError `native` where there is no WebAssembly SIMD
 */
export function mlp({ inputs, hidden, outputs, gain = 1, name = 'mlp', seed }: MlpOptions): Mlp {
  const widths = [inputs, ...hidden, outputs];
  const layers = widths.slice(1).map((width, i) => ({ part: `${name}.${i < hidden.length ? i + 1 : 'out'}`, width }));
  const initial: Record<string, HostTensor> = {};
  layers.forEach(({ part, width }, i) => {
    const scale = i < hidden.length ? Math.SQRT2 : gain;
    const data =
      seed === undefined
        ? new Float32Array(widths[i]! * width)
        : orthogonalValues(Rng.named(seed, `policy/${part}`), widths[i]!, width, scale);
    initial[part] = { shape: [widths[i]!, width], data };
    initial[`${part}.bias`] = { shape: [width], data: new Float32Array(width) };
  });
  const parameters = new SimdParameters(initial);
  const [tape, inference] = [new SimdTape(parameters), new SimdTape(parameters, false)];
  const computed = (on: SimdTape, rows: readonly ArrayLike<number>[]) => {
    on.begin();
    const values = on.buffer(rows.length * inputs);
    // Plain loops: `set` costs more than the few numbers of a row.
    for (let i = 0, at = 0; i < rows.length; i++) {
      const row = rows[i]!;
      for (let j = 0; j < inputs; j++) values[at++] = row[j]!;
    }
    return layers.reduce<HostTaped>(
      (x, { part, width }, i) => on.dense(x, part, width, undefined, i < hidden.length ? 'tanh' : undefined),
      { rows: rows.length, width: inputs, values },
    );
  };
  return {
    parameters,
    values: (rows) => computed(inference, rows).values,
    outputs: (rows) => tape.outputs([computed(tape, rows)]),
  };
}

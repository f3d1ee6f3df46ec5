/** A small dense network over vectors, forward and back: an actor's or a critic's. */
import { Rng } from '../run/seeds.js';
import type { Executor } from './executor.js';
import { type HostTensor, orthogonalValues, Parameters } from './parameters.js';
import { SimdExecutor } from './simd/executor.js';
import { type Outputs, Tape, type Taped } from './tape.js';

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
  /** Computes it; default SIMD kernels. */
  executor?: Executor;
}

/** A network and its weights. */
export interface Mlp {
  /** Weights, for an optimizer (`adamW`) and checkpoints (`export`, `import`). */
  readonly parameters: Parameters;
  /**
   * @param rows each of `inputs` numbers
   * @returns float32 [rows, outputs]. On SIMD kernels a row's numbers do not depend on the other rows.
   */
  values(rows: readonly ArrayLike<number>[]): Promise<Float32Array>;
  /** The same, with the backward pass, which adds to the gradients of the parameters. Once, and before the next `outputs`. */
  outputs(rows: readonly ArrayLike<number>[]): Outputs;
  /** Copies rows to where the network is computed. @returns outputs of some of them, by their places; valid until the next call */
  hold(rows: readonly ArrayLike<number>[]): (chosen: Int32Array) => Outputs;
}

/**
 * Makes a network: y = W_n · tanh(… tanh(W_1 · x + b_1) …) + b_n in float32.
 * @source Huang et al. 2022, "The 37 implementation details of PPO", details 2 and 13, for the start
 * @throws WorkbenchError `native` where there is no WebAssembly SIMD
 */
export function mlp(options: MlpOptions): Mlp {
  const { inputs, hidden, outputs, gain = 1, name = 'mlp', seed, executor = new SimdExecutor() as Executor } = options;
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
  const parameters = new Parameters(executor, initial);
  const [tape, inference] = [new Tape(parameters), new Tape(parameters, false)];
  const held = executor.scope();
  const computed = (on: Tape, rows: Taped) => {
    const act = (i: number) => (i < hidden.length ? 'tanh' : undefined);
    const out = layers.reduce((x, { part, width }, i) => on.dense(x, part, width, undefined, act(i)), rows);
    return on.outputs([out]);
  };
  const given = (on: Tape, rows: readonly ArrayLike<number>[]) => {
    on.begin();
    return computed(on, on.constant(matrixOf(rows, inputs), inputs));
  };
  return {
    parameters,
    values: (rows) => given(inference, rows).read(),
    outputs: (rows) => given(tape, rows),
    hold(rows) {
      held.begin();
      const all = { rows: rows.length, width: inputs, values: held.copy(matrixOf(rows, inputs)) };
      return (chosen) => {
        tape.begin();
        return computed(tape, tape.rows(all, chosen));
      };
    },
  };
}

function matrixOf(rows: readonly ArrayLike<number>[], width: number): Float32Array {
  const all = new Float32Array(rows.length * width);
  // Plain loops: `set` costs more than the few numbers of a row.
  for (let i = 0, at = 0; i < rows.length; i++) {
    const row = rows[i]!;
    for (let j = 0; j < width; j++) all[at++] = row[j]!;
  }
  return all;
}

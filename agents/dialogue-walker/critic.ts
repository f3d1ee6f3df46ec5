/** The critic: expected return of a state, from the dialogue and from where the walk stands. */
import type { Executor } from '../../src/nn/executor.js';
import { type HostTensor, orthogonalValues, Parameters } from '../../src/nn/parameters.js';
import { type Outputs, Tape, type Taped } from '../../src/nn/tape.js';
import { Rng } from '../../src/run/seeds.js';
import { heldRows } from './heads/batch-rows.js';
import { layerOf } from './heads/pa-mlp.js';
import type { WalkerSettings } from './settings.js';
import { createStateRows, type StateBatch, type StateRowShape } from './heads/head.js';

export interface Critic {
  readonly parameters: Parameters;
  /** float32 [S] */
  values(batch: StateBatch): Outputs;
  /** See `ValueNetwork.hold`. */
  hold?(batch: StateBatch): (states: Int32Array) => () => Outputs;
  dispose(): void;
}

/** The critic that the settings name: the plain one reads what the plain head reads, the other no relations. */
export function createCritic(executor: Executor, settings: WalkerSettings, shape: StateRowShape, seed: number): Critic {
  const rows = createStateRows(settings, shape, settings.critic === 'plain');
  const { critic: kind, width, precision } = settings;
  const parameters = new Parameters(executor, valueStarts({ stateDim: rows.dim, width, kind }, seed));
  const tape = new Tape(parameters);
  const outputs = (states: (tape: Tape) => Taped) => {
    tape.begin();
    return tape.outputs([valuesOf(tape, states(tape), precision)]);
  };
  const held = executor.scope();
  return {
    parameters,
    values: (batch) => outputs((on) => on.constant(rows.of(batch), rows.dim)),
    ...(executor.queue && {
      hold: (batch) => {
        held.begin();
        const all = heldRows(held, rows.of(batch), rows.dim);
        return (states) => () => outputs((on) => on.rows(all, states));
      },
    }),
    dispose: () => parameters.dispose(),
  };
}

/** Initial values of a value network. @param kind default `standard` */
export function valueStarts(
  { stateDim, width, kind = 'standard' }: { stateDim: number; width: number; kind?: WalkerSettings['critic'] },
  seed: number,
): Record<string, HostTensor> {
  const biased = kind === 'standard';
  const gains = biased ? { hidden: Math.SQRT2, out: 1 } : { hidden: 1, out: 0.01 };
  const layer = (name: string, rows: number, columns: number, gain: number): [string, HostTensor][] => {
    const data = orthogonalValues(Rng.named(seed, `walker/${name}`), rows, columns, gain);
    const bias = { shape: [columns], data: new Float32Array(columns) };
    return [
      [name, { shape: [rows, columns], data }],
      ...(biased ? [[`${name}.bias`, bias] as [string, HostTensor]] : []),
    ];
  };
  return Object.fromEntries([
    ...layer('critic.1', stateDim, width, gains.hidden),
    ...layer('critic.2', width, width, gains.hidden),
    ...layer('critic.out', width, 1, gains.out),
  ]);
}

/**
 * V = w·tanh(W2·tanh(W1·s + b1) + b2) + b, [states, 1]; orthogonal starts with gains √2 and 1. The plain kind has no biases, and gains 1
 * and 0.01.
 * @source the plain kind: LLM-ARK (Huang 2024), equation 6
 */
export function valuesOf(tape: Tape, states: Taped, precision: WalkerSettings['precision'] = 'f32'): Taped {
  const layer = layerOf(tape, precision);
  return layer(layer(layer(states, 'critic.1', 'tanh'), 'critic.2', 'tanh'), 'critic.out');
}

/** The part of a Llama that is not trained: weights that stay as they are, and states below the trained layers. */
import type { Executor } from '../nn/executor.js';
import { Parameters } from '../nn/parameters.js';
import { Tape, type Taped } from '../nn/tape.js';
import { semaphore } from '../run/concurrency.js';
import type { Forest } from './forest.js';
import { type LayerOptions, type LlamaWeights, layers } from './forward.js';
import type { LlamaFile } from './read-llama.js';

/** Weights of a file on an executor, each from when it is first asked for; they stay until the executor is gone. */
export function frozenWeights(executor: Executor, file: LlamaFile): LlamaWeights {
  const held = new Map<string, Taped>();
  return {
    find(name) {
      const known = held.get(name);
      if (known || !file.has(name)) return known;
      const { shape, data } = file.tensor(name);
      const width = shape.at(-1)!;
      const made = { rows: data.length / width, width, values: executor.hold(data) };
      held.set(name, made);
      return made;
    },
  };
}

/** Keys and values of tokens in each of the lower layers, [tokens, kvHeads · headDim] each. */
export type KnownKeys = readonly (readonly [keys: Float32Array, values: Float32Array])[];

/** Keys and values of a layer behind those that are known. @param from layer of the first of them */
export function behindKnown(tape: Tape, known: KnownKeys, from = 0): NonNullable<LayerOptions['seen']> {
  const behind = (past: Float32Array, own: Taped) => tape.stack([tape.constant(past, own.width), own]);
  return (layer, keys, values) => {
    const [pastKeys, pastValues] = known[layer - from]!;
    return [behind(pastKeys, keys), behind(pastValues, values)];
  };
}

/** States of tokens without gradients, in the memory of about two layers. */
export interface FrozenLlama {
  weights: LlamaWeights;
  /**
   * States before layer `layer` of the tokens of some segments; those of a segment depend on it and its ancestors alone.
   * @param segments of the forest, none of them known
   * @param known keys and values of the known segments, of `layer` layers or more
   * @returns of each [tokens, dim]
   */
  states(forest: Forest, layer: number, segments: readonly number[], known?: KnownKeys): Promise<Float32Array[]>;
  /** Keys and values of all tokens in the layers below `layer`: of what many forests begin with. */
  keys(forest: Forest, layer: number): Promise<KnownKeys>;
}

/** @param weights shared with other users of the file on this executor; default its own */
export function frozenLlama(
  executor: Executor,
  file: LlamaFile,
  weights: LlamaWeights = frozenWeights(executor, file),
): FrozenLlama {
  const { config } = file;
  // Used by turns: one layer's room is used again once the next has its result.
  const tapes = [0, 1].map(() => new Tape(new Parameters(executor, {}), false));
  /** Calls share the tapes. */
  const oneByOne = semaphore(1);
  const read = ({ values, rows, width }: Taped) => executor.read(values).then((all) => all.slice(0, rows * width));

  /** @returns the tape with the states, and keys and values if they are to be kept */
  async function through(forest: Forest, layer: number, known: KnownKeys, keep: boolean) {
    const kept: (readonly [Float32Array, Float32Array])[] = [];
    let tape = tapes[0]!;
    tape.begin();
    // Of the table, which is large, a few rows.
    let x = tape.constant(file.rows('token_embd.weight', forest.ids.subarray(forest.known)), config.dim);
    for (let i = 0; i < layer; i++) {
      tape = tapes[(i + 1) % 2]!;
      tape.begin();
      const seen = forest.known === 0 ? undefined : behindKnown(tape, known);
      let made: readonly Taped[] = [];
      x = layers(tape, config, weights, forest, x, i, i + 1, {
        seen(at, keys, values) {
          made = [keys, values];
          return seen?.(at, keys, values) ?? [keys, values];
        },
      });
      if (keep) kept.push([await read(made[0]!), await read(made[1]!)]);
    }
    return { tape, x, kept };
  }

  return {
    weights,
    states: (forest, layer, segments, known = []) =>
      oneByOne(async () => {
        const { tape, x } = await through(forest, layer, known, false);
        const { offsets, known: first } = forest;
        return Promise.all(
          segments.map((s) => read(tape.slice(x, offsets[s]! - first, offsets[s + 1]! - offsets[s]!))),
        );
      }),
    keys: (forest, layer) => oneByOne(async () => (await through(forest, layer, [], true)).kept),
  };
}

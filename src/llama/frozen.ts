/** The part of a Llama that is not trained: weights that stay as they are, and states below the trained layers. */
import type { Executor } from '../nn/executor.js';
import { Parameters } from '../nn/parameters.js';
import { Tape, type Taped } from '../nn/tape.js';
import type { Forest } from './forest.js';
import { type LlamaWeights, layers } from './forward.js';
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

/** States of tokens without gradients, in the memory of about two layers. */
export interface FrozenLlama {
  weights: LlamaWeights;
  /**
   * States before layer `layer` of the tokens of some segments; those of a segment depend on it and its ancestors alone.
   * @param segments of the forest
   * @returns of each [tokens, dim]
   */
  states(forest: Forest, layer: number, segments: readonly number[]): Promise<Float32Array[]>;
}

/** @param weights shared with other users of the file on this executor; default its own */
export function frozenLlama(
  executor: Executor,
  file: LlamaFile,
  weights: LlamaWeights = frozenWeights(executor, file),
): FrozenLlama {
  const { config } = file;
  // In turns: one layer's room is used again once the next has its result.
  const tapes = [0, 1].map(() => new Tape(new Parameters(executor, {}), false));
  return {
    weights,
    async states(forest, layer, segments) {
      let tape = tapes[0]!;
      tape.begin();
      // Of the table, which is large, a few rows.
      let x = tape.constant(file.rows('token_embd.weight', forest.ids), config.dim);
      for (let i = 0; i < layer; i++) {
        tape = tapes[(i + 1) % 2]!;
        tape.begin();
        x = layers(tape, config, weights, forest, x, i, i + 1);
      }
      const ranges = segments.map((s) =>
        tape.slice(x, forest.offsets[s]!, forest.offsets[s + 1]! - forest.offsets[s]!),
      );
      return Promise.all(
        ranges.map(({ values, rows }) => executor.read(values).then((all) => all.slice(0, rows * config.dim))),
      );
    },
  };
}

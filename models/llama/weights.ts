/** The weights of a Llama as trainable parameters, and where they start. */
import type { Executor } from '../../src/nn/executor.js';
import { type HostTensor, normalValues, Parameters } from '../../src/nn/parameters.js';
import { Rng } from '../../src/run/seeds.js';
import { type LlamaConfig, llamaTensors } from '../../src/llama/config.js';

/** By GGUF name, as `llamaTensors` lists them. */
export type LlamaWeights = ReadonlyMap<string, Float32Array>;

const embeddingDeviation = 0.05;

/**
 * Starting weights: normal, of deviation 1/√in; what is added to the residual stream is made smaller by √(2·layers), so that
 * the stream's size does not grow with depth; norms are 1. The same seed gives the same numbers on every executor.
 */
export function startingWeights(config: LlamaConfig, seed: number): LlamaWeights {
  return new Map(
    llamaTensors(config).map(({ name, shape }) => {
      const [rows, columns] = shape;
      if (columns === undefined) return [name, new Float32Array(rows).fill(1)];
      const added = name.endsWith('attn_output.weight') || name.endsWith('ffn_down.weight');
      const deviation =
        name === 'token_embd.weight' ? embeddingDeviation : 1 / Math.sqrt(columns * (added ? 2 * config.layers : 1));
      return [name, normalValues(Rng.named(seed, `llama/${name}`), deviation, rows * columns)];
    }),
  );
}

/** Weights as parameters on an executor. @throws TypeError where a tensor is missing */
export function llamaParameters(executor: Executor, config: LlamaConfig, weights: LlamaWeights): Parameters {
  const named = llamaTensors(config).map(({ name, shape }) => [name, { shape: [...shape], data: weights.get(name)! }]);
  return new Parameters(executor, Object.fromEntries(named) as Record<string, HostTensor>);
}

/** The parameters' values now. */
export async function weightsOf(parameters: Parameters): Promise<LlamaWeights> {
  return new Map(Object.entries(await parameters.export()).map(([name, { data }]) => [name, data]));
}

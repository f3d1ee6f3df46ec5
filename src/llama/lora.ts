/** Low-rank matrices next to those of a Llama: where they start, and the file of an adapter. @source Hu et al. 2021, arXiv:2106.09685 */
import { type HostTensor, type InitialValues, normalValues } from '../nn/parameters.js';
import { Rng } from '../run/seeds.js';
import { type LlamaConfig, layerTensors } from './config.js';
import type { LlamaFile } from './read-llama.js';
import { writeGguf } from './write-gguf.js';

/** Matrices of a layer that can have them; by default all but `attn_k`. */
export const loraMatrices = ['attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_gate', 'ffn_up', 'ffn_down'] as const;
/** See `loraMatrices`. */
export type LoraMatrix = (typeof loraMatrices)[number];

/** Which matrices have low-rank ones next to them, and how large. */
export interface LoraSettings {
  rank: number;
  /** Factor of what they add, times the rank. */
  alpha: number;
  /** The first layer that has them; so have all behind it. */
  from: number;
  matrices?: readonly LoraMatrix[];
}

/** Start of the parameters: `NAME.lora_a` [rank, inputs], normal of deviation 1/√inputs, and `NAME.lora_b` [outputs, rank], zeros. */
export function loraStart(config: LlamaConfig, { rank, from, matrices }: LoraSettings, seed: number): InitialValues {
  const chosen: readonly string[] = matrices ?? loraMatrices.filter((name) => name !== 'attn_k');
  return Object.fromEntries(
    upperTensors(config, from).flatMap(({ name, shape: [outputs, inputs] }) => {
      if (inputs === undefined || !chosen.includes(name.split('.')[2]!)) return [];
      const a = normalValues(Rng.named(seed, `llama/lora/${name}`), 1 / Math.sqrt(inputs), rank * inputs);
      return [
        [`${name}.lora_a`, { shape: [rank, inputs], data: a }],
        [`${name}.lora_b`, { shape: [outputs, rank], data: new Float32Array(outputs * rank) }],
      ];
    }),
  );
}

/** Weights of layer `from` and all behind it, to be trained themselves. */
export function layerStart(file: LlamaFile, from: number): InitialValues {
  return Object.fromEntries(upperTensors(file.config, from).map(({ name }) => [name, file.tensor(name)]));
}

const upperTensors = (config: LlamaConfig, from: number) =>
  Array.from({ length: config.layers - from }, (_, i) => layerTensors(config, from + i)).flat();

/**
 * Writes trained low-rank matrices as an adapter that llama.cpp loads with its model.
 * @param tensors parameters by name; those of other names are left out
 * @throws WorkbenchError `data` for numbers that are not finite; `failure` where the place cannot be written
 */
export function writeAdapter(
  path: string,
  architecture: string,
  alpha: number,
  tensors: Readonly<Record<string, HostTensor>>,
): void {
  const metadata = {
    'general.type': 'adapter',
    'general.architecture': architecture,
    'adapter.type': 'lora',
    'adapter.lora.alpha': { float32: alpha },
  };
  const pairs = Object.entries(tensors).filter(([name]) => /\.lora_[ab]$/.test(name));
  writeGguf(
    path,
    metadata,
    pairs.map(([name, { shape, data }]) => ({ name, shape: shape.toReversed(), type: 'F32', values: data })),
  );
}

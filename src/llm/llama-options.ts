/** Options of model files, apart from the library that runs them: its types are not part of the package's. */

import type { Sampling } from './language-model.js';

/** Device of a model: `off` is CPU only, `auto` uses a graphics card if present, the others require that backend. */
export type LlamaDevice = 'off' | 'auto' | 'cuda' | 'vulkan' | 'metal';

/** Loading and compute options; defaults fit the machine. */
export interface LlamaModelOptions extends Sampling {
  /** Default `off`: the processor alone. */
  gpu?: LlamaDevice;
  /** Layers on the graphics card; default as many as fit. */
  gpuLayers?: number;
  /** Default 1: on two cores more was never faster and up to 100 times slower. */
  threads?: number;
  /** Tokens of prompt and reply; default 4096, or what the model was trained with where that is less. */
  contextLength?: number;
  /** See `LanguageModel.maxTokens`. */
  maxTokens?: number | undefined;
  /** Prompt heads kept evaluated, default 8: more than an agent has phases. Each costs memory for a whole context. */
  heads?: number;
  /** Requests side by side, default 1. With more, replies may differ in rare ties: batches are then shared. */
  sequences?: number;
  /** GGUF file of low-rank matrices that are added to the model's (LoRA). Default none. */
  adapter?: string | undefined;
  /** sha256 (hex) of a file, from a cache; default reads the whole file. */
  fileHash?: (path: string) => Promise<string>;
}

/** From a setting or a `--model` to an encoder. */
import { modelFile } from '../llm/model-files.js';
import { WorkbenchError } from '../run/errors.js';
import { hashedEncoder } from './hashed-encoder.js';
import { openLlamaEncoder } from './llama-encoder.js';
import type { EncoderSettings } from './settings.js';
import type { StateEncoder } from './state-encoder.js';

/** Which model, where it is not the settings' own, and where vectors are kept. */
export interface OpenEncoderOptions {
  /** Goes before `settings.model`. */
  modelPath?: string | undefined;
  /** The folder of all caches. */
  cacheFolder: string;
}

/**
 * `hashed:DIM` opens the model-free encoder, anything else a GGUF file, by path or by name.
 * @throws WorkbenchError `config` without a model, as `modelFile` for a name that leads nowhere, else what the encoder throws
 */
export async function openEncoder(settings: EncoderSettings, options: OpenEncoderOptions): Promise<StateEncoder> {
  const model = options.modelPath ?? settings.model;
  if (!model) {
    throw new WorkbenchError('config', 'expected a text encoder, got none, at encoder.model', {
      hint: 'Give --model FILE.gguf (a sentence encoder works best), or --model hashed:256 to try things out.',
    });
  }
  const hashed = /^hashed:(.*)$/.exec(model);
  if (hashed) return hashedEncoder(Number(hashed[1] || NaN), settings.normalize);
  return openLlamaEncoder({ modelPath: modelFile(model), settings, cacheFolder: options.cacheFolder });
}

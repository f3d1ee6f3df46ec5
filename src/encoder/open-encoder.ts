/** From a setting or a `--model` to an encoder. */
import { isServerAddress, modelFile } from '../llm/model-files.js';
import { WorkbenchError } from '../run/errors.js';
import { type ProgressReporter, silentProgress } from '../run/progress.js';
import { hashedEncoder } from './hashed-encoder.js';
import { openLlamaEncoder } from './llama-encoder.js';
import { openServerEncoder } from './server-encoder.js';
import type { EncoderSettings } from './settings.js';
import type { EncodedTexts, EncodeOptions, StateEncoder } from './state-encoder.js';

/** Which model, where it is not the settings' own, and where vectors are kept. */
export type OpenEncoderOptions = { modelPath?: string | undefined; cacheFolder: string };

/**
 * Opens `hashed:DIM`, servers `http(s)://HOST/v1#MODEL` with commas between, or a GGUF file by path or name.
 * @throws WorkbenchError `config` without a model, as `modelFile` for an unknown name; errors of the encoder
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
  if (isServerAddress(model)) {
    return openServerEncoder({ servers: model, normalize: settings.normalize, cacheFolder: options.cacheFolder });
  }
  const modelPath = modelFile(model, 'hashed:DIM for vectors without a model');
  return openLlamaEncoder({ modelPath, settings, cacheFolder: options.cacheFolder });
}

interface EncodeProgress extends Omit<EncodeOptions, 'onProgress'> {
  label: string;
  progress?: ProgressReporter | undefined;
}

/** Encodes under a line of progress, which ends with its rate and with what texts had in common. @throws as the encoder */
export async function encodeWithProgress(
  encoder: StateEncoder,
  texts: readonly string[],
  { label, progress = silentProgress, ...options }: EncodeProgress,
): Promise<EncodedTexts> {
  const line = progress(label, new Set(texts).size, 'texts');
  const started = performance.now();
  const encoded = await encoder.encode(texts, {
    ...options,
    onProgress: (done, _total, tokens, reused) => line.update(done, rates(tokens, reused, performance.now() - started)),
  });
  line.finish();
  return encoded;
}

/** `1240 tokens/s · 81 % of the tokens shared`, without the second where nothing was. */
function rates(tokens: number, reused: number, milliseconds: number): string {
  const rate = `${((tokens * 1000) / (milliseconds + 1)).toFixed(0)} tokens/s`;
  return reused === 0 ? rate : `${rate} · ${Math.round((100 * reused) / (tokens + reused))} % of the tokens shared`;
}

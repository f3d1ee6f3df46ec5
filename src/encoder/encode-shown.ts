/** Encoding under a line of progress, which ends with its rate and with what texts had in common. */
import { silentProgress, type ProgressReporter } from '../run/progress.js';
import type { EncodedTexts, EncodeOptions, StateEncoder } from './state-encoder.js';

/** What is said of it, and how it is encoded. */
export interface EncodeShownOptions extends Pick<EncodeOptions, 'maxTokens' | 'overlong' | 'lanes'> {
  /** Such as `encode messages`. */
  label: string;
  progress?: ProgressReporter | undefined;
  signal?: AbortSignal | undefined;
}

/** @throws as the encoder */
export async function encodeShown(
  encoder: StateEncoder,
  texts: readonly string[],
  { label, progress = silentProgress, signal, ...options }: EncodeShownOptions,
): Promise<EncodedTexts> {
  const line = progress(label, new Set(texts).size, 'texts');
  const started = performance.now();
  const encoded = await encoder.encode(texts, {
    ...options,
    ...(signal && { signal }),
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

/** Frozen text vectors of observations, for programs that step environments without an encoder. */
import { encodeWithProgress, openEncoder } from '../src/encoder/open-encoder.js';
import type { EncoderSettings } from '../src/encoder/settings.js';
import { cacheFolder } from '../src/run/locations.js';
import type { ProgressReporter } from '../src/run/progress.js';

/** One vector an observation. */
export interface ObservationVectors {
  length: number;
  /** @param at place of its first number in `into`, where zeros stand */
  write(observation: never, into: Float32Array, at: number): void;
}

/** Texts of one kind, row by row. */
interface VectorRows {
  dim: number;
  /** Adds row `row` to the numbers from `at`. */
  add(row: number, into: Float32Array, at: number): void;
}

/**
 * Each kind of texts, encoded once.
 * @param encoder FILE.gguf, a name of `models list`, or hashed:DIM
 * @throws WorkbenchError as `openEncoder`
 */
export async function encodedRows<Kind extends string>(
  encoder: string,
  kinds: Readonly<Record<Kind, { texts: readonly string[]; maxTokens: number }>>,
  settings: EncoderSettings,
  { progress, signal }: { progress: ProgressReporter; signal?: AbortSignal | undefined },
): Promise<Record<Kind, VectorRows>> {
  const opened = await openEncoder(settings, { modelPath: encoder, cacheFolder: cacheFolder() });
  try {
    const rows = {} as Record<Kind, VectorRows>;
    for (const kind of Object.keys(kinds) as Kind[]) {
      const { texts, maxTokens } = kinds[kind];
      const asked = { label: `encode ${kind}`, maxTokens, progress, signal };
      rows[kind] = rowsOf(await encodeWithProgress(opened, texts, asked));
    }
    return rows;
  } finally {
    await opened.dispose();
  }
}

const rowsOf = ({ matrix, rows, dim }: { matrix: Float32Array; rows: Int32Array; dim: number }): VectorRows => ({
  dim,
  add(row, into, at) {
    const from = rows[row]! * dim;
    for (let i = 0; i < dim; i++) into[at + i]! += matrix[from + i]!;
  },
});

/** Question input of the relation walker: one frozen text vector, scaled by statistics of train questions. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { encodeSafetensors, readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import { maskedQuestion, type QuestionSample, type QuestionTask } from '../../datasets/question.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { encodeWithProgress } from '../../src/encoder/open-encoder.js';
import type { EncodedTexts, StateEncoder } from '../../src/encoder/state-encoder.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import type { ProgressReporter } from '../../src/run/progress.js';
import { runFiles } from '../../src/run/run-files.js';
import type { RelationWalkerSettings } from './settings.js';

/** Scale of each dimension; part of a trained walker. */
export interface VectorScale {
  /** float32 [dim]. */
  mean: Float32Array;
  /** float32 [dim], 1 where train vectors do not differ. */
  deviation: Float32Array;
}

interface EncodeQuestionsOptions {
  settings: Pick<RelationWalkerSettings, 'keepName' | 'maxTokens'>;
  progress?: ProgressReporter;
  signal?: AbortSignal | undefined;
}

/** The text that stands for a question: its template, or with `keepName` the question itself. */
export function questionText(task: QuestionTask, keepName: boolean): string {
  return keepName ? task.question : maskedQuestion(task);
}

/** Vectors of questions as the encoder gives them, a row for every distinct text. */
export async function encodeQuestions(
  encoder: StateEncoder,
  tasks: readonly QuestionTask[],
  { settings: { keepName, maxTokens }, progress, signal }: EncodeQuestionsOptions,
): Promise<EncodedTexts> {
  const texts = tasks.map((task) => questionText(task, keepName));
  return encodeWithProgress(encoder, texts, { label: 'encode questions', maxTokens, progress, signal });
}

/**
 * Mean and standard deviation of each dimension over questions (not over distinct texts), summed in double precision.
 * @param encoded of train questions alone: others would leak test data
 * @throws WorkbenchError `data` without questions
 */
export function vectorScale({ matrix, rows, dim }: EncodedTexts): VectorScale {
  if (rows.length === 0) throw new WorkbenchError('data', 'expected train questions to scale vectors by, got none');
  const sums = new Float64Array(dim);
  const squares = new Float64Array(dim);
  for (const row of rows) for (let j = 0; j < dim; j++) sums[j]! += matrix[row * dim + j]!;
  const mean = Float32Array.from(sums, (sum) => sum / rows.length);
  for (const row of rows) for (let j = 0; j < dim; j++) squares[j]! += (matrix[row * dim + j]! - mean[j]!) ** 2;
  // Rounding leaves a trace of deviation where there is none.
  const deviation = Float32Array.from(squares, (square) => Math.sqrt(square / rows.length)).map((value) =>
    value > 1e-6 ? value : 1,
  );
  return { mean, deviation };
}

/** The scale of samples, whose texts are the first that were encoded. @throws as `vectorScale` */
export function scaleOfSamples(encoded: EncodedTexts, samples: readonly QuestionSample[]): VectorScale {
  samples.forEach(madeFromSamples('normaliser', 'scale of question vectors'));
  return vectorScale({ ...encoded, rows: encoded.rows.subarray(0, samples.length) });
}

/** The scale that changes nothing. */
export function unitScale(dim: number): VectorScale {
  return { mean: new Float32Array(dim), deviation: new Float32Array(dim).fill(1) };
}

/** Cached vectors in addition to those prepared last, for long-running servers. */
const mostKnown = 2 ** 14;

/** Frozen vectors of texts, scaled by what train looks like; each text is encoded once while it is kept. */
export class ScaledTexts {
  readonly dim: number;
  /** Longest unused first. */
  readonly #known = new Map<string, Float32Array>();

  /** @param most cached texts in addition to those prepared last; default 16,384 */
  constructor(
    readonly encoder: Pick<StateEncoder, 'encode' | 'dim'>,
    readonly scale: VectorScale,
    readonly maxTokens: number,
    readonly most = mostKnown,
  ) {
    this.dim = encoder.dim;
  }

  get kept(): number {
    return this.#known.size;
  }

  /** Encodes texts that are not cached, and evicts the least recently used. */
  async prepare(texts: readonly string[], signal?: AbortSignal): Promise<void> {
    // References are kept here, since a concurrent call may evict them.
    const asked = new Map([...new Set(texts)].map((text) => [text, this.#known.get(text)]));
    const missing = [...asked.keys()].filter((text) => !asked.get(text));
    if (missing.length > 0) {
      const { maxTokens } = this;
      this.keep(missing, await this.encoder.encode(missing, { maxTokens, signal }));
    }
    for (const [text, vector] of asked) {
      const own = vector ?? this.#known.get(text)!;
      this.#known.delete(text);
      this.#known.set(text, own);
    }
    for (const text of this.#known.keys()) {
      if (this.#known.size <= this.most + asked.size) break;
      this.#known.delete(text);
    }
  }

  /** Scales vectors that were encoded before and keeps them. */
  keep(texts: readonly string[], { matrix, rows, dim }: EncodedTexts): void {
    const { mean, deviation } = this.scale;
    texts.forEach((text, i) => {
      if (this.#known.has(text)) return;
      const vector = matrix.slice(rows[i]! * dim, (rows[i]! + 1) * dim);
      this.#known.set(
        text,
        vector.map((value, k) => (value - mean[k]!) / deviation[k]!),
      );
    });
  }

  /** float32 [texts, dim]. @throws WorkbenchError `failure` for a text that was not prepared */
  matrix(texts: readonly string[]): Float32Array {
    const all = new Float32Array(texts.length * this.dim);
    texts.forEach((text, i) => {
      const vector = this.#known.get(text);
      if (!vector) throw new WorkbenchError('failure', `expected a prepared text, got ${JSON.stringify(text)}`);
      all.set(vector, i * this.dim);
    });
    return all;
  }
}

const scaleFile = (runFolder: string): string => join(runFiles(runFolder).embeddings, 'question-scale.safetensors');

/** Writes the scale into the run, atomically. */
export function writeScale(runFolder: string, { mean, deviation }: VectorScale): void {
  const tensors = new Map<string, Tensor>([
    ['mean', { shape: [mean.length], data: mean }],
    ['deviation', { shape: [deviation.length], data: deviation }],
  ]);
  writeFileAtomic(scaleFile(runFolder), encodeSafetensors({ tensors, metadata: new Map() }));
}

/** The scale of a run. @throws WorkbenchError `data` where it has none yet, or a damaged one */
export function readScale(runFolder: string): VectorScale {
  const file = scaleFile(runFolder);
  if (!existsSync(file)) {
    throw new WorkbenchError('data', `expected the scale of question vectors, got none, at ${runFolder}`, {
      hint: 'The run stopped before it trained anything; resume it: `kgwalk train --resume --run-dir DIR`.',
    });
  }
  const { tensors } = readSafetensors(file, { own: true });
  const mean = tensors.get('mean')?.data;
  const deviation = tensors.get('deviation')?.data;
  if (mean instanceof Float32Array && deviation instanceof Float32Array && mean.length === deviation.length) {
    return { mean, deviation };
  }
  throw new WorkbenchError('data', `expected float32 mean and deviation of one length, got others, at ${file}`);
}

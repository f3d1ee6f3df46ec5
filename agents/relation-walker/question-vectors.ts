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
import { runFiles } from '../../src/run/run-folder.js';
import type { RelationWalkerSettings } from './settings.js';

/** Scale of each dimension; part of a trained walker. */
export interface VectorScale {
  /** float32 [dim]. */
  mean: Float32Array;
  /** float32 [dim], 1 where train vectors do not differ. */
  deviation: Float32Array;
}

/** Scaled vectors of questions; questions of one text share a row. */
export interface QuestionVectors {
  /** float32 [number of texts, dim], row-major. */
  matrix: Float32Array;
  dim: number;
  /** Row by task id. */
  rowOf: ReadonlyMap<string, number>;
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

/** Scales encoded questions. @param tasks those that were encoded, in the same order */
export function scaledVectors(
  tasks: readonly QuestionTask[],
  { matrix, rows, dim }: EncodedTexts,
  { mean, deviation }: VectorScale,
): QuestionVectors {
  const scaled = matrix.map((value, i) => (value - mean[i % dim]!) / deviation[i % dim]!);
  return { matrix: scaled, dim, rowOf: new Map(tasks.map((task, i) => [task.id, rows[i]!])) };
}

function scaleFile(runFolder: string): string {
  return join(runFiles(runFolder).embeddings, 'question-scale.safetensors');
}

/** Writes the scale into the run, atomically. */
export function writeScale(runFolder: string, { mean, deviation }: VectorScale): void {
  const tensors = new Map<string, Tensor>([
    ['mean', { shape: [mean.length], data: mean }],
    ['deviation', { shape: [deviation.length], data: deviation }],
  ]);
  writeFileAtomic(scaleFile(runFolder), encodeSafetensors({ tensors, metadata: new Map() }));
}

/** The scale of a run, or undefined where it has none yet. @throws WorkbenchError `data` for a damaged file */
export function readScale(runFolder: string): VectorScale | undefined {
  const file = scaleFile(runFolder);
  if (!existsSync(file)) return undefined;
  const { tensors } = readSafetensors(file, { own: true });
  const mean = tensors.get('mean')?.data;
  const deviation = tensors.get('deviation')?.data;
  if (mean instanceof Float32Array && deviation instanceof Float32Array && mean.length === deviation.length) {
    return { mean, deviation };
  }
  throw new WorkbenchError('data', `expected float32 mean and deviation of one length, got others, at ${file}`);
}

/** A checkpoint: named tensors and a JSON header in one safetensors file. It holds no wall clock, path or run id. */
import { z } from 'zod';
import { canonicalJson } from '../src/run/config-values.js';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import { printable } from '../src/run/printable.js';
import { isShallow } from '../src/run/read-json.js';
import { phases } from '../src/run/records.js';
import { encodeSafetensors, type ReadOptions, readSafetensors, type Tensor } from './safetensors.js';

/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
/** An object that JSON can hold. */
export type JsonObject = { [key: string]: Json };

/** Version that is written and read; others are refused. */
export const schemaVersion = 2;

const metadataKey = 'kgwalk';

const jsonObject = z.custom<JsonObject>(isObject, 'expected an object');
const count = z.number().int().nonnegative();

const checkpointHeader = z.strictObject({
  schemaVersion: z.literal(schemaVersion),
  kind: z.enum(['walker', 'embedding']),
  /** The resolved settings the tensors were trained under. */
  config: jsonObject,
  /** sha256 (hex) of the canonical config. */
  configHash: z.string(),
  /**
   * What the tensors belong to: hash of graph, vocabulary, data set and order of the slots, id of the encoder; absent where it
   * plays no part.
   */
  hashes: z.strictObject({
    graph: z.string().optional(),
    vocabulary: z.string().optional(),
    encoder: z.string().optional(),
    dataset: z.string().optional(),
    slots: z.string().optional(),
  }),
  phase: z.enum(phases),
  /** Updates done in the phase: epochs when cloning or embedding, PPO iterations. */
  step: count,
  epoch: count,
  /** Everything else needed to resume exactly: generators' states, counters, schedule, offset of the metric log. */
  trainer: jsonObject,
  /** Latest value of each metric by key, finite numbers. */
  metrics: z.record(z.string(), z.number()),
  /** Files of the run that the weights were trained with, by path: the sha256 of each. Absent at the start of a fork. */
  files: z.record(z.string(), z.string()).optional(),
});

/** Header of a checkpoint. */
export type CheckpointHeader = z.output<typeof checkpointHeader>;
/** Graph, encoder and settings that its tensors belong to. */
export type CheckpointHashes = CheckpointHeader['hashes'];

/** Header and tensors, as one file keeps them. */
export interface Checkpoint {
  header: CheckpointHeader;
  /** Weights by name, and the optimizer's state under `optimizerPrefix`. */
  tensors: Readonly<Record<string, Tensor>>;
}

/** A checkpoint that was read. */
export interface ReadCheckpoint extends Checkpoint {
  /** The sha256 that the file carries. */
  seal: string;
}

/**
 * Writes a checkpoint; a crash leaves the old file or the new one. Equal content gives equal bytes.
 * @throws {WorkbenchError} `failure` where the header holds what JSON cannot keep (NaN, typed arrays, undefined), or the disk refuses
 */
export function writeCheckpoint(file: string, { header, tensors }: Checkpoint): void {
  requireJson(header, 'header');
  const metadata = new Map([[metadataKey, canonicalJson(header)]]);
  writeFileAtomic(file, encodeSafetensors({ tensors: new Map(Object.entries(tensors)), metadata }));
}

/**
 * Reads a checkpoint. Whether it fits what it will be used with is for `checkFits` to say.
 * @throws {WorkbenchError} `data` where the file is missing, damaged, no checkpoint, or of a version this program does not know
 */
export function readCheckpoint(file: string, options: ReadOptions = {}): ReadCheckpoint {
  const { tensors, metadata, seal } = readSafetensors(file, options);
  const header = parseHeader(metadata, file);
  if (seal === undefined) {
    throw new WorkbenchError('data', `expected a checkpoint with its sha256, got one without, at ${file}`, {
      hint: 'Another program wrote it again, or it is damaged: take another copy.',
    });
  }
  // Names come from a file: without a prototype, none of them can mean anything but itself.
  const record = Object.assign(Object.create(null) as Record<string, Tensor>, Object.fromEntries(tensors));
  return { header, tensors: record, seal };
}

/** Tensors under this prefix are the optimizer's state: needed to resume training, not to answer. */
export const optimizerPrefix = 'optimizer/';

/** The checkpoint without what only training needs: a file to share. */
export function weightsOnly({ header, tensors }: Checkpoint): Checkpoint {
  const weights = Object.entries(tensors).filter(([name]) => !name.startsWith(optimizerPrefix));
  return { header: { ...header, trainer: {} }, tensors: Object.fromEntries(weights) };
}

const remedies: Record<keyof CheckpointHashes, string> = {
  graph: 'Use the data set and the graph it was trained on, or train again on this one.',
  vocabulary: 'Entities or relations have other ids here: use the data it was trained on, or train again.',
  encoder: 'Give the model file it was trained with (`--model` or `--encoder`), or train again with this one.',
  dataset: 'Import the same release of the data set, or train again on this one.',
  slots:
    'Its network knows edges by their place: use the env.edgePolicy, env.maxOut and data that it was trained with, or train again.',
};

/**
 * Refuses a checkpoint whose tensors mean something else here.
 * @param expected the hashes of what is at hand; only those given are compared
 * @param place what to call the checkpoint in the error
 * @param what the hashes are of, with its article
 * @throws {WorkbenchError} `data` with what differs and the remedy
 */
export function checkFits(
  header: Pick<CheckpointHeader, 'hashes'>,
  expected: CheckpointHashes,
  place = 'the checkpoint',
  what = 'a checkpoint',
): void {
  for (const name of Object.keys(remedies) as (keyof CheckpointHashes)[]) {
    const [want, got] = [expected[name], header.hashes[name]];
    if (want === undefined || want === got) continue;
    const message = `expected ${what} of ${name} ${want}, got one of ${got ?? 'none'}, at ${place}`;
    throw new WorkbenchError('data', message, { hint: remedies[name] });
  }
}

function parseHeader(metadata: ReadonlyMap<string, string>, file: string): CheckpointHeader {
  const text = metadata.get(metadataKey);
  let header: unknown;
  try {
    header = text === undefined ? undefined : JSON.parse(text);
  } catch {
    header = undefined;
  }
  if (!isShallow(header)) throw new WorkbenchError('data', `expected a checkpoint header, got a deep one, at ${file}`);
  if (!isObject(header)) {
    const hint = 'It holds tensors only; take a file from the checkpoints folder of a run.';
    const message = `expected a kgwalk checkpoint, got a file without its header, at ${file}`;
    throw new WorkbenchError('data', message, { hint });
  }
  if (header.schemaVersion !== schemaVersion) {
    const got = printable(JSON.stringify(header.schemaVersion ?? null), 40);
    throw new WorkbenchError('data', `expected checkpoint version ${schemaVersion}, got ${got}, at ${file}`, {
      hint: 'Read it with the version of kgwalk that wrote it, or train again.',
    });
  }
  const result = checkpointHeader.safeParse(header);
  if (result.success) return result.data;
  const got = printable(z.prettifyError(result.error).replaceAll('\n', ' '), 300);
  throw new WorkbenchError('data', `expected a checkpoint header, got ${got}, at ${file}`);
}

function requireJson(value: unknown, place: string): void {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null || Number.isFinite(value)) return;
  if (Array.isArray(value)) return value.forEach((item, i) => requireJson(item, `${place}[${i}]`));
  const tag = Object.prototype.toString.call(value);
  if (isObject(value) && tag === '[object Object]') {
    return Object.entries(value).forEach(([key, item]) => requireJson(item, `${place}.${key}`));
  }
  const got = typeof value === 'object' ? tag : String(value);
  throw new WorkbenchError('failure', `expected what JSON keeps exactly, got ${got}, at checkpoint ${place}`);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

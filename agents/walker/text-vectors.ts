/** Asks the encoder, once, for every text that a walker reads: names of the graph and messages of the dialogues. */
import type { WalkTask } from '../../datasets/walk-sample.js';
import type { EncoderSettings } from '../../src/encoder/settings.js';
import type { EncodedTexts, StateEncoder } from '../../src/encoder/state-encoder.js';
import type { Graph } from '../../src/kg/graph.js';
import { silentProgress, type ProgressReporter } from '../../src/run/progress.js';
import type { FrozenVectors } from './features/dialogue-scratch.js';
import { entityTexts, lastMessageText, relationTexts, windowText } from './features/dialogue-texts.js';
import type { TaskVectors } from './features/featurizer.js';

type TextSettings = Pick<EncoderSettings, 'lastMessageTokens' | 'windowTokens' | 'windowMessages' | 'nameTokens'>;

/** How much of each text is read, who is told how far it is, and what stops it. */
export interface EncodeWalkOptions {
  settings: TextSettings;
  progress?: ProgressReporter;
  signal?: AbortSignal | undefined;
}

/** Vectors of all names of a graph. */
export async function encodeGraph(
  encoder: StateEncoder,
  graph: Graph,
  options: EncodeWalkOptions,
): Promise<FrozenVectors> {
  const { nameTokens } = options.settings;
  const entities = await encodeWith(encoder, 'encode entities', entityTexts(graph), nameTokens, options);
  const relations = await encodeWith(encoder, 'encode relations', relationTexts(graph), nameTokens, options);
  return { dim: encoder.dim, entities: expand(entities), relations: expand(relations) };
}

/** Vectors of the texts of some tasks: two a turn, whatever the walk does. */
export async function encodeTasks(
  encoder: StateEncoder,
  tasks: readonly WalkTask[],
  options: EncodeWalkOptions,
): Promise<TaskVectors> {
  const { lastMessageTokens, windowTokens, windowMessages } = options.settings;
  const last = await encodeWith(encoder, 'encode messages', tasks.map(lastMessageText), lastMessageTokens, options);
  const windows = tasks.map((task) => windowText(task, windowMessages));
  const window = await encodeWith(encoder, 'encode dialogues', windows, windowTokens, options);
  return { last, window, rowOf: new Map(tasks.map((task, i) => [task.id, i])) };
}

async function encodeWith(
  encoder: StateEncoder,
  label: string,
  texts: readonly string[],
  maxTokens: number,
  { progress = silentProgress, signal }: EncodeWalkOptions,
): Promise<EncodedTexts> {
  const line = progress(label, new Set(texts).size, 'texts');
  const started = performance.now();
  const encoded = await encoder.encode(texts, {
    maxTokens,
    ...(signal && { signal }),
    onProgress: (done, _total, tokens) =>
      line.update(done, `${((tokens * 1000) / (performance.now() - started + 1)).toFixed(0)} tokens/s`),
  });
  line.finish();
  return encoded;
}

/** One row for every asked text, duplicates included. */
function expand({ matrix, rows, dim }: EncodedTexts): Float32Array {
  const table = new Float32Array(rows.length * dim);
  rows.forEach((row, i) => table.set(matrix.subarray(row * dim, (row + 1) * dim), i * dim));
  return table;
}

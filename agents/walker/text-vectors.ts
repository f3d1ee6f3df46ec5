/** Asks the encoder, once, for every text that a walker reads: names of the graph and messages of the dialogues. */
import type { WalkTask } from '../../datasets/walk-sample.js';
import type { EncoderSettings } from '../../src/encoder/settings.js';
import { encodeWithProgress } from '../../src/encoder/open-encoder.js';
import type { EncodedTexts, EncodeOptions, StateEncoder } from '../../src/encoder/state-encoder.js';
import type { Graph } from '../../src/kg/graph.js';
import type { ProgressReporter } from '../../src/run/progress.js';
import type { FrozenVectors } from './features/dialogue-scratch.js';
import { entityTexts, lastMessageText, relationTexts, windowText } from './features/dialogue-texts.js';
import type { TaskVectors } from './features/featurizer.js';
import { readsTables } from './frozen-tables.js';
import type { WalkerSettings } from './settings.js';

type TextSettings = Pick<EncoderSettings, 'lastMessageTokens' | 'windowTokens' | 'windowMessages' | 'nameTokens'>;

/** How much of each text is read, who is told how far it is, and what stops it. */
export interface EncodeWalkOptions extends Pick<EncodeOptions, 'lanes'> {
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
  const { settings, ...rest } = options;
  const shown = { ...rest, maxTokens: settings.nameTokens };
  const entities = await encodeWithProgress(encoder, entityTexts(graph), { ...shown, label: 'encode entities' });
  const relations = await encodeWithProgress(encoder, relationTexts(graph), { ...shown, label: 'encode relations' });
  return { dim: encoder.dim, entities: expand(entities), relations: expand(relations) };
}

/** As far as a walker reads them: where no name enters its network, none is encoded and the tables are empty. */
export async function encodeNames(
  encoder: StateEncoder,
  graph: Graph,
  walker: WalkerSettings,
  options: EncodeWalkOptions,
): Promise<FrozenVectors> {
  if (readsNames(walker)) return encodeGraph(encoder, graph, options);
  return { dim: encoder.dim, entities: new Float32Array(0), relations: new Float32Array(0) };
}

/** Whether names of the graph enter the network, as vectors or as features of edges. */
export function readsNames(walker: WalkerSettings): boolean {
  if (walker.head === 'candidate' && walker.edgeFeatures) return true;
  return readsTables(walker) && (walker.entityVectors.includes('name') || walker.relationVectors === 'name');
}

/** Vectors of the texts of some tasks: two a turn, whatever the walk does. */
export async function encodeTasks(
  encoder: StateEncoder,
  tasks: readonly WalkTask[],
  options: EncodeWalkOptions,
): Promise<TaskVectors> {
  const { settings, ...rest } = options;
  const { lastMessageTokens, windowTokens, windowMessages } = settings;
  const last = await encodeWithProgress(encoder, tasks.map(lastMessageText), {
    ...rest,
    label: 'encode messages',
    maxTokens: lastMessageTokens,
  });
  const windows = tasks.map((task) => windowText(task, windowMessages));
  const window = await encodeWithProgress(encoder, windows, {
    ...rest,
    label: 'encode dialogues',
    maxTokens: windowTokens,
  });
  return { last, window, rowOf: new Map(tasks.map((task, i) => [task.id, i])) };
}

/** One row for every asked text, duplicates included. */
function expand({ matrix, rows, dim }: EncodedTexts): Float32Array {
  const table = new Float32Array(rows.length * dim);
  rows.forEach((row, i) => table.set(matrix.subarray(row * dim, (row + 1) * dim), i * dim));
  return table;
}

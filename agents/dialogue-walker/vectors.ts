/**
 * The frozen vectors that a walker starts from: text vectors of names and messages, each asked of the encoder once, and the
 * tables of entities and relations that are made of them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FrozenTables } from './heads/head.js';
import { encodeSafetensors, readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { encodeWithProgress } from '../../src/encoder/open-encoder.js';
import type { EncoderSettings } from '../../src/encoder/settings.js';
import type { EncodedTexts, EncodeOptions, StateEncoder } from '../../src/encoder/state-encoder.js';
import { type Graph, inversePrefix } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import type { ProgressReporter } from '../../src/run/progress.js';
import { madeFrom } from '../../src/run/provenance.js';
import { runFiles } from '../../src/run/run-files.js';
import { principalComponents, scaledToMeanNorm } from '../../src/nn/principal-components.js';
import type { FrozenVectors } from './features/dialogue-scratch.js';
import type { TaskVectors } from './features/featurizer.js';
import { messagesBefore } from './features/pair-features.js';
import type { WalkerSettings } from './settings.js';

/** True where a network reads frozen vectors: in its states, or of edges. */
export function readsTables({ entityInit, pathAware, placeVectors }: WalkerSettings): boolean {
  return entityInit === 'frozen' && (pathAware || placeVectors);
}

/** Vectors of no width: of a network that reads none. */
export const noTables: FrozenTables = {
  entities: new Float32Array(0),
  entityDim: 0,
  relations: new Float32Array(0),
  relationDim: 0,
};

/** Composes the tables that the settings name. @param texts unit vectors of names @param transe where a setting asks for it */
export async function frozenTables(
  graph: Graph,
  texts: FrozenVectors,
  transe: FrozenVectors | undefined,
  settings: WalkerSettings,
): Promise<FrozenTables> {
  const needTranse = () => {
    if (transe) return transe;
    throw new WorkbenchError(
      'config',
      'expected TransE embeddings for walker.entityVectors or walker.relationVectors, got none',
      { hint: 'Set transe.enabled=true, or leave `transe` out of the walker.' },
    );
  };
  const partOf = (part: WalkerSettings['entityVectors'][number]) => {
    if (part !== 'transe') madeFrom('normaliser', `principal components (${part})`, { entities: graph.numEntities });
    if (part === 'name') {
      const rows = (begin: number, end: number) => texts.entities.subarray(begin * texts.dim, end * texts.dim);
      return principalComponents(rows, graph.numEntities, texts.dim, settings.componentDim);
    }
    if (part === 'transe')
      return { rows: scaledToMeanNorm(needTranse().entities, needTranse().dim), dim: needTranse().dim };
    const signatures = (begin: number, end: number) => relationSignatures(graph, begin, end);
    return principalComponents(signatures, graph.numEntities, graph.numRelations, settings.componentDim);
  };
  const parts: { rows: Float32Array; dim: number }[] = [];
  for (const part of settings.entityVectors) parts.push(await partOf(part));
  const fromTranse = settings.relationVectors === 'transe';
  return {
    entities: concatenate(graph.numEntities, parts),
    entityDim: parts.reduce((sum, part) => sum + part.dim, 0),
    relations: fromTranse ? scaledToMeanNorm(needTranse().relations, needTranse().dim) : texts.relations,
    relationDim: fromTranse ? needTranse().dim : texts.dim,
  };
}

/** ln(1 + edges of each relation) at entities `begin .. end - 1`, float32 [end - begin, numRelations]: what kind of thing each is. */
function relationSignatures(graph: Graph, begin: number, end: number): Float32Array {
  const signatures = new Float32Array((end - begin) * graph.numRelations);
  for (let entity = begin; entity < end; entity++) {
    const row = (entity - begin) * graph.numRelations;
    for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
      signatures[row + graph.relations[edge]!]!++;
    }
  }
  return signatures.map((count) => (count === 0 ? 0 : Math.log1p(count)));
}

function concatenate(numRows: number, parts: { rows: Float32Array; dim: number }[]): Float32Array {
  const width = parts.reduce((sum, part) => sum + part.dim, 0);
  const table = new Float32Array(numRows * width);
  let column = 0;
  for (const { rows, dim } of parts) {
    for (let r = 0; r < numRows; r++) table.set(rows.subarray(r * dim, (r + 1) * dim), r * width + column);
    column += dim;
  }
  return table;
}

const tablesFile = (runFolder: string): string => join(runFiles(runFolder).embeddings, 'walker-tables.safetensors');

/** Writes the tables into the run, atomically; nothing for tables of no width, which no network reads. */
export function writeTables(runFolder: string, { entities, entityDim, relations, relationDim }: FrozenTables): void {
  if (entityDim + relationDim === 0) return;
  const tensors = new Map<string, Tensor>([
    ['entities', { shape: [entities.length / entityDim, entityDim], data: entities }],
    ['relations', { shape: [relations.length / relationDim, relationDim], data: relations }],
  ]);
  writeFileAtomic(tablesFile(runFolder), encodeSafetensors({ tensors, metadata: new Map() }));
}

/** The tables of a run, or undefined where it has none yet. @throws WorkbenchError `data` for a damaged file */
export function readTables(runFolder: string): FrozenTables | undefined {
  const file = tablesFile(runFolder);
  if (!existsSync(file)) return undefined;
  const { tensors } = readSafetensors(file, { own: true });
  const table = (name: string) => {
    const tensor = tensors.get(name);
    if (tensor?.data instanceof Float32Array && tensor.shape.length === 2) {
      return { data: tensor.data, dim: tensor.shape[1]! };
    }
    throw new WorkbenchError('data', `expected a float32 table ${name}, got none, at ${file}`, {
      hint: 'The file is damaged; once it is deleted, tables that need no TransE are made again.',
    });
  };
  const entities = table('entities');
  const relations = table('relations');
  return { entities: entities.data, entityDim: entities.dim, relations: relations.data, relationDim: relations.dim };
}

type TextSettings = Pick<EncoderSettings, 'lastMessageTokens' | 'windowTokens' | 'windowMessages' | 'nameTokens'>;

/** Options of name encoding. */
export interface EncodeNameOptions extends Pick<EncodeOptions, 'lanes'> {
  settings: Pick<TextSettings, 'nameTokens'>;
  progress?: ProgressReporter;
  signal?: AbortSignal | undefined;
}

interface EncodeWalkOptions extends EncodeNameOptions {
  settings: TextSettings;
}

/** True where messages before the last are encoded one by one. */
const readsEarlier = (walker: WalkerSettings): boolean => readsEdgeFeatures(walker) && walker.pairFeatures !== 'none';

/** The message that was said so many before the last; empty where there is none. */
const earlierText = (task: WalkTask, before: number): string => task.messages.at(-1 - before)?.text.trim() ?? '';

export async function encodeGraph(
  encoder: StateEncoder,
  graph: Graph,
  options: EncodeWalkOptions,
): Promise<FrozenVectors> {
  const entities = await encodeNameRows(encoder, entityTexts(graph), 'encode entities', options);
  const relations = await encodeNameRows(encoder, relationTexts(graph), 'encode relations', options);
  return { dim: encoder.dim, entities, relations };
}

/** A vector for each name, duplicates included: float32 [names, dim]. @param label of the line of progress */
export async function encodeNameRows(
  encoder: StateEncoder,
  names: readonly string[],
  label: string,
  { settings, ...shown }: EncodeNameOptions,
): Promise<Float32Array> {
  return expand(await encodeWithProgress(encoder, names, { ...shown, maxTokens: settings.nameTokens, label }));
}

/** Encodes names that the walker reads; tables are empty where none enters its network. */
export async function encodeNames(
  encoder: StateEncoder,
  graph: Graph,
  walker: WalkerSettings,
  options: EncodeWalkOptions,
): Promise<FrozenVectors> {
  if (readsNames(walker)) return encodeGraph(encoder, graph, options);
  return { dim: encoder.dim, entities: new Float32Array(0), relations: new Float32Array(0) };
}

/** True where the network reads edge features: every head but LLM-ARK's can. */
export const readsEdgeFeatures = ({ head, edgeFeatures }: WalkerSettings): boolean => head !== 'pa-mlp' && edgeFeatures;

/** True where names of the graph enter the network, as vectors or edge features. */
export function readsNames(walker: WalkerSettings): boolean {
  if (readsEdgeFeatures(walker)) return true;
  return readsTables(walker) && (walker.entityVectors.includes('name') || walker.relationVectors === 'name');
}

/** Vectors of the texts of some tasks: two per turn, or four by the settings of a walker; independent of the walk. */
export async function encodeTasks(
  encoder: StateEncoder,
  tasks: readonly WalkTask[],
  options: EncodeWalkOptions & { walker?: WalkerSettings },
): Promise<TaskVectors> {
  const { settings, walker, ...shown } = options;
  const { lastMessageTokens, windowTokens, windowMessages } = settings;
  const encode = (label: string, maxTokens: number, textOf: (task: WalkTask) => string) => {
    const texts = tasks.map((task) => textOf(task));
    return encodeWithProgress(encoder, texts, { ...shown, label, maxTokens });
  };
  const last = await encode('encode messages', lastMessageTokens, lastMessageText);
  const window = await encode('encode dialogues', windowTokens, (task) => windowText(task, windowMessages));
  const before: EncodedTexts[] = [];
  for (let back = 1; back <= messagesBefore && walker && readsEarlier(walker); back++) {
    before.push(await encode('encode earlier messages', lastMessageTokens, (task) => earlierText(task, back)));
  }
  const rowOf = new Map(tasks.map((task, i) => [task.id, i]));
  return { last, window, before: before.length > 0 ? before : undefined, rowOf };
}

/** One row for every asked text, duplicates included. */
function expand({ matrix, rows, dim }: EncodedTexts): Float32Array {
  const table = new Float32Array(rows.length * dim);
  rows.forEach((row, i) => table.set(matrix.subarray(row * dim, (row + 1) * dim), i * dim));
  return table;
}

/** Last message; empty before the first. */
export const lastMessageText = (task: WalkTask): string => earlierText(task, 0);

/** The last few messages, oldest first. */
export function windowText(task: WalkTask, numMessages: number): string {
  return task.messages
    .slice(-numMessages)
    .map((message) => message.text.trim())
    .join('\n')
    .trim();
}

/** Encoder inputs of entities. */
export const entityTexts = (graph: Graph): string[] => [...graph.entityNames];

/** Encoder inputs of relations: words instead of identifiers, `~r` as the inverse of `r`. */
export function relationTexts(graph: Graph): string[] {
  return graph.relationNames.map((name) => {
    const words = name.replace(/[_\-./]+/g, ' ').trim();
    return name.startsWith(inversePrefix) ? `inverse of ${words.slice(inversePrefix.length)}` : words;
  });
}

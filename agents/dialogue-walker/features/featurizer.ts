/** Turns walk states into the batches that networks read. */
import type { WalkTask } from '../../../datasets/walk-sample.js';
import { numActions, type WalkRules, type WalkState } from '../../../envs/dialogue-walk/rules.js';
import { type Graph, unknownId } from '../../../src/kg/graph.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import type { EncodedTexts } from '../../../src/encoder/state-encoder.js';
import { allocateBatch, scalarNames, type StateBatch } from '../heads/head.js';
import { DialogueScratch, type FrozenVectors, NameIndex } from './dialogue-scratch.js';
import { type PairFeatures, pairFeatureNames } from './pair-features.js';
import type { WordReader } from '../words/said-words.js';
import {
  edgeFeatureNames,
  type EdgeFeatureSources,
  edgeStatistics,
  type WalkCounts,
  writeEdgeFeatures,
} from './edge-features.js';

/** A state of one task, with its legal actions or a chosen few of them. */
export interface StateRequest {
  task: WalkTask;
  state: WalkState;
  /** Ascending indices of legal actions to list; default all. Only cloning samples; it corrects for it. */
  actions?: Int32Array;
  /** float32 [actions]: ln of how many legal actions each listed one stands for; default 0. */
  logWeights?: Float32Array;
  /** float32 [dim]: vector of the state's full text, where states are read one by one (`StateReader`). */
  vector?: Float32Array;
  /** True where the same state is requested again, so that the features of its edges are cached. Default false. */
  recurs?: boolean;
}

/** Vectors of the dialogues' texts by task id. */
export interface TaskVectors {
  last: EncodedTexts;
  window: EncodedTexts;
  /** Vectors of the message before the last, then of the one before that; absent where no network reads them. */
  before?: readonly EncodedTexts[];
  rowOf: ReadonlyMap<string, number>;
}

/** Inputs of a featurizer. */
export interface FeaturizerParts {
  graph: Graph;
  rules: WalkRules;
  vectors: FrozenVectors;
  /** Train counts, or absent for a head that does not use them. */
  counts?: WalkCounts;
  edgeFeatures: boolean;
  /** Additional features; absent for a network without them. */
  pairs?: PairFeatures;
  /** True: each request has the vector of its state's text. False: all states of a task share the dialogue's texts. */
  perStep?: boolean;
  words?: WordReader;
  /** Adds the scalar `is linked` to states, for runs that are cloned on linked turns. */
  linkedTurns?: boolean;
  /** Bytes that features of states that recur may take; default 0: none are kept. */
  featureBytes?: number;
}

/** Width of a state's text: one vector of all of it, or those of the last message and of the window. */
export const contextDimOf = (dim: number, perStep: boolean): number => (perStep ? dim : 2 * dim);

/** Builds batches; requests of one task should stand side by side, since a dialogue is read once for all of them. */
export class Featurizer {
  /** Vectors of the tasks that batches are asked for; set them first. */
  texts: TaskVectors | undefined;
  readonly contextDim: number;
  readonly numScalars: number;
  readonly numEdgeFeatures: number;
  readonly #sources: EdgeFeatureSources;
  #kept: { texts: TaskVectors | undefined; rows: RowCache } | undefined;

  /** @param sources of a featurizer of the same parts; default: made now */
  constructor(
    readonly parts: FeaturizerParts,
    sources?: EdgeFeatureSources,
  ) {
    const { graph, vectors, counts } = parts;
    this.contextDim = contextDimOf(vectors.dim, parts.perStep === true);
    this.numScalars = scalarNames(parts.linkedTurns).length;
    this.numEdgeFeatures = parts.edgeFeatures
      ? edgeFeatureNames.length + (parts.pairs ? pairFeatureNames.length : 0)
      : 0;
    this.#sources = sources ?? {
      graph,
      counts,
      scratch: new DialogueScratch(graph, new NameIndex(graph), vectors),
      statistics: edgeStatistics(graph),
    };
  }

  /** A featurizer over the texts of other tasks, so that concurrent callers do not share state. */
  over(texts: TaskVectors): Featurizer {
    const other = new Featurizer(this.parts, this.#sources);
    other.texts = texts;
    return other;
  }

  batch(requests: readonly StateRequest[]): StateBatch {
    const { graph, rules } = this.parts;
    const counts = requests.map(({ state, actions }) => actions?.length ?? numActions(graph, state, rules));
    const total = counts.reduce((sum, count) => sum + count, 0);
    const { contextDim, numScalars, numEdgeFeatures } = this;
    const batch = allocateBatch(requests.length, total, {
      contextDim,
      numScalars,
      numEdgeFeatures,
      horizon: rules.horizon,
    });
    for (let s = 0; s < requests.length; s++) batch.offsets[s + 1] = batch.offsets[s]! + counts[s]!;
    if (requests.some(({ logWeights }) => logWeights)) {
      batch.logWeights = new Float32Array(total);
      requests.forEach(({ logWeights }, s) => logWeights && batch.logWeights!.set(logWeights, batch.offsets[s]));
    }
    for (let begin = 0, end = 0; begin < requests.length; begin = end) {
      const { task } = requests[begin]!;
      while (end < requests.length && requests[end]!.task === task) end++;
      this.#writeTask(batch, requests, begin, end, task);
    }
    const { words } = this.parts;
    return words ? { ...batch, words: words.of(requests.map(({ task }) => task)) } : batch;
  }

  #writeTask(batch: StateBatch, requests: readonly StateRequest[], begin: number, end: number, task: WalkTask): void {
    const { vectors, counts, pairs, perStep } = this.parts;
    for (let s = begin; s < end; s++) {
      this.#writeState(batch, s, requests[s]!);
      this.#writeActions(batch, s, requests[s]!);
    }
    if (perStep) {
      for (let s = begin; s < end; s++) batch.context.set(stateVector(requests[s]!), s * this.contextDim);
      for (let s = begin; s < end; s++) this.#writeFeatures(batch, s, requests[s]!);
      return;
    }
    const last = this.#vectorOf(this.texts?.last, task);
    const window = this.#vectorOf(this.texts?.window, task);
    for (let s = begin; s < end; s++) {
      batch.context.set(last, s * this.contextDim);
      batch.context.set(window, s * this.contextDim + vectors.dim);
    }
    const missing: number[] = [];
    for (let s = begin; s < end; s++) if (!this.#copyKept(batch, s, requests[s]!)) missing.push(s);
    if (this.numEdgeFeatures === 0 || missing.length === 0) return;
    const write = () => missing.forEach((s) => this.#writeFeatures(batch, s, requests[s]!));
    this.#sources.scratch.open(task, last, window);
    pairs?.open(window, this.#vectorsBefore(task));
    const withPairs = pairs ? () => pairs.without(task.dialogueId, write) : write;
    if (counts) counts.without(task.dialogueId, withPairs);
    else withPairs();
  }

  /** Vectors of the messages before the last, as many as there are. */
  #vectorsBefore(task: WalkTask): Float32Array[] {
    const texts = this.texts?.before ?? [];
    return texts.slice(0, Math.max(0, task.messages.length - 1)).map((encoded) => this.#vectorOf(encoded, task));
  }

  #vectorOf(texts: EncodedTexts | undefined, task: WalkTask): Float32Array {
    const place = this.texts?.rowOf.get(task.id);
    if (place === undefined) {
      throw new WorkbenchError('failure', `expected encoded texts of task ${task.id}, got none, at Featurizer.batch`);
    }
    const { matrix, rows, dim } = texts!;
    const row = rows[place]!;
    return matrix.subarray(row * dim, (row + 1) * dim);
  }

  #writeState(batch: StateBatch, s: number, { task, state }: StateRequest): void {
    const none = this.parts.graph.numRelations + 1;
    const lastPath = task.earlierPaths.at(-1);
    const lastPathRelation = lastPath?.at(-1)?.[1] ?? -1;
    batch.start[s] = state.start;
    batch.current[s] = state.current;
    batch.lastRelation[s] = state.path.at(-1)?.[1] ?? none;
    batch.previousPathRelation[s] = lastPathRelation < 0 ? none : lastPathRelation;
    const { horizon } = this.parts.rules;
    const earlier = lastPath?.slice(-horizon) ?? [];
    for (let step = 0; step < horizon; step++) {
      const [, relation, tail] = earlier[step] ?? [-1, -1, -1];
      // Of what the graph lacks nothing is known.
      const known = relation >= 0 && tail >= 0;
      batch.earlierRelations[s * horizon + step] = known ? relation : none;
      batch.earlierTails[s * horizon + step] = known ? tail : state.start;
    }
    const steps = horizon - 1;
    for (let step = 0; step < steps; step++) {
      const [, relation, tail] = state.path[step] ?? [-1, none, state.start];
      batch.walkedRelations[s * steps + step] = relation;
      batch.walkedTails[s * steps + step] = tail;
    }
    batch.scalars.set(
      [
        state.hop,
        Number(task.sender === 'assistant'),
        Number(lastPath !== undefined),
        Number((lastPath?.length ?? 0) > 1),
        Number(lastPath?.at(-1)?.[2] === state.start),
        task.messages.length / 8,
        ...(this.parts.linkedTurns ? [Number(task.linked ?? false)] : []),
      ],
      s * this.numScalars,
    );
  }

  #writeActions(batch: StateBatch, s: number, { state, actions }: StateRequest): void {
    const { graph } = this.parts;
    const begin = batch.offsets[s]!;
    const end = batch.offsets[s + 1]!;
    const listed = actions ?? firstIntegers(end - begin);
    const degree = graph.degree(state.current);
    const base = degree === 0 ? 0 : graph.offsets[state.current]!;
    for (let i = begin; i < end; i++) {
      const action = listed[i - begin]!;
      batch.stateOf[i] = s;
      batch.actions[i] = action;
      batch.relations[i] = action < degree ? graph.relations[base + action]! : graph.equalRelation;
      batch.tails[i] = action < degree ? graph.tails[base + action]! : state.current;
    }
  }

  /** Writes features of the listed actions; computes and caches those of all actions where the state recurs and the cache has room. */
  #writeFeatures(batch: StateBatch, s: number, request: StateRequest): void {
    const stride = this.numEdgeFeatures;
    if (stride === 0) return;
    const { task, state, recurs } = request;
    const write = (actions: Int32Array, out: Float32Array, at: number) => {
      writeEdgeFeatures(this.#sources, task, state, actions, out, at, stride);
      this.parts.pairs?.write(task, state, actions, out, at + edgeFeatureNames.length, stride);
    };
    if (recurs && !this.parts.perStep && state.current !== unknownId) {
      const all = this.parts.graph.degree(state.current) + 1;
      const rows = this.#rows().room(task, state, all * stride);
      if (rows) {
        write(firstIntegers(all), rows, 0);
        this.#copyKept(batch, s, request);
        return;
      }
    }
    write(
      batch.actions.subarray(batch.offsets[s], batch.offsets[s + 1]),
      batch.edgeFeatures,
      batch.offsets[s]! * stride,
    );
  }

  /** @returns whether there were any */
  #copyKept(batch: StateBatch, s: number, { task, state, recurs }: StateRequest): boolean {
    const rows = recurs ? this.#rows().of(task, state) : undefined;
    if (!rows) return false;
    const stride = this.numEdgeFeatures;
    const listed = batch.actions.subarray(batch.offsets[s], batch.offsets[s + 1]);
    copyRows(rows, listed, stride, batch.edgeFeatures, batch.offsets[s]! * stride);
    return true;
  }

  /** Cache of the current texts; rows of other texts are dropped. */
  #rows(): RowCache {
    if (this.#kept?.texts !== this.texts || !this.#kept) {
      this.#kept = { texts: this.texts, rows: new RowCache(this.parts.featureBytes ?? 0) };
    }
    return this.#kept.rows;
  }
}

function stateVector({ task, vector }: StateRequest): Float32Array {
  if (vector) return vector;
  throw new WorkbenchError('failure', `expected an encoded state of task ${task.id}, got none, at Featurizer.batch`);
}

/** Rows of edge features by state, such as those of gold walks, which recur in every epoch. Rows that do not fit are computed again. */
class RowCache {
  readonly #kept = new WeakMap<WalkState, { task: WalkTask; rows: Float32Array }>();
  #bytesLeft: number;

  /** @param bytes memory limit of all rows; nothing is evicted */
  constructor(bytes: number) {
    this.#bytesLeft = bytes;
  }

  /** float32: what was kept of a state in a task. */
  of(task: WalkTask, state: WalkState): Float32Array | undefined {
    const kept = this.#kept.get(state);
    return kept?.task === task ? kept.rows : undefined;
  }

  /** Zeros to be filled with what to keep of a state; undefined where they would be too much. */
  room(task: WalkTask, state: WalkState, length: number): Float32Array | undefined {
    const bytes = 4 * length;
    if (bytes > this.#bytesLeft) return undefined;
    this.#bytesLeft -= bytes;
    const rows = new Float32Array(length);
    this.#kept.set(state, { task, rows });
    return rows;
  }
}

/** Rows of some actions out of those of all, from a place of `out` on. */
function copyRows(rows: Float32Array, actions: Int32Array, width: number, out: Float32Array, at: number): void {
  for (let i = 0; i < actions.length; i++) {
    const from = actions[i]! * width;
    for (let j = 0; j < width; j++) out[at++] = rows[from + j]!;
  }
}

let integers = Int32Array.from({ length: 1024 }, (_, i) => i);

/** 0 .. count − 1, as a view of one array that grows as hubs come. */
function firstIntegers(count: number): Int32Array {
  if (count > integers.length) integers = Int32Array.from({ length: 2 * count }, (_, i) => i);
  return integers.subarray(0, count);
}

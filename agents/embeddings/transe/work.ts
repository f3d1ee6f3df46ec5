/** Data and state of TransE training in arrays that threads can share, and the draws of its epochs. */
import type { EmbeddingTable } from '../../../src/embedding/transe.js';
import type { TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { createBarrierMemory } from '../../../src/run/worker-pool.js';
import { Arena } from '../../../src/nn/simd/arena.js';
import { type Kernels, openKernels, type WasmMemory } from '../../../src/nn/simd/kernels.js';
import type { TableState } from '../epochs.js';
import type { TransESettings } from './settings.js';
import { createTripleSet, tailCorruptionChance, type TripleSet } from './triples.js';

/** Training state; squared gradients are per row. */
export type TransEState = TableState<EmbeddingTable, Float64Array>;

/** Initial weights, uniform in ±(margin + 2) / dim: distances begin near the margin, where the loss has its gradient. */
export function createTransE(
  of: Pick<EmbeddingTable, 'numEntities' | 'numRelations'> & {
    settings: Pick<TransESettings, 'dim' | 'norm' | 'margin'>;
    seed: number;
  },
): TransEState {
  const { numEntities, numRelations, seed } = of;
  const { dim, norm, margin } = of.settings;
  const rng = Rng.named(seed, 'transe/init');
  const span = (margin + 2) / dim;
  const uniform = (rows: number) => Float32Array.from({ length: rows * dim }, () => (2 * rng.uniform() - 1) * span);
  const rows = { entities: uniform(numEntities), relations: uniform(numRelations) };
  return {
    epoch: 0,
    table: { model: 'transe', norm, dim, numEntities, numRelations, ...rows },
    entitySquares: new Float64Array(numEntities),
    relationSquares: new Float64Array(numRelations),
    best: undefined,
    checksWithoutGain: 0,
  };
}

/**
 * Positives between two recorded losses, whose logarithms would cost as much as the rest of a step; batches of one
 * triple are trained in blocks of this size.
 */
export const lossEvery = 32;

/** Arrays of a training run, before they are laid out in shared memory. */
interface TransEArrays {
  settings: TransESettings;
  seed: number;
  /** Changed in place. */
  state: TransEState;
  train: TripleColumns;
  trainSet: TripleSet;
  /** float64 [numRelations]: probability of corrupting the tail, else the head. */
  tailChance: Float64Array;
  /** int32: order of the positives in the current epoch. */
  order: Int32Array;
  /** float64: losses of every `lossEvery`-th positive of the epoch. */
  losses: Float64Array;
  barrier: Int32Array;
  /** int32 [1]: number of positives done in the epoch. */
  done: Int32Array;
  /** Validation triples. */
  valid:
    | {
        triples: TripleColumns;
        /** All triples known to be true. */
        known: readonly TripleColumns[];
        /** float64 [2 * number of triples] */
        ranks: Float64Array;
      }
    | undefined;
}

/** All arrays of a training run, in the memory of the SIMD kernels, with the kernels' buffers. */
export interface TransEWork extends TransEArrays {
  memory: WasmMemory;
  /** float32 [positions of a batch or a block, any]: draws and moves of each positive. */
  places: Float32Array;
  /** int32 [positions, 4]: generator state of each position. */
  streams: Int32Array;
  /** int32, one per thread. */
  scratch: Int32Array[];
}

/** Index of a thread, and their number. */
export type Share = { thread: number; threads: number };

/** Copies the arrays into memory shared by threads. @throws WorkbenchError `native` without WebAssembly SIMD */
export function createWork(
  {
    settings,
    seed,
    state,
    train,
    valid,
    known = [],
  }: Pick<TransEArrays, 'settings' | 'seed' | 'state' | 'train'> & {
    valid?: TripleColumns | undefined;
    /** Further true triples, filtered from validation ranks like those of train and valid. */
    known?: readonly TripleColumns[];
  },
  threads: number,
): TransEWork {
  const count = train.heads.length;
  const { numRelations } = state.table;
  const arrays: TransEArrays = {
    settings,
    seed,
    state,
    train,
    trainSet: createTripleSet(train),
    tailChance: settings.bernoulli
      ? tailCorruptionChance(train, numRelations)
      : new Float64Array(numRelations).fill(0.5),
    order: new Int32Array(count),
    losses: new Float64Array(Math.ceil(count / lossEvery)),
    barrier: createBarrierMemory(),
    done: new Int32Array(1),
    valid:
      valid && valid.heads.length > 0
        ? { triples: valid, known: [train, valid, ...known], ranks: new Float64Array(valid.heads.length * 2) }
        : undefined,
  };
  const arena = new Arena();
  const held = arena.hold(arrays);
  const kernels = openKernels(arena.memory);
  describe(kernels, held);
  const places = Math.max(lossEvery, Math.min(settings.batchSize, count));
  return {
    ...held,
    memory: arena.memory,
    places: arena.float32((places * kernels.transePlaceBytes()) / 4),
    streams: arena.int32(places * 4),
    scratch: Array.from({ length: threads }, () => arena.int32(kernels.transeScratchBytes() / 4)),
  };
}

export function openTransEKernels(work: TransEWork, thread: number): Kernels {
  const { memory, places, streams, scratch } = work;
  const kernels = openKernels(memory);
  describe(kernels, work);
  kernels.transeRoom(places.byteOffset, streams.byteOffset, scratch[thread]!.byteOffset);
  return kernels;
}

function describe(kernels: Kernels, { state, settings, train, trainSet, tailChance }: TransEArrays): void {
  const { table, entitySquares, relationSquares } = state;
  const { entities, relations, numEntities, dim } = table;
  const at = (array: ArrayBufferView) => array.byteOffset;
  kernels.transeTable(at(entities), at(relations), at(entitySquares), at(relationSquares), numEntities, dim);
  const { slots, filter } = trainSet;
  const { heads, relations: of, tails } = train;
  const sets = [at(slots), slots.length, at(filter), filter.length] as const;
  kernels.transeTriples(at(heads), at(of), at(tails), ...sets, at(tailChance));
  const { norm, loss, margin, temperature, negativeCutoff, optimizer, negatives } = settings;
  const [hinge, adagrad] = [Number(loss === 'margin'), Number(optimizer === 'adagrad')];
  kernels.transeSettings(norm, hinge, margin, temperature, negativeCutoff, adagrad, negatives);
}

/** Shuffles the positives into the order of the epoch after the state's. */
export function orderEpoch({ order, seed, state }: TransEWork): void {
  order.forEach((_, i) => (order[i] = i));
  Rng.named(seed, 'transe/shuffle', state.epoch).shuffle(order);
}

/** Generator of the sides and negatives at a position of every batch of an epoch. */
export function placeStream({ seed }: TransEWork, epoch: number, index: number): Rng {
  return Rng.named(seed, 'transe/negatives', epoch, ...(index === 0 ? [] : [index]));
}

/** All that training TransE looks at and changes, in arrays that threads can share, and the draws of its epochs. */
import type { EmbeddingTable } from '../../src/embedding/transe.js';
import type { TripleColumns } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import { createBarrierMemory } from '../../src/run/shared-memory.js';
import { Arena } from '../../src/simd/arena.js';
import { type Kernels, openKernels, type WasmMemory } from '../../src/simd/kernels.js';
import type { TableState } from '../embeddings/epochs.js';
import type { TransESettings } from './settings.js';
import { createTripleSet, tailCorruptionChance, type TripleSet } from './triples.js';

/** Training state; its squares are per row. */
export type TransEState = TableState<EmbeddingTable, Float64Array>;

/** Fresh weights, uniform in ±(margin + 2) / dim: distances begin near the margin, where the loss has its gradient. */
export function createTransE({
  numEntities,
  numRelations,
  settings,
  seed,
}: {
  numEntities: number;
  numRelations: number;
  settings: Pick<TransESettings, 'dim' | 'norm' | 'margin'>;
  seed: number;
}): TransEState {
  const { dim, norm, margin } = settings;
  const rng = Rng.named(seed, 'transe/init');
  const span = (margin + 2) / dim;
  const uniform = (rows: number) => Float32Array.from({ length: rows * dim }, () => (2 * rng.uniform() - 1) * span);
  return {
    epoch: 0,
    table: {
      model: 'transe',
      norm,
      dim,
      numEntities,
      numRelations,
      entities: uniform(numEntities),
      relations: uniform(numRelations),
    },
    entitySquares: new Float64Array(numEntities),
    relationSquares: new Float64Array(numRelations),
    best: undefined,
    checksWithoutGain: 0,
  };
}

/**
 * Positives that are trained between two noted losses, whose logarithms would cost as much as the rest of a step; batches of
 * one triple are trained in blocks of as many.
 */
export const lossEvery = 32;

/** Arrays of a training, before they are laid out. */
interface TransEArrays {
  settings: TransESettings;
  seed: number;
  /** Changed in place. */
  state: TransEState;
  train: TripleColumns;
  trainSet: TripleSet;
  /** float64 [numRelations]: of corrupting the tail, else the head. */
  tailChance: Float64Array;
  /** int32: the order of the positives in the epoch that is trained. */
  order: Int32Array;
  /** float64: losses of every `lossEvery`-th positive of the epoch. */
  losses: Float64Array;
  barrier: Int32Array;
  /** int32 [1]: positives of the epoch that are done. */
  done: Int32Array;
  /** Triples of validation. */
  valid:
    | {
        triples: TripleColumns;
        /** All that is known to be true. */
        known: readonly TripleColumns[];
        /** float64 [2 * number of triples] */
        ranks: Float64Array;
      }
    | undefined;
}

/** All arrays of a training, in the memory of the SIMD kernels, with buffers of these. */
export interface TransEWork extends TransEArrays {
  memory: WasmMemory;
  /** float32 [places of a batch or a block, any]: draws and moves of each positive. */
  places: Float32Array;
  /** int32 [places, 4]: generator state of each place. */
  streams: Int32Array;
  /** int32, one per thread. */
  scratch: Int32Array[];
}

/** Which thread of how many. */
export interface Share {
  thread: number;
  threads: number;
}

/**
 * Lays copies of the arrays out in memory that threads share.
 * @throws WorkbenchError `native` without WebAssembly SIMD
 */
export function createWork(
  {
    settings,
    seed,
    state,
    train,
    valid,
    known = [],
  }: {
    settings: TransESettings;
    seed: number;
    state: TransEState;
    train: TripleColumns;
    valid?: TripleColumns | undefined;
    known?: readonly TripleColumns[] | undefined;
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

/** Puts the positives in the order of the epoch after the state's. */
export function orderEpoch({ order, seed, state }: TransEWork): void {
  order.forEach((_, i) => (order[i] = i));
  Rng.named(seed, 'transe/shuffle', state.epoch).shuffle(order);
}

/** Generator of the sides and negatives at a place of every batch of an epoch. */
export function placeStream({ seed }: TransEWork, epoch: number, place: number): Rng {
  return Rng.named(seed, 'transe/negatives', epoch, ...(place === 0 ? [] : [place]));
}

/** All that training TransE looks at and changes, in arrays that threads can share, and the draws of its epochs. */
import type { EmbeddingTable } from '../../src/embedding/transe.js';
import type { TripleColumns } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import { createBarrierMemory, inSharedMemory } from '../../src/run/shared-memory.js';
import { Arena } from '../../src/simd/arena.js';
import { type Kernels, openKernels, type WasmMemory } from '../../src/simd/kernels.js';
import type { TableState } from '../embeddings/epochs.js';
import type { TransESettings } from './settings.js';
import { createTripleSet, tailCorruptionChance, type TripleSet } from './triples.js';

/** Everything training needs to go on; its squares are those of rows. */
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

export interface TransEWork {
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
  /** Of the plain kernel. */
  batch: BatchMoves | undefined;
  /** Of the SIMD kernel, whose memory then holds all arrays of the work. */
  simd: SimdRoom | undefined;
  barrier: Int32Array;
  /** int32 [1]: positives of the epoch that are done. */
  done: Int32Array;
  /** int32 [1]: positives of the epoch before the batch that is trained. */
  begun: Int32Array;
  /** What validation ranks, if anything. */
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

/**
 * The moves of each place of a batch. A place is one true triple: `moves` entities that go along the direction of their
 * distance (its answer first, then its negatives), then the given entity and the relation along the gradient.
 */
export interface BatchMoves {
  /** Entities a place can move: its answer and its negatives. */
  moves: number;
  /** int32 [places, moves] */
  entities: Int32Array;
  /** float64 [places, moves]: derivative of the loss by the distance; 0 leaves the entity where it is. */
  pushes: Float64Array;
  /** float64 [places, moves]: the factor of the direction: `pushes`, under L2 divided by the distance. */
  shares: Float64Array;
  /** [places, moves, dim]: the direction; int8 signs under L1, float32 differences under L2. */
  directions: Int8Array | Float32Array;
  /** int32 [places] */
  givens: Int32Array;
  /** int32 [places] */
  relations: Int32Array;
  /** float64 [places]: which way the relation was added. */
  relationSigns: Float64Array;
  /** float64 [places, dim]: by the given entity. */
  gradients: Float64Array;
}

/** What the SIMD kernels use beside the arrays of the work. */
interface SimdRoom {
  memory: WasmMemory;
  /** float32 [places of a batch or a block, any]: what was drawn for a positive, and what its moves are. */
  places: Float32Array;
  /** int32 [places, 4]: state of the generator of each place. */
  streams: Int32Array;
  /** int32, one a thread. */
  scratch: Int32Array[];
}

/** Which thread of how many. */
export interface Share {
  thread: number;
  threads: number;
}

/** Trains positives of `work.order`, in TypeScript or WebAssembly. */
export interface TransEKernel {
  /** Comes before each epoch. */
  begin(epoch: number, share: Share): void;
  /**
   * Trains one positive after another, each learning from the one before.
   * @throws Diverged before the weights follow one whose numbers are not finite
   */
  train(begin: number, size: number, learningRate: number): void;
  /**
   * Takes a share's gradients of a batch under weights that stay as they are.
   * @throws Diverged for numbers that are not finite
   */
  gradients(begin: number, size: number, share: Share): void;
  /**
   * Makes the moves of all gradients of a batch, in its order, of the rows whose number leaves the share's thread when divided
   * by the threads: each row moves as on one thread.
   */
  moves(size: number, learningRate: number, share: Share): void;
}

/**
 * Lays the arrays out, for this thread or to be shared by several.
 * @param threads 1 with the plain kernel: the arrays of `state` and `train` are used as they are; else copies of them
 * @throws WorkbenchError `native` for the SIMD kernel where there is no WebAssembly SIMD
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
  const work: TransEWork = {
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
    batch: settings.kernel === 'plain' ? createBatchMoves(Math.max(1, count), settings) : undefined,
    simd: undefined,
    barrier: createBarrierMemory(),
    done: new Int32Array(1),
    begun: new Int32Array(1),
    valid:
      valid && valid.heads.length > 0
        ? { triples: valid, known: [train, valid, ...known], ranks: new Float64Array(valid.heads.length * 2) }
        : undefined,
  };
  if (settings.kernel === 'simd') return inArena(work, threads);
  return threads === 1 ? work : inSharedMemory(work);
}

/** Room for batches of the settings' size, or of all triples where they are fewer. */
export function createBatchMoves(
  count: number,
  { batchSize, negatives, dim, norm }: Pick<TransESettings, 'batchSize' | 'negatives' | 'dim' | 'norm'>,
): BatchMoves {
  const places = Math.min(batchSize, count);
  const moves = negatives + 1;
  return {
    moves,
    entities: new Int32Array(places * moves),
    pushes: new Float64Array(places * moves),
    shares: new Float64Array(places * moves),
    directions: new (norm === 1 ? Int8Array : Float32Array)(places * moves * dim),
    givens: new Int32Array(places),
    relations: new Int32Array(places),
    relationSigns: new Float64Array(places),
    gradients: new Float64Array(places * dim),
  };
}

/** The work with its arrays in the memory of kernels, and room for them. */
function inArena(work: TransEWork, threads: number): TransEWork {
  const arena = new Arena();
  const held = arena.hold(work);
  const kernels = openKernels(arena.memory);
  describe(kernels, held);
  const places = Math.max(lossEvery, Math.min(work.settings.batchSize, work.order.length));
  const simd: SimdRoom = {
    memory: arena.memory,
    places: arena.float32((places * kernels.transePlaceBytes()) / 4),
    streams: arena.int32(places * 4),
    scratch: Array.from({ length: threads }, () => arena.int32(kernels.transeScratchBytes() / 4)),
  };
  return { ...held, simd };
}

export function openTransEKernels(work: TransEWork, thread: number): Kernels {
  const { memory, places, streams, scratch } = work.simd!;
  const kernels = openKernels(memory);
  describe(kernels, work);
  kernels.transeRoom(places.byteOffset, streams.byteOffset, scratch[thread]!.byteOffset);
  return kernels;
}

function describe(kernels: Kernels, { state, settings, train, trainSet, tailChance }: TransEWork): void {
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

/** What a place of every batch of an epoch draws its sides and negatives from. */
export function placeStream({ seed }: TransEWork, epoch: number, place: number): Rng {
  return Rng.named(seed, 'transe/negatives', epoch, ...(place === 0 ? [] : [place]));
}

/** Draws whether the tail of a positive is corrupted, else its head. */
export function corruptsTail({ tailChance, train }: TransEWork, index: number, rng: Rng): boolean {
  return rng.uniform() < tailChance[train.relations[index]!]!;
}

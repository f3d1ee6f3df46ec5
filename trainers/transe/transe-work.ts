/** All that training looks at and changes, in arrays that threads can share. */
import type { TripleColumns } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import { createBarrierMemory, inSharedMemory } from '../../src/run/shared-memory.js';
import { type BatchMoves, createBatchMoves } from './batch-moves.js';
import { tailCorruptionChance } from './corruption.js';
import type { TransESettings } from './settings.js';
import { inArena, type SimdRoom } from './simd-room.js';
import type { TransEState } from './transe-state.js';
import { createTripleSet, type TripleSet } from './triple-set.js';

/** The loss of every n-th positive is taken: its logarithms would cost as much as the rest of a step. */
export const lossEvery = 32;

/** Arrays of a training; threads share their memory. */
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

/** What a training is made of. */
export interface CreateWorkOptions {
  settings: TransESettings;
  seed: number;
  state: TransEState;
  train: TripleColumns;
  valid?: TripleColumns | undefined;
  known?: readonly TripleColumns[] | undefined;
}

/**
 * Lays the arrays out, for this thread or to be shared by several.
 * @param threads 1 with the plain kernel: the arrays of `state` and `train` are used as they are; else copies of them
 */
export function createWork(options: CreateWorkOptions, threads: number): TransEWork {
  const work = plainWork(options);
  if (options.settings.kernel === 'simd') return inArena(work, threads);
  return threads === 1 ? work : inSharedMemory(work);
}

function plainWork({ settings, seed, state, train, valid, known = [] }: CreateWorkOptions): TransEWork {
  const count = train.heads.length;
  const { dim, norm, numRelations } = state.table;
  const { bernoulli, kernel, batchSize, negatives } = settings;
  return {
    settings,
    seed,
    state,
    train,
    trainSet: createTripleSet(train),
    tailChance: bernoulli ? tailCorruptionChance(train, numRelations) : new Float64Array(numRelations).fill(0.5),
    order: new Int32Array(count),
    losses: new Float64Array(Math.ceil(count / lossEvery)),
    batch:
      kernel === 'plain' ? createBatchMoves(Math.min(batchSize, Math.max(1, count)), negatives, dim, norm) : undefined,
    simd: undefined,
    barrier: createBarrierMemory(),
    done: new Int32Array(1),
    begun: new Int32Array(1),
    valid:
      valid && valid.heads.length > 0
        ? { triples: valid, known: [train, valid, ...known], ranks: new Float64Array(valid.heads.length * 2) }
        : undefined,
  };
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

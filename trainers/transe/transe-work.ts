/** All that training looks at and changes, in arrays that threads can share. */
import type { TripleColumns } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import { createBarrierMemory } from '../../src/run/workers/barrier.js';
import { createBatchMoves } from './batch-moves.js';
import type { BatchMoves } from './batch-moves.js';
import { tailCorruptionChance } from './corruption.js';
import type { TransESettings } from './settings.js';
import type { TransEState } from './transe-state.js';
import { createTripleSet } from './triple-set.js';
import type { TripleSet } from './triple-set.js';

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
  /** float64 [numRelations] */
  tailChance: Float64Array;
  /** int32: the order of the positives in the epoch that is trained. */
  order: Int32Array;
  /** float64: losses of every `lossEvery`-th positive of the epoch. */
  losses: Float64Array;
  batch: BatchMoves;
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

/** Lays the arrays out; those of `state` are used as they are. */
export function createWork({ settings, seed, state, train, valid, known = [] }: CreateWorkOptions): TransEWork {
  const count = train.heads.length;
  const { dim, norm, numRelations } = state.table;
  return {
    settings,
    seed,
    state,
    train,
    trainSet: createTripleSet(train),
    tailChance: tailCorruptionChance(train, numRelations),
    order: new Int32Array(count),
    losses: new Float64Array(Math.ceil(count / lossEvery)),
    batch: createBatchMoves(Math.min(settings.batchSize, Math.max(1, count)), settings.negatives, dim, norm),
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
export function corruptsTail({ settings, tailChance, train }: TransEWork, index: number, rng: Rng): boolean {
  return rng.uniform() < (settings.bernoulli ? tailChance[train.relations[index]!]! : 0.5);
}

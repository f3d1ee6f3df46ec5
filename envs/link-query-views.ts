/** A copy's columns as the objects that collectors expect, made once: their fields are read when asked for. */
import type { RelationColumn } from '../src/kg/adjacency.js';
import type { LinkQueryBatch } from './link-query-batch.js';
import { linkQueryObservation, VectorMaker, noVector } from './link-query-rows.js';
import type { LinkQueryObservation, LinkQueryWorld } from './link-query-world.js';

/** The present observation of one copy. */
export class RowObservation implements LinkQueryObservation {
  readonly #batch: LinkQueryBatch;
  readonly #world: LinkQueryWorld;
  readonly #row: number;

  constructor(batch: LinkQueryBatch, world: LinkQueryWorld, row: number) {
    this.#batch = batch;
    this.#world = world;
    this.#row = row;
  }

  get head(): number {
    return this.#batch.heads[this.#row]!;
  }

  get relation(): number {
    return this.#batch.relations[this.#row]!;
  }

  get current(): number {
    return this.#batch.currents[this.#row]!;
  }

  get hop(): number {
    return this.#batch.hops[this.#row]!;
  }

  get path(): Int32Array {
    const begin = 2 * this.#row * this.#world.horizon;
    return this.#batch.paths.subarray(begin, begin + 2 * this.hop);
  }

  get relations(): RelationColumn {
    return this.#edges(this.#world.relations);
  }

  get tails(): Int32Array {
    return this.#edges(this.#world.tails);
  }

  get actionMask(): Uint8Array {
    const begin = this.#row * this.#batch.maxActions;
    return this.#batch.masks.subarray(begin, begin + this.#batch.counts[this.#row]!);
  }

  get vector(): Float32Array {
    const width = this.#batch.vectors.length / this.#batch.numEnvs;
    return this.#batch.vectors.subarray(this.#row * width, (this.#row + 1) * width);
  }

  #edges<T extends RelationColumn>(column: T): T {
    const { offsets } = this.#world;
    return column.subarray(offsets[this.current], offsets[this.current + 1]) as T;
  }
}

/** What a batch remembers of the walks that ended. */
export interface EndedWalks {
  /** uint8 [numEnvs]: whether a copy's episode is running. */
  running: Uint8Array;
  /** uint8 [numEnvs]: 1 where the copy's last finished walk hit. */
  hits: Uint8Array;
  /** int32 [numEnvs]: its query. */
  samples: Int32Array;
  /** uint8 [numEnvs]: 1 where a walk ended in the last step and another one began. */
  replaced: Uint8Array;
  /** int32 [numEnvs, 2 · horizon]: the whole path of those walks. */
  paths: Int32Array;
}

/** The info of one copy: `sample`, `done`, at the end `hit`, and `final` where the next episode has begun in the same step. */
export function rowInfo(
  batch: LinkQueryBatch,
  world: LinkQueryWorld,
  ended: EndedWalks,
  row: number,
): Record<string, unknown> {
  const done = () => ended.running[row] === 0;
  return {
    get sample() {
      return batch.samples[row];
    },
    get done() {
      return done();
    },
    get hit() {
      return done() ? ended.hits[row] === 1 : undefined;
    },
    get final() {
      return ended.replaced[row] === 1 ? finalOf(world, ended, row) : undefined;
    },
  };
}

function finalOf(world: LinkQueryWorld, { hits, samples, paths }: EndedWalks, row: number) {
  const { queries, offsets, vectors, horizon } = world;
  const sample = samples[row]!;
  const path = paths.slice(2 * row * horizon, 2 * (row + 1) * horizon);
  const end = path.at(-1)!;
  const mask = new Uint8Array(offsets[end + 1]! - offsets[end]! + 1).fill(1);
  const vector = vectors
    ? new VectorMaker(vectors).of(queries.heads[sample]!, queries.relations[sample]!, end)
    : noVector;
  return {
    observation: linkQueryObservation(world, sample, path, mask, vector),
    info: { sample, done: true, hit: hits[row] === 1 },
  };
}

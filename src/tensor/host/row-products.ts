/** The first layer over rows of a frozen table: every distinct row of a batch goes through its weights once. */
import type { HostParameters } from './host-parameters.js';

/** Rows of numbers that no training changes. */
export interface FrozenTable {
  /** float32 [any, dim], row-major, in the arena of the network. */
  rows: Float32Array;
  dim: number;
}

interface Scratch {
  room: number;
  /** int32: the distinct ids of the batch, in order of first use. */
  distinct: Int32Array;
  /** int32: place of each id among them. */
  places: Int32Array;
  /** float32 [distinct, dim]: their rows. */
  inputs: Float32Array;
  /** float32 [distinct, width]: rows times weights, and on the way back slopes of these. */
  products: Float32Array;
}

const weights = '0';

/** One part of a network's input. */
export class RowProducts {
  readonly #parameters: HostParameters;
  readonly #table: FrozenTable;
  /** Where its rows begin among the first layer's weights, in bytes. */
  readonly #begin: number;
  readonly #width: number;
  /** int32 [rows of the table]: the batch that an id was last seen in, and its place there. */
  readonly #seen: Int32Array;
  readonly #placeOf: Int32Array;
  #batch = 0;
  #count = 0;
  #scratch: Scratch | undefined;

  /** @param begin values of the first layer's weights before this part's, [dim, width] */
  constructor(parameters: HostParameters, table: FrozenTable, begin: number, width: number) {
    this.#parameters = parameters;
    this.#table = table;
    this.#begin = 4 * begin;
    this.#width = width;
    this.#seen = new Int32Array(table.rows.length / table.dim);
    this.#placeOf = new Int32Array(this.#seen.length);
  }

  /** Adds to `out`, float32 [ids, width], the product of each id's row. */
  addTo(out: Float32Array, ids: Int32Array, panel: Float32Array): void {
    const { kernels } = this.#parameters;
    const { dim, rows } = this.#table;
    const scratch = this.#roomFor(ids.length);
    const { distinct, places, inputs, products } = scratch;
    const batch = ++this.#batch;
    let count = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (this.#seen[id] !== batch) {
        this.#seen[id] = batch;
        this.#placeOf[id] = count;
        distinct[count++] = id;
      }
      places[i] = this.#placeOf[id]!;
    }
    this.#count = count;
    const width = this.#width;
    const weight = this.#parameters.value(weights).byteOffset + this.#begin;
    kernels.copyRows(inputs.byteOffset, rows.byteOffset, distinct.byteOffset, count, dim);
    kernels.matMul(
      ...([inputs.byteOffset, dim, 1] as const),
      ...([weight, width, 1] as const),
      ...([products.byteOffset, count, dim, width] as const),
      panel.byteOffset,
      0,
    );
    kernels.addRows(out.byteOffset, products.byteOffset, places.byteOffset, ids.length, width);
  }

  /** The way back of the latest `addTo`: adds to the slopes of its weights. @param slopes float32 [count, width] */
  back(slopes: Float32Array, count: number, panel: Float32Array): void {
    const { kernels } = this.#parameters;
    const { dim } = this.#table;
    const { places, inputs, products } = this.#scratch!;
    const width = this.#width;
    products.fill(0, 0, this.#count * width);
    kernels.scatterRows(products.byteOffset, places.byteOffset, slopes.byteOffset, count, width);
    kernels.matMul(
      ...([inputs.byteOffset, 1, dim] as const),
      ...([products.byteOffset, width, 1] as const),
      ...([this.#parameters.slope(weights).byteOffset + this.#begin, dim, this.#count, width] as const),
      panel.byteOffset,
      1,
    );
  }

  #roomFor(count: number): Scratch {
    if (this.#scratch && this.#scratch.room >= count) return this.#scratch;
    const { arena } = this.#parameters;
    const room = Math.ceil(count * 1.25);
    const most = Math.min(room, this.#seen.length);
    this.#scratch = {
      room,
      distinct: arena.int32(most),
      places: arena.int32(room),
      inputs: arena.float32(most * this.#table.dim),
      products: arena.float32(most * this.#width),
    };
    return this.#scratch;
  }
}

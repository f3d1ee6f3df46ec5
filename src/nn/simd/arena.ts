/** Memory of the kernels: typed arrays that lie in one WebAssembly memory, which threads share. */
import { WorkbenchError } from '../../run/errors.js';
import { withArrays, type Numbers } from '../../run/worker-pool.js';
import { missing, type WasmMemory, webAssembly } from './kernels.js';

/** Bytes between beginnings of arrays: a line of the cache, so that threads that write to neighbouring arrays do not share one. */
const line = 64;
const page = 65536;
const mostPages = 65536;

type NumbersType<T extends Numbers> = {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
};

/**
 * Arrays in one memory, one after the other. None is ever given back: an arena lives as long as the work it was made for.
 * `array.byteOffset` is what kernels take. Send `memory` and the arrays to a worker, and both are the same there.
 */
export class Arena {
  readonly memory: WasmMemory;
  /** Bytes that are taken. The first line is left empty: no array begins at 0. */
  #end = line;

  /** @throws WorkbenchError `native` where this Node has no WebAssembly */
  constructor() {
    const { Memory } = webAssembly ?? missing();
    this.memory = new Memory({ initial: 1, maximum: mostPages, shared: true });
  }

  float32(length: number): Float32Array {
    return this.#take(Float32Array, length);
  }

  int32(length: number): Int32Array {
    return this.#take(Int32Array, length);
  }

  int16(length: number): Int16Array {
    return this.#take(Int16Array, length);
  }

  /**
   * A copy of plain data (objects, arrays, numbers, texts) in which every typed array lies in this arena. An array that
   * stands in several places stays one.
   */
  hold<T>(value: T): T {
    return withArrays(value, (numbers) => this.#take(numbers.constructor as NumbersType<Numbers>, numbers.length));
  }

  /** @throws WorkbenchError `failure` beyond 4 GiB; RangeError, as other arrays do, where the machine has no more memory */
  #take<T extends Numbers>(type: NumbersType<T>, length: number): T {
    const begin = this.#end;
    const end = begin + Math.ceil((length * type.BYTES_PER_ELEMENT) / line) * line;
    if (end > mostPages * page) {
      const gibibytes = (end / 2 ** 30).toFixed(1);
      throw new WorkbenchError('failure', `expected at most 4 GiB of arrays for SIMD kernels, got ${gibibytes} GiB`, {
        hint: 'Choose a smaller network, or smaller batches.',
      });
    }
    const grown = Math.ceil(end / page) - this.memory.buffer.byteLength / page;
    if (grown > 0) this.memory.grow(grown);
    this.#end = end;
    return new type(this.memory.buffer, begin, length);
  }
}

/** Arrays for SIMD kernels. */
import type { Run, Scope } from '../executor.js';
import { Arena } from './arena.js';
import { openKernels } from './kernels.js';

/** Arrays begin where a vector of the processor may: at a multiple of 4 values. */
export const padded = (size: number) => Math.ceil(size / 4) * 4;

/** Arrays of one memory, by name, by scope and for good. */
export class SimdMemory {
  readonly #floats = new Map<string | number, { room: Float32Array; last: Float32Array }>();
  readonly #numbers = new Map<string, Int32Array>();
  readonly #held = new WeakMap<Float32Array, Float32Array>();

  /**
   * @param arena where all of it lies
   * @param kernels those of the arena
   * @throws WorkbenchError `native` where there is no WebAssembly SIMD
   */
  constructor(
    readonly arena = new Arena(),
    readonly kernels = openKernels(arena.memory),
  ) {}

  /** float32 [length] by name, with what it held before; the view is valid until a longer one is asked for. Kernels may change 3 values behind its end. */
  floats(name: string | number, length: number): Float32Array {
    const known = this.#floats.get(name);
    if (known?.last.length === length) return known.last;
    const fits = known !== undefined && known.room.length >= length + 4;
    const room = fits ? known.room : this.arena.float32(Math.ceil(length * 1.25) + 4);
    const last = room.subarray(0, length);
    this.#floats.set(name, { room, last });
    return last;
  }

  /** A copy where kernels reach it, by name. */
  copied(name: string | number, values: Float32Array): Float32Array {
    const copy = this.floats(name, values.length);
    copy.set(values);
    return copy;
  }

  /** int32, the same. */
  numbers(name: string, values: Int32Array): Int32Array {
    let room = this.#numbers.get(name);
    if (!room || room.length < values.length) {
      room = this.arena.int32(Math.ceil(values.length * 1.25));
      this.#numbers.set(name, room);
    }
    room.set(values);
    return room.subarray(0, values.length);
  }

  /** Arrays by the order in which they are asked for, so that equal computations find their own again. */
  scope(): Scope<Float32Array, Int32Array> {
    // Names are of the scope alone: tapes of one executor are used in turns.
    const own = new SimdMemory(this.arena, this.kernels);
    let [taken, lists] = [0, 0];
    const take = (length: number) => own.floats(taken++, length);
    const zeros = (length: number) => {
      const room = take(length);
      own.fill(room, 0);
      return room;
    };
    return {
      begin: () => ([taken, lists] = [0, 0]),
      take,
      zeros,
      copy: (values) => own.copied(taken++, values),
      rows: (values) => own.numbers(`${lists++}`, values),
    };
  }

  hold(values: Float32Array): Float32Array {
    const held = this.#held.get(values) ?? this.arena.hold(values);
    this.#held.set(values, held);
    return held;
  }

  run(lengths: readonly number[]): Run<Float32Array> {
    const whole = this.arena.float32(lengths.reduce((sum, length) => sum + padded(length), 0));
    let begin = 0;
    const parts = lengths.map((length) => {
      const part = whole.subarray(begin, begin + length);
      begin += padded(length);
      return part;
    });
    return { whole, parts };
  }

  free(): void {
    // Its memory goes when nothing refers to it any more.
  }

  write(into: Float32Array, values: Float32Array): void {
    into.set(values);
  }

  read(values: Float32Array): Promise<Float32Array> {
    return Promise.resolve(values.slice());
  }

  fill(into: Float32Array, value: number): void {
    // What JavaScript does to shared memory goes value by value.
    if (value === 0) this.kernels.zeroAll(into.byteOffset, into.length);
    else into.fill(value);
  }

  assign(into: Float32Array, x: Float32Array): void {
    this.kernels.copyAll(into.byteOffset, x.byteOffset, x.length);
  }
}

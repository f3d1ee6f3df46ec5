/** The kernels in WebAssembly SIMD: what they do, and how to get them. Their sources are in `assembly/`. */
import { readFileSync } from 'node:fs';
import { WorkbenchError } from '../run/errors.js';
import { webAssembly } from './web-assembly.js';
import type { WasmMemory, WasmModule } from './web-assembly.js';

/**
 * Functions over arrays of one memory (`Arena`). Arguments named after arrays are their `byteOffset`; lengths count
 * values. Nothing is checked: a wrong offset or length reads or overwrites other arrays, or traps at the end of memory.
 * Sums are float32, in four lanes, so their last digits differ from those of plain TypeScript; they are the same on every
 * processor.
 */
export interface Kernels {
  /**
   * L1 distances of a query from rows of a table: `out[i] = Σₖ |query[k] − rows[ids[i] · dim + k]|`.
   * @param query float32 [dim]
   * @param rows float32 [any, dim]
   * @param ids int32 [count]
   * @param out float32 [count]
   */
  absoluteDistances(query: number, rows: number, ids: number, count: number, dim: number, out: number): void;

  // Training of TransE. An instance is told what it works on once: the table, the triples, the settings, then its room.

  /** Weights and Adagrad's sums: float32 [numEntities, dim] and [any, dim], float64 [numEntities] and [any]. */
  transeTable(
    entities: number,
    relations: number,
    entitySquares: number,
    relationSquares: number,
    numEntities: number,
    dim: number,
  ): void;
  /**
   * True triples, which are never negatives.
   * @param heads int32, as are `relations` and `tails`
   * @param slots int32 [slotCount]: their set, by open addressing; `slotCount` is a power of two
   * @param tailChance float64 [relations]: of corrupting the tail, else the head
   */
  transeTriples(
    heads: number,
    relations: number,
    tails: number,
    slots: number,
    slotCount: number,
    tailChance: number,
  ): void;
  /** @param hinge 1 for the margin loss, 0 for the self-adversarial one @param adagrad 1, or 0 for plain descent */
  transeSettings(
    norm: number,
    hinge: number,
    margin: number,
    temperature: number,
    negativeCutoff: number,
    adagrad: number,
    negatives: number,
  ): void;
  /** Bytes of a place, which holds one positive; known once the settings and the table are. */
  transePlaceBytes(): number;
  /** Bytes of a thread's scratch memory. */
  transeScratchBytes(): number;
  /** @param places as many as a call is given positives @param streams a generator a place: 16 bytes, low word first */
  transeRoom(places: number, streams: number, scratch: number): void;
  /**
   * Trains positives one by one, each after the moves of the ones before, all with draws from the first stream.
   * @param order int32 [count]: numbers of triples
   * @returns `count`, or the place of the first whose numbers are not finite in float32: neither it nor a later one is moved
   */
  transeTrain(order: number, count: number, learningRate: number): number;
  /** The gradients of places `thread`, `thread + threads` … under the weights as they are. Returns as `transeTrain`. */
  transeGradients(order: number, count: number, thread: number, threads: number): number;
  /** Makes the moves of all places, in their order, of the rows whose number modulo `owners` is `owner`. */
  transeMoves(count: number, learningRate: number, owner: number, owners: number): void;
  /** Byte offset of float32 distances of a place: of its answer, then of `transeDrawn(place) - 1` negatives. */
  transeDistances(place: number): number;
  transeDrawn(place: number): number;
}

let compiled: WasmModule | undefined;

/**
 * The kernels over the arrays of `memory`. Compiled once a thread.
 * @throws WorkbenchError `native` where this Node or its processor has no WebAssembly SIMD
 */
export function openKernels(memory: WasmMemory): Kernels {
  const { Instance } = webAssembly ?? missing();
  compiled ??= compile();
  return new Instance(compiled, { env: { memory } }).exports as Kernels;
}

function compile(): WasmModule {
  const bytes = readFileSync(new URL('./kernels.wasm', import.meta.url));
  if (!webAssembly?.validate(bytes)) missing();
  return new webAssembly.Module(bytes);
}

/** What every door to the kernels says where there is no WebAssembly, or none with SIMD. @throws WorkbenchError `native` */
export function missing(): never {
  const got = webAssembly === undefined ? 'a Node without WebAssembly' : 'a processor or a Node without it';
  throw new WorkbenchError('native', `expected WebAssembly SIMD, got ${got}`, {
    hint: 'Run node without --jitless; where that does not help, choose the plain kernel in the settings.',
  });
}

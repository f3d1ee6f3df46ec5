/** The kernels in WebAssembly SIMD, compiled from `assembly/`, and how to get them. */
import { readFileSync } from 'node:fs';
import { WorkbenchError } from '../../run/errors.js';
import type * as assembly from './assembly/index.js';

/** Memory that instances and threads share; may be sent to a worker. */
export interface WasmMemory {
  readonly buffer: SharedArrayBuffer;
  /** @param pages of 64 KiB to add; arrays made before stay valid */
  grow(pages: number): number;
}

type WasmModule = object;

interface WasmApi {
  validate(bytes: Uint8Array): boolean;
  Memory: new (descriptor: { initial: number; maximum: number; shared: true }) => WasmMemory;
  Module: new (bytes: Uint8Array) => WasmModule;
  Instance: new (module: WasmModule, imports: { env: { memory: WasmMemory } }) => { exports: unknown };
}

/** Undefined where Node runs without it (`--jitless`). */
export const webAssembly = (globalThis as unknown as { WebAssembly?: WasmApi }).WebAssembly;

/** Types of AssemblyScript as JavaScript meets them, for the sources in `assembly/`. */
declare global {
  type usize = number;
  type i32 = number;
  type u32 = number;
  type f32 = number;
  type f64 = number;
  type bool = boolean;
  type v128 = never;
}

/**
 * Functions over arrays of one memory (`Arena`), each documented at its source. Arguments named after arrays are their `byteOffset`;
 * lengths count values. Nothing is checked: a wrong offset or length reads or overwrites other arrays, or traps at the end of memory.
 * Sums are float32, in four lanes, so their last digits differ from those of plain TypeScript; they are the same on every processor.
 */
export type Kernels = typeof assembly;

let compiled: WasmModule | undefined;
let runs: boolean | undefined;

/**
 * The kernels over the arrays of `memory`. Compiled once a thread.
 * @throws WorkbenchError `native` where this Node or its processor has no WebAssembly SIMD
 */
export function openKernels(memory: WasmMemory): Kernels {
  const { Instance } = webAssembly ?? missing();
  compiled ??= compile();
  return new Instance(compiled, { env: { memory } }).exports as Kernels;
}

/** Returns whether this Node runs the kernels. */
export function kernelsRun(): boolean {
  if (webAssembly === undefined) return false;
  runs ??= webAssembly.validate(kernelBytes());
  return runs;
}

function compile(): WasmModule {
  const bytes = kernelBytes();
  if (!webAssembly?.validate(bytes)) missing();
  return new webAssembly.Module(bytes);
}

let given: Uint8Array | undefined;

/** Uses these instead of the file next to this module: for places without files. @param bytes of `kernelBytes` */
export function useKernels(bytes: Uint8Array): void {
  given = bytes;
}

/** The compiled kernels. */
export const kernelBytes = (): Uint8Array => given ?? readFileSync(new URL('./kernels.wasm', import.meta.url));

/** Refuses a Node without WebAssembly SIMD. @throws WorkbenchError `native` */
export function missing(): never {
  const got = webAssembly === undefined ? 'a Node without WebAssembly' : 'a processor or a Node without it';
  throw new WorkbenchError('native', `expected WebAssembly SIMD, got ${got}`, {
    hint: 'Run node without --jitless; where that does not help, choose the plain kernel in the settings.',
  });
}

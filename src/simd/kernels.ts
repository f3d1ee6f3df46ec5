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

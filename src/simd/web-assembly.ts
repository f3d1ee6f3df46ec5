/** The part of WebAssembly that is used here; Node's own types leave it out. */

/** Memory that instances and threads share; may be sent to a worker. */
export interface WasmMemory {
  readonly buffer: SharedArrayBuffer;
  /** @param pages of 64 KiB to add; arrays made before stay valid */
  grow(pages: number): number;
}

/** A compiled module. */
export type WasmModule = object;

interface WasmApi {
  validate(bytes: Uint8Array): boolean;
  Memory: new (descriptor: { initial: number; maximum: number; shared: true }) => WasmMemory;
  Module: new (bytes: Uint8Array) => WasmModule;
  Instance: new (module: WasmModule, imports: { env: { memory: WasmMemory } }) => { exports: unknown };
}

/** Undefined where Node runs without it (`--jitless`). */
export const webAssembly = (globalThis as unknown as { WebAssembly?: WasmApi }).WebAssembly;

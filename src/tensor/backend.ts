/** The ladder of tensor backends: the fastest one that is installed and computes correctly. Only this file loads tfjs; others receive the module. */
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { WorkbenchError } from '../run/errors.js';
import { kernelsRun } from '../simd/kernels.js';
import { nativeTensorflowOn, registerNativeTensorflow } from './native-tensorflow.js';
import type { Tf } from './ops.js';
import { wrongInTrainingStep } from './training-step.js';

export type { Tf } from './ops.js';

/** Rungs, the fastest for large networks first: native TensorFlow on a GPU and on the processor, WebAssembly, JavaScript. */
export const backendNames = ['tensorflow-gpu', 'tensorflow', 'wasm', 'cpu'] as const;
/** One of `backendNames`. */
export type BackendName = (typeof backendNames)[number];

/** Names for `--backend`: a rung, or `host`, SIMD kernels without a tensor library, for the networks that are written for them. */
export const computerNames = [...backendNames, 'host'] as const;
/** One of `computerNames`. */
export type ComputerName = (typeof computerNames)[number];

/** Parses a backend or `auto` of a command line. @throws WorkbenchError `usage` for another word */
export function backendOf(word: string): ComputerName | 'auto' {
  const name = [...computerNames, 'auto' as const].find((known) => known === word);
  if (name) return name;
  const message = `expected auto, ${computerNames.join(', ')}, got ${JSON.stringify(word)}, at --backend`;
  throw new WorkbenchError('usage', message);
}

/** Result of trying one backend. */
export interface BackendProbe {
  name: ComputerName;
  found: boolean;
  /** Why it was taken or not. */
  reason: string;
  /** Remedy if it is missing. */
  remedy?: string | undefined;
}

const require = createRequire(import.meta.url);

/** Those that were found to compute correctly in this process are not asked again. */
const proven = new Set<BackendName>();

/** Open backend with the reason, as half a sentence. With `host` the tensor library is wasm or cpu. */
interface OpenBackend {
  tf: Tf;
  name: ComputerName;
  why: string;
}

/**
 * Opens a backend.
 * @param wanted what is to compute, or `auto` for the first that works
 * @param size of the networks, by which `auto` orders the rungs; default large ones
 * @throws WorkbenchError `native` when what is wanted does not work, or does not compute networks of this kind
 */
export async function openBackend(wanted: ComputerName | 'auto' = 'auto', size?: NetworkSize): Promise<OpenBackend> {
  const { names, why } = wanted === 'auto' ? autoOrder(size) : { names: [wanted], why: 'asked for' };
  const probes: BackendProbe[] = [];
  for (const name of names) {
    const probe = name === 'host' ? await tryHost(size) : await probeBackend(name, proven.has(name));
    if (probe.found) {
      if (name !== 'host') proven.add(name);
      return { tf: loadTf(), name, why: `${why}${helpFor(name, names)}` };
    }
    probes.push(probe);
  }
  const remedy = wanted === 'auto' ? undefined : probes[0]!.remedy;
  const got = probes.map((probe) => `${probe.name}: ${probe.reason}`).join('; ');
  throw new WorkbenchError('native', `expected a working tensor backend, got none: ${got}`, {
    hint: `${remedy === undefined ? '' : `To get it: ${remedy}. `}\`kgwalk doctor\` lists the backends of this machine; \`--backend wasm\` works everywhere.`,
  });
}

/** Hint for large networks on wasm, where native code would be faster. */
function helpFor(name: ComputerName, names: readonly ComputerName[]): string {
  const isSlow = name === 'wasm' || name === 'cpu';
  return isSlow && names.slice(0, names.indexOf(name)).includes('tensorflow')
    ? '; faster with native TensorFlow: `kgwalk native install`'
    : '';
}

/** SIMD kernels, with wasm for everything else. */
async function tryHost(size: NetworkSize | undefined): Promise<BackendProbe> {
  if (!size?.onHost) {
    const remedy = 'a dialogue walker with walker.head=candidate and walker.text=frozen';
    return { name: 'host', found: false, reason: 'it does not compute these networks', remedy };
  }
  if (!kernelsRun()) return { name: 'host', found: false, reason: 'this Node has no WebAssembly SIMD' };
  return { ...(await probeBackend('wasm', proven.has('wasm'))), name: 'host' };
}

/**
 * Tries one rung: loads it, makes it the active backend and compares a training step with the same in plain numbers.
 * @param known true if the training step was right before
 */
export async function probeBackend(name: BackendName, known = false): Promise<BackendProbe> {
  const tf = loadTf();
  try {
    const on = await start(tf, name);
    const wrong = known ? undefined : await wrongInTrainingStep(tf);
    if (wrong === undefined) return { name, found: true, reason: `${on}trains a small net correctly` };
    const reason = `${on}computes wrong numbers: ${wrong}`;
    return { name, found: false, reason, remedy: 'other drivers, or another backend' };
  } catch (error) {
    if (error instanceof WorkbenchError) return { name, found: false, reason: error.message, remedy: error.hint };
    return { name, found: false, reason: `it does not load here (${firstLine(error)})` };
  }
}

/** Makes a rung the active backend. @returns what it computes on, as the beginning of a sentence */
async function start(tf: Tf, name: BackendName): Promise<string> {
  if (name === 'wasm') {
    const wasm = require('@tensorflow/tfjs-backend-wasm') as typeof import('@tensorflow/tfjs-backend-wasm');
    wasm.setWasmPaths(join(dirname(require.resolve('@tensorflow/tfjs-backend-wasm/package.json')), 'wasm-out/'));
  }
  if (name === 'wasm' || name === 'cpu') {
    await withoutItsListeners(() => activate(tf, name));
    return '';
  }
  registerNativeTensorflow(tf);
  await activate(tf, 'tensorflow');
  return `${nativeTensorflowOn(tf, name === 'tensorflow-gpu' ? 'GPU' : 'processor')}, `;
}

/** Removes the listeners by which the WebAssembly backend ends the program at an uncaught error with a line of library code; keeps all others. */
async function withoutItsListeners(work: () => Promise<void>): Promise<void> {
  const emitter: EventEmitter = process;
  const before = fatalEvents.map((event) => emitter.listeners(event));
  await work();
  fatalEvents.forEach((event, i) => {
    for (const listener of emitter.listeners(event) as (() => void)[]) {
      const itsOwn = /ExitStatus|throw reason/.test(String(listener));
      if (itsOwn && !before[i]!.includes(listener)) emitter.removeListener(event, listener);
    }
  });
}

const fatalEvents = ['uncaughtException', 'unhandledRejection'];

async function activate(tf: Tf, backend: string): Promise<void> {
  if (!(await tf.setBackend(backend))) throw new Error('it did not start');
  await tf.ready();
}

/** By `require`, here and above: of CommonJS files of megabytes `import` reads the names of all that they export, for half a second. */
function loadTf(): Tf {
  const tf = require('@tensorflow/tfjs-core') as Tf;
  // Both register what they have: the rung that needs nothing, and gradients, which the core's build for Node lacks.
  require('@tensorflow/tfjs-backend-cpu');
  require('@tensorflow/tfjs-layers');
  tf.enableProdMode();
  return tf;
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n')[0]!;
}

/** The largest product of one training step: [rows, inputs] × [inputs, units]. */
export interface NetworkSize {
  rows: number;
  inputs: number;
  units: number;
  /** Set for networks that `host` computes, too. */
  onHost?: boolean;
}

/** Million multiply-adds of the largest product from which on a backend pays (docs/decisions/backends.md). */
const worthFrom = { tensorflow: 4, gpu: 100 };

/** The order to try rungs in, and why, as half a sentence. Without a size: the order for large networks. */
export function autoOrder(size?: NetworkSize): { names: readonly ComputerName[]; why: string } {
  if (size === undefined) return { names: backendNames, why: 'the first that works' };
  const { rows, inputs, units, onHost } = size;
  const millions = (rows * inputs * units) / 1e6;
  const product =
    rows * inputs * units > 1
      ? `the largest product is ${rows} × ${inputs} × ${units}, ${rounded(millions)} million multiply-adds`
      : 'no products of matrices';
  const order = (why: string, ...names: ComputerName[]) => ({ names, why: `${product}, ${why}` });
  const isGpuSize = millions >= worthFrom.gpu;
  if (onHost) {
    const rest = ['host', 'wasm', 'cpu', 'tensorflow'] as const;
    if (isGpuSize) return order('where a GPU pays, else SIMD kernels', 'tensorflow-gpu', ...rest);
    return order('where SIMD kernels without a library are fastest', ...rest);
  }
  if (isGpuSize) return order('where CUDA or native TensorFlow pays', ...backendNames);
  if (millions < worthFrom.tensorflow) return order('where wasm is fastest', 'wasm', 'cpu', 'tensorflow');
  return order('too small for a GPU to pay', 'tensorflow', 'tensorflow-gpu', 'wasm', 'cpu');
}

function rounded(millions: number): string {
  return millions < 10 ? millions.toPrecision(2) : millions.toFixed(0);
}

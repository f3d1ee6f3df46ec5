/** Choice of the executor: the fastest one for a network's size that is installed and computes correctly. */
import { WorkbenchError } from '../run/errors.js';
import type { Executor } from './executor.js';
import { SimdExecutor } from './simd/executor.js';
import { kernelsRun } from './simd/kernels.js';
import { wrongInTrainingStep } from './training-step.js';

/**
 * Executors by name, for `--backend`: SIMD kernels, which need nothing but Node; a card of any maker by WebGPU; native TensorFlow on the
 * processor and on a GPU; tfjs in WebAssembly, the reference that the others are held to.
 */
export const executorNames = ['simd', 'webgpu', 'tensorflow', 'tensorflow-gpu', 'wasm'] as const;
/** One of `executorNames`. */
export type ExecutorName = (typeof executorNames)[number];

/** Parses a name or `auto` of a command line. @throws WorkbenchError `usage` for another word */
export function executorOf(word: string): ExecutorName | 'auto' {
  const name = [...executorNames, 'auto' as const].find((known) => known === word);
  if (name) return name;
  const message = `expected auto, ${executorNames.join(', ')}, got ${JSON.stringify(word)}, at --backend`;
  throw new WorkbenchError('usage', message);
}

/** Result of trying one executor. */
export interface ExecutorProbe {
  name: ExecutorName;
  found: boolean;
  /** Why it was taken or not. */
  reason: string;
  /** Remedy if it is missing. */
  remedy?: string | undefined;
  executor?: Executor;
}

/** Those that were found to compute correctly in this process are not tried again. */
const proven = new Set<ExecutorName>();

/**
 * Opens an executor.
 * @param wanted its name, or `auto` for the fastest that works
 * @param size of the networks, by which `auto` chooses; default large ones
 * @returns it with the reason, as half a sentence
 * @throws WorkbenchError `native` when what is wanted does not work
 */
export async function openExecutor(
  wanted: ExecutorName | 'auto' = 'auto',
  size?: NetworkSize,
): Promise<{ executor: Executor; name: ExecutorName; why: string }> {
  if (size?.simdAlone) requireSimd(wanted);
  const { names, why } = wanted === 'auto' ? autoOrder(size) : { names: [wanted], why: 'asked for' };
  const probes: ExecutorProbe[] = [];
  for (const name of names) {
    const probe = await probeExecutor(name);
    if (probe.executor) return { executor: probe.executor, name, why };
    probes.push(probe);
  }
  const remedy = wanted === 'auto' ? undefined : probes[0]!.remedy;
  const got = probes.map((probe) => `${probe.name}: ${probe.reason}`).join('; ');
  throw new WorkbenchError('native', `expected a working executor, got none: ${got}`, {
    hint: `${remedy === undefined ? '' : `To get it: ${remedy}. `}\`kgwalk doctor\` lists the executors of this machine; \`--backend simd\` needs nothing but Node.`,
  });
}

/** Refuses another executor than SIMD kernels, for networks that they alone compute. @throws WorkbenchError `native` */
export function requireSimd(wanted: ExecutorName | 'auto'): void {
  if (wanted === 'auto' || wanted === 'simd') return;
  const message = `expected the backend simd, which alone has the operations of these networks, got ${wanted}`;
  throw new WorkbenchError('native', message, { hint: 'Set backend=auto, or leave --backend out.' });
}

/** Tries one: loads it and, the first time, compares a training step with the same in SIMD kernels. */
export async function probeExecutor(name: ExecutorName): Promise<ExecutorProbe> {
  try {
    if (name === 'simd') {
      if (!kernelsRun()) return { name, found: false, reason: 'this Node has no WebAssembly SIMD' };
      return { name, found: true, reason: 'trains a small network correctly', executor: new SimdExecutor() };
    }
    // Megabytes, which a run on SIMD kernels does without.
    const executor =
      name === 'webgpu'
        ? await (await import('./webgpu/executor.js')).openWebGpu()
        : await (await import('./tfjs/open.js')).openTfjs(name);
    const wrong = proven.has(name) ? undefined : await wrongInTrainingStep(executor);
    if (wrong !== undefined) {
      return {
        name,
        found: false,
        reason: `computes wrong numbers: ${wrong}`,
        remedy: 'other drivers, or another executor',
      };
    }
    proven.add(name);
    return { name, found: true, reason: 'trains a small network correctly', executor };
  } catch (error) {
    if (error instanceof WorkbenchError) return { name, found: false, reason: error.message, remedy: error.hint };
    const [firstLine] = String(error instanceof Error ? error.message : error).split('\n');
    return { name, found: false, reason: `it does not load here (${firstLine})` };
  }
}

/** The largest product of one training step: [rows, inputs] × [inputs, units]. */
export interface NetworkSize {
  rows: number;
  inputs: number;
  units: number;
  /** Set for networks with operations that SIMD kernels alone have. */
  simdAlone?: boolean;
}

/** Million multiply-adds of the largest product from which on a GPU pays (docs/decisions/backends.md). */
const worthAGpu = 100;

/** The order to try executors in, and why, as half a sentence. Without a size: the order for large networks. */
export function autoOrder(size?: NetworkSize): { names: readonly ExecutorName[]; why: string } {
  if (size === undefined) return { names: ['tensorflow-gpu', 'simd'], why: 'the first that works' };
  const { rows, inputs, units, simdAlone } = size;
  if (simdAlone) return { names: ['simd'], why: 'the only one for these networks' };
  const millions = (rows * inputs * units) / 1e6;
  const shown = millions < 10 ? millions.toPrecision(2) : millions.toFixed(0);
  const product = `the largest product is ${rows} × ${inputs} × ${units}, ${shown} million multiply-adds`;
  return millions >= worthAGpu
    ? { names: ['tensorflow-gpu', 'simd'], why: `${product}, where a GPU pays, else SIMD kernels` }
    : { names: ['simd'], why: `${product}, where SIMD kernels are fastest` };
}

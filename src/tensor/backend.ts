/**
 * The ladder of tensor backends: the fastest one that is installed and computes correctly. The only file that loads
 * tfjs; everything else receives the module it returns, so that what needs no tensors works without them.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { WorkbenchError } from '../run/errors.js';
import { describeNativeTensorflow, registerNativeTensorflow } from './native-tensorflow.js';

/** The tfjs module, as a value that is passed around. */
export type Tf = typeof import('@tensorflow/tfjs');

/** Rungs in the order in which they are tried. `tensorflow` is native TensorFlow (tfjs-node-gpu), on a GPU where it sees one. */
export const backendNames = ['tensorflow', 'wasm', 'cpu'] as const;
/** One of `backendNames`. */
export type BackendName = (typeof backendNames)[number];

/** A rung or `auto` from a command line. @throws WorkbenchError `usage` for another word */
export function backendOf(word: string): BackendName | 'auto' {
  const name = [...backendNames, 'auto' as const].find((known) => known === word);
  if (name) return name;
  throw new WorkbenchError(
    'usage',
    `expected auto, ${backendNames.join(', ')}, got ${JSON.stringify(word)}, at --backend`,
  );
}

/** What one rung said when it was tried. */
export interface BackendProbe {
  name: BackendName;
  found: boolean;
  /** Why it was taken or not, and for a missing one how to get it. */
  reason: string;
}

const require = createRequire(import.meta.url);

/**
 * Opens a backend.
 * @param wanted a rung, or `auto` for the first that works
 * @throws WorkbenchError `native` when the wanted rung does not work
 */
export async function openBackend(wanted: BackendName | 'auto' = 'auto'): Promise<{ tf: Tf; name: BackendName }> {
  const names = wanted === 'auto' ? backendNames : [wanted];
  const probes: BackendProbe[] = [];
  for (const name of names) {
    const probe = await probeBackend(name);
    if (probe.found) return { tf: await loadTf(), name };
    probes.push(probe);
  }
  throw new WorkbenchError(
    'native',
    `expected a working tensor backend, got none: ${probes.map((probe) => `${probe.name}: ${probe.reason}`).join('; ')}`,
    { hint: '`kgwalk doctor` lists the backends of this machine; `--backend wasm` works everywhere.' },
  );
}

/** Tries one rung: loads it, makes it the active backend and checks a gradient against its closed form. */
export async function probeBackend(name: BackendName): Promise<BackendProbe> {
  const tf = await loadTf();
  try {
    if (name === 'tensorflow') await registerNativeTensorflow(tf);
    if (name === 'wasm') {
      const wasm = await import('@tensorflow/tfjs-backend-wasm');
      wasm.setWasmPaths(join(dirname(require.resolve('@tensorflow/tfjs-backend-wasm/package.json')), 'wasm-out/'));
    }
    if (!(await tf.setBackend(name))) return { name, found: false, reason: 'it did not start' };
    await tf.ready();
    if (!computesCorrectly(tf)) return { name, found: false, reason: 'its gradient of a small product is wrong' };
    const which = name === 'tensorflow' ? `${describeNativeTensorflow(tf)}, ` : '';
    return { name, found: true, reason: `${which}computes a checked gradient` };
  } catch (error) {
    if (error instanceof WorkbenchError) return { name, found: false, reason: error.message };
    const remedy = name === 'tensorflow' ? '; its native part is not installed' : '';
    return { name, found: false, reason: `it does not load here${remedy} (${firstLine(error)})` };
  }
}

/** d/dW sum(tanh(xW)²) for x = [1, 2], W = [[0.1], [-0.2]]: 2·t·(1−t²)·x with t = tanh(−0.3). */
function computesCorrectly(tf: Tf): boolean {
  return tf.tidy(() => {
    const x = tf.tensor2d([1, 2], [1, 2]);
    const gradient = tf.grad((w) => tf.sum(tf.square(tf.tanh(tf.matMul(x, w)))))(tf.tensor2d([0.1, -0.2], [2, 1]));
    const t = Math.tanh(-0.3);
    const slope = 2 * t * (1 - t * t);
    const [first, second] = gradient.dataSync();
    return Math.abs(first! - slope) < 1e-4 && Math.abs(second! - 2 * slope) < 1e-4;
  });
}

let loading: Promise<Tf> | undefined;

function loadTf(): Promise<Tf> {
  loading ??= import('@tensorflow/tfjs').then((tf) => {
    tf.enableProdMode();
    return tf;
  });
  return loading;
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n')[0]!;
}

/** Loads tfjs and starts one of its backends. Only this file loads it; others receive the module. */
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { WorkbenchError } from '../../run/errors.js';
import { packageVersion } from '../../run/environment.js';
import { TfjsExecutor } from './executor.js';
import type { Tf } from './memory.js';
import { nativeRemedy, nativeTensorflowOn, registerNativeTensorflow } from './native-tensorflow.js';

/** By `require`: of CommonJS files of megabytes `import` reads the names of all that they export, for half a second. */
const require = createRequire(import.meta.url);

/** @throws WorkbenchError `native` where native TensorFlow, or the device that is asked for, is not here; and any error of loading */
export async function openTfjs(name: 'wasm' | 'tensorflow' | 'tensorflow-gpu'): Promise<TfjsExecutor> {
  if (packageVersion(name === 'wasm' ? '@tensorflow/tfjs-backend-wasm' : '@tensorflow/tfjs-core') === undefined) {
    const packages = 'npm install @tensorflow/tfjs-core @tensorflow/tfjs-backend-wasm';
    throw new WorkbenchError('native', 'TensorFlow.js is not installed', {
      hint: name === 'wasm' ? packages : nativeRemedy,
    });
  }
  const tf = require('@tensorflow/tfjs-core') as Tf;
  tf.enableProdMode();
  if (name === 'wasm') {
    const wasm = require('@tensorflow/tfjs-backend-wasm') as typeof import('@tensorflow/tfjs-backend-wasm');
    wasm.setWasmPaths(join(dirname(require.resolve('@tensorflow/tfjs-backend-wasm/package.json')), 'wasm-out/'));
    await withoutItsListeners(() => start(tf, 'wasm'));
    return new TfjsExecutor(tf, name, 'wasm');
  }
  registerNativeTensorflow(tf);
  await start(tf, 'tensorflow');
  nativeTensorflowOn(tf, name === 'tensorflow-gpu' ? 'GPU' : 'processor');
  return new TfjsExecutor(tf, name, 'tensorflow');
}

async function start(tf: Tf, backend: string): Promise<void> {
  if (!(await tf.setBackend(backend))) throw new Error('it did not start');
  await tf.ready();
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

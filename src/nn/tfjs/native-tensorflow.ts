/** The native half of TensorFlow: where it lies, and how tfjs gets it as a backend. */
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { env } from 'node:process';
import { WorkbenchError } from '../../run/errors.js';
import { kgwalkHome } from '../../run/locations.js';
import type { Tf } from './memory.js';

/** The package with the JavaScript half and the sources of the native one. */
export const nativePackage = '@tensorflow/tfjs-node-gpu';

/** The built file in the native folder. */
export const nativeAddon = 'tfjs_binding.node';

/** Command that brings the native half. */
export const nativeRemedy = 'kgwalk native install (for an NVIDIA card: kgwalk native install --gpu)';

/** Target of `kgwalk native install`: `KGWALK_NATIVE`, default `native` in `KGWALK_HOME`; `npm ci` would empty `node_modules`. */
export const nativeFolder = (): string =>
  env.KGWALK_NATIVE ? resolve(env.KGWALK_NATIVE) : join(kgwalkHome(), 'native');

const require = createRequire(import.meta.url);

/**
 * Registers the backend `tensorflow`: with the addon of the native folder, else with one inside the package itself.
 * @throws WorkbenchError `native` for a world-writable addon, and any error of loading
 */
export function registerNativeTensorflow(tf: Tf): void {
  // The library prints at every start how it was compiled.
  env.TF_CPP_MIN_LOG_LEVEL ??= '2';
  restoreUtil();
  const addon = join(nativeFolder(), nativeAddon);
  if (!existsSync(addon)) return registerPackage();
  refuseOpenTo(addon);
  // The package's own entry looks for the addon inside the package alone; these two files are what it is made of.
  require(`${nativePackage}/dist/register_all_kernels.js`);
  const { NodeJSKernelBackend } = require(`${nativePackage}/dist/nodejs_kernel_backend.js`) as {
    NodeJSKernelBackend: new (
      addon: unknown,
      name: string,
    ) => Parameters<Tf['registerBackend']>[1] extends () => infer B ? Awaited<B> : never;
  };
  if (tf.findBackendFactory('tensorflow') === null) {
    tf.registerBackend('tensorflow', () => new NodeJSKernelBackend(require(addon), nativePackage));
  }
}

/** The package asks `node:util` for two functions that Node 23 took away. */
function restoreUtil(): void {
  const util = require('node:util') as { isNullOrUndefined?: unknown; isArray?: unknown };
  util.isNullOrUndefined ??= (value: unknown) => value === null || value === undefined;
  util.isArray ??= Array.isArray;
}

/** Package with its own addon, as its install script or `npm rebuild` leave it. */
function registerPackage(): void {
  try {
    require(nativePackage);
  } catch (error) {
    throw new WorkbenchError('native', 'its native part is not installed', {
      hint: nativeRemedy,
      cause: error,
    });
  }
}

/** It is code that will run: where everybody may change it, it may be anybody's. */
function refuseOpenTo(addon: string): void {
  const open = [addon, dirname(addon)].find((path) => statSync(path).mode & 0o002);
  if (open === undefined) return;
  throw new WorkbenchError('native', `expected an addon that not everybody may write, got one of all, at ${open}`, {
    hint: 'Take the right away (chmod -R o-w), if you know who wrote it; or build it again: kgwalk native install.',
  });
}

/** Device of the active library, in words. @throws WorkbenchError `native` where that is not `wanted` */
export function nativeTensorflowOn(tf: Tf, wanted: 'GPU' | 'processor'): string {
  const { binding, isUsingGpuDevice } = tf.backend() as unknown as {
    binding: { TF_Version: string };
    isUsingGpuDevice: boolean;
  };
  const library = `TensorFlow ${binding.TF_Version}`;
  if (isUsingGpuDevice === (wanted === 'GPU')) return `${library} on ${isUsingGpuDevice ? 'a GPU' : 'the processor'}`;
  if (isUsingGpuDevice) {
    throw new WorkbenchError('native', `${library} computes on the GPU that it sees`, {
      hint: 'use `tensorflow-gpu`, or hide the card from this process: CUDA_VISIBLE_DEVICES=-1',
    });
  }
  if (!existsSync(join(nativeFolder(), 'nvidia'))) {
    throw new WorkbenchError('native', `${library} is here, built for the processor`, {
      hint: 'for an NVIDIA card: kgwalk native install --gpu',
    });
  }
  throw new WorkbenchError('native', `${library} is here, built for CUDA, and sees no GPU`, {
    hint: 'needs an NVIDIA card and its driver (`nvidia-smi` lists both); in a container also --gpus all',
  });
}

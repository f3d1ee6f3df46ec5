/** WebGPU outside of browsers: Dawn from the optional package `webgpu`, and how tfjs gets a device of it as a backend. */
import { readdirSync } from 'node:fs';
import { env, platform } from 'node:process';
import type { NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { WorkbenchError } from '../run/errors.js';
import type { Tf } from './ops.js';

interface WebgpuDevice {
  /** The device and its driver, as they call themselves, such as `nvidia-h200, NVIDIA: 580.159.04`. */
  name: string;
  /** Set for a device in software, which is slower than every other backend. */
  software: boolean;
}

let opened: WebgpuDevice | undefined;

/**
 * Registers the backend `webgpu` on the fastest device there is; a second call answers with the same one.
 * @throws WorkbenchError `native` without the package, without a device, or when the device cannot be opened
 */
export async function registerWebgpu(tf: Tf): Promise<WebgpuDevice> {
  if (opened && tf.findBackendFactory('webgpu') !== null) return opened;
  const absent = (error: unknown) => {
    const hint = 'npm install webgpu @tensorflow/tfjs-backend-webgpu: they have what Linux, macOS and Windows need.';
    throw new WorkbenchError('native', `its packages do not load here: ${firstLine(error)}`, { hint });
  };
  const dawn = await import('webgpu').catch(absent);
  for (const [name, value] of Object.entries(dawn.globals)) {
    // tfjs looks for the classes and flags of a browser.
    if (!(name in globalThis)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  const gpu = instanceOf(dawn);
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) {
    throw new WorkbenchError('native', 'no device that WebGPU can use', { hint: driverRemedy });
  }
  const { WebGPUBackend } = await import('@tensorflow/tfjs-backend-webgpu').catch(absent);
  const device = await adapter.requestDevice({ requiredLimits: limitsOf(adapter.limits) });
  let failure: string | undefined;
  // Such errors arrive apart from their call, whose result is zeros.
  device.addEventListener('uncapturederror', (event) => {
    failure ??= firstLine((event as GPUUncapturedErrorEvent).error);
  });
  void device.lost.then(({ message }) => {
    failure ??= message;
  });

  class Backend extends WebGPUBackend {
    constructor(...made: ConstructorParameters<typeof WebGPUBackend>) {
      super(...made);
      boundFreeBuffers(this.bufferManager as unknown as Buffers);
    }

    override async read(dataId: object) {
      const values = await super.read(dataId);
      if (failure === undefined) return values;
      throw new WorkbenchError('native', `expected the GPU to compute, got: ${failure}`, {
        hint: 'A smaller minibatch needs less of its memory; `--backend wasm` does without it.',
      });
    }

    override readSync(dataId: object) {
      const known = this.tensorMap.get(dataId).values;
      if (known !== null && known !== undefined) return known as never;
      throw new WorkbenchError('failure', 'expected tensors on webgpu to be read by data(), got dataSync()');
    }
  }
  addInParts(tf, adapter.limits.maxStorageBuffersPerShaderStage - 1);
  tf.registerBackend('webgpu', () => withNavigator(gpu, () => new Backend(device, adapter.info)));
  opened = deviceOf(adapter.info);
  return opened;
}

/**
 * Whether there may be a GPU, without loading anything: on Linux a file of one, elsewhere always. `VK_ICD_FILENAMES` or
 * `VK_DRIVER_FILES` name a driver that needs none.
 */
export function mayHaveGpu(): boolean {
  if (platform !== 'linux' || env.VK_ICD_FILENAMES || env.VK_DRIVER_FILES) return true;
  return ['/dev', '/dev/dri'].some((folder) =>
    filesIn(folder).some((name) => /^(nvidia\d+|dxg|renderD\d+)$/.test(name)),
  );
}

/** Remedy for a missing device. */
export const driverRemedy =
  'needs a GPU and its Vulkan driver (Debian: apt-get install libvulkan1 mesa-vulkan-drivers; NVIDIA: its own driver, and ' +
  'libvulkan1 libegl1 libgl1 on a machine without a display); ' +
  'training works without it';

/**
 * One instance a process, which the native module itself holds: Dawn aborts the process when its instance is collected
 * before a device of it.
 */
function instanceOf({ create, globals }: { create(options: string[]): GPU; globals: object }): GPU {
  const held = globals as { [instance]?: GPU };
  if (!held[instance]) Object.defineProperty(held, instance, { value: create([]) });
  return held[instance]!;
}

const instance = Symbol.for('kgwalk.webgpu');

/** The largest that this device has, of the limits that kernels meet. */
function limitsOf(limits: GPUSupportedLimits): Record<string, number> {
  const names = [
    'maxStorageBuffersPerShaderStage',
    'maxComputeWorkgroupStorageSize',
    'maxComputeWorkgroupsPerDimension',
    'maxStorageBufferBindingSize',
    'maxBufferSize',
    'maxComputeWorkgroupSizeX',
    'maxComputeInvocationsPerWorkgroup',
  ] as const;
  return Object.fromEntries(names.map((name) => [name, limits[name]]));
}

/** The insides of the library's store of buffers: freed ones wait under their size and use for a tensor of the very same. */
interface Buffers {
  numBytesUsed: number;
  numBytesAllocated: number;
  numFreeBuffers: number;
  freeBuffers: Map<string, GPUBuffer[]>;
  releaseBuffer(buffer: GPUBuffer, reuse?: boolean): void;
}

/** Bytes of freed buffers that are kept in addition to twice the peak in use. */
const freeBytes = 2 ** 26;

/**
 * Gives freed buffers back once they are more than a step can take up again. The library keeps them for ever, and batches of walks
 * have other shapes each time, so that nothing but freed buffers would fill a card.
 */
function boundFreeBuffers(buffers: Buffers): void {
  const { releaseBuffer } = buffers;
  let most = 0;
  buffers.releaseBuffer = (buffer, reuse) => {
    most = Math.max(most, buffers.numBytesUsed);
    releaseBuffer.call(buffers, buffer, reuse);
    if (buffers.numBytesAllocated - buffers.numBytesUsed <= freeBytes + 2 * most) return;
    for (const waiting of buffers.freeBuffers.values()) {
      for (const { size } of waiting) buffers.numBytesAllocated -= size;
      buffers.numFreeBuffers -= waiting.length;
      for (const one of waiting.splice(0)) one.destroy();
    }
  };
}

/** The kernel of `addN` binds all of its inputs at once, of which a device takes few (eight are certain). */
function addInParts(tf: Tf, most: number): void {
  const stock = tf.getKernel('AddN', 'webgpu')!;
  tf.unregisterKernel('AddN', 'webgpu');
  tf.registerKernel({
    ...stock,
    kernelFunc: ({ backend, inputs, attrs }) => {
      const add = (parts: TensorInfo[]) =>
        stock.kernelFunc({ backend, inputs: parts as unknown as NamedTensorInfoMap, attrs }) as TensorInfo;
      const all = Object.values(inputs) as TensorInfo[];
      let sum = add(all.slice(0, most));
      for (let i = most; i < all.length; i += most - 1) {
        const before = sum;
        sum = add([before, ...all.slice(i, i + most - 1)]);
        (backend as { disposeData(id: object): void }).disposeData(before.dataId);
      }
      return sum;
    },
  });
}

/** The backend's constructor asks for `navigator.gpu`; other packages take a navigator for a browser. */
function withNavigator<T>(gpu: GPU, make: () => T): T {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true });
  try {
    return make();
  } finally {
    if (before) Object.defineProperty(globalThis, 'navigator', before);
    else delete (globalThis as { navigator?: unknown }).navigator;
  }
}

function deviceOf({ vendor, architecture, device, description, isFallbackAdapter }: GPUAdapterInfo): WebgpuDevice {
  const words = [vendor, architecture, device, description].join(' ');
  return {
    name: [device, description].filter(Boolean).join(', ') || architecture || vendor || 'unnamed',
    software: isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|softpipe|software|basic render/i.test(words),
  };
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function firstLine(error: unknown): string {
  return String((error as { message?: unknown })?.message ?? error).split('\n')[0]!;
}

/** A graphics card by WebGPU (Dawn): a memory of floats, one of integers, and a queue of kernels over both. */
import { readdirSync } from 'node:fs';
import { env, platform } from 'node:process';
import { WorkbenchError } from '../../run/errors.js';
import { Heap, type Memory } from './heap.js';

/** A kernel in WGSL, over `f`, the floats, `n`, the integers, and `p`, the arguments of a dispatch; see `wgsl.ts`. */
export interface Kernel {
  code: string;
  /** Kinds of the arguments: true for a float. The first is the number of elements. */
  floats: readonly boolean[];
  /** Elements of a workgroup. */
  each: number;
}

/** Calls to the device so far, for tests and benchmarks. */
export interface Calls {
  dispatches: number;
  submits: number;
  /** Reads that were waited for. */
  reads: number;
  /** Bytes from the host to the device, arguments of kernels apart. */
  bytesUp: number;
}

/** Arguments of a dispatch: at most 60 numbers, at a multiple of 256 bytes. */
const slotBytes = 256;
const mostSlots = 4096;
/** Groups along one dimension of a dispatch. */
const mostGroups = 65535;

/** Copies that come with one read. */
interface Reads {
  staging: GPUBuffer;
  /** Bytes of it that are taken. */
  used: number;
  waiting: { begin: number; end: number; resolve(values: ArrayBuffer): void; reject(error: Error): void }[];
}

/** Kernels are computed in the order in which they are queued, once something is read or the queue is full. */
export class Device {
  readonly calls: Calls = { dispatches: 0, submits: 0, reads: 0, bytesUp: 0 };
  /** While true, what computations copied stays until it turns false: many of them go in one submit. */
  keeps = false;
  /** Copies to the device that are made before the next submit. */
  readonly unsent = new Set<() => void>();
  readonly #gone = new FinalizationRegistry<() => void>((give) => {
    // What is queued may still use it.
    this.submit();
    give();
  });

  readonly floats: Heap;
  readonly ints: Heap;
  readonly layout: GPUBindGroupLayout;
  readonly #arguments = new ArrayBuffer(slotBytes * mostSlots);
  readonly #words = new Uint32Array(this.#arguments);
  readonly #numbers = new Float32Array(this.#arguments);
  readonly #slots: GPUBuffer;
  readonly #checks: Promise<void>[] = [];
  readonly #pipelines = new Map<Kernel, GPUComputePipeline>();
  #used = 0;
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #group: GPUBindGroup | undefined;
  #retired: GPUBuffer[] = [];
  #reads: Reads | undefined;
  #staging: GPUBuffer | undefined;
  #failure: string | undefined;

  constructor(
    readonly gpu: GPUDevice,
    readonly name: string,
  ) {
    this.#slots = this.#create(slotBytes * mostSlots, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    this.layout = gpu.createBindGroupLayout({
      entries: [
        { binding: 0, visibility: GPUShaderStage.COMPUTE, buffer: { type: 'storage' } },
        { binding: 1, visibility: GPUShaderStage.COMPUTE, buffer: { type: 'storage' } },
        { binding: 2, visibility: GPUShaderStage.COMPUTE, buffer: { type: 'uniform', hasDynamicOffset: true } },
      ],
    });
    const most = Math.min(gpu.limits.maxStorageBufferBindingSize, gpu.limits.maxBufferSize);
    this.floats = new Heap(most, (bytes, before) => this.#grown(bytes, before));
    this.ints = new Heap(most, (bytes, before) => this.#grown(bytes, before));
    // Such errors arrive apart from their call, whose result is zeros.
    gpu.addEventListener('uncapturederror', (event) => {
      this.#failure ??= firstLine((event as GPUUncapturedErrorEvent).error);
    });
    void gpu.lost.then(({ message }) => (this.#failure ??= `the device is lost: ${firstLine({ message })}`));
  }

  /** Calls `give`, which gives memory back, once nothing refers to its owner. */
  whenGone(owner: object, give: () => void): void {
    this.#gone.register(owner, give);
  }

  get waits(): boolean {
    return this.#used > 0;
  }

  get serial(): number {
    return this.calls.submits;
  }

  /** Queues a kernel for `count` elements. @returns its slot, until the next submit */
  queue(kernel: Kernel, count: number, ...args: readonly number[]): number {
    return count === 0 ? -1 : this.dispatch(kernel, [count, ...args], spread(Math.ceil(count / kernel.each)));
  }

  /** Queues a kernel with its groups in two dimensions. */
  dispatch(kernel: Kernel, args: readonly number[], [x, y]: readonly [number, number]): number {
    if (this.#used === mostSlots) this.submit();
    const slot = this.#used++;
    const begin = (slot * slotBytes) / 4;
    for (let i = 0; i < args.length; i++) (kernel.floats[i] ? this.#numbers : this.#words)[begin + i] = args[i]!;
    const pass = (this.#pass ??= this.#encoding().beginComputePass());
    pass.setPipeline(this.#compiled(kernel));
    pass.setBindGroup(0, (this.#group ??= this.#bound()), [slot * slotBytes]);
    pass.dispatchWorkgroups(x, y);
    this.calls.dispatches++;
    return slot;
  }

  #compiled(kernel: Kernel): GPUComputePipeline {
    let pipeline = this.#pipelines.get(kernel);
    if (!pipeline) {
      const { gpu } = this;
      const layout = gpu.createPipelineLayout({ bindGroupLayouts: [this.layout] });
      const compute = { module: gpu.createShaderModule({ code: kernel.code }), entryPoint: 'main' };
      pipeline = gpu.createComputePipeline({ layout, compute });
      this.#pipelines.set(kernel, pipeline);
    }
    return pipeline;
  }

  /** Changes an argument of a kernel that is queued. */
  change(slot: number, argument: number, word: number): void {
    this.#words[(slot * slotBytes) / 4 + argument] = word;
  }

  /** Copies numbers to the device, after all that was queued. */
  write(memory: Memory, at: number, values: Float32Array | Int32Array): void {
    if (values.length === 0) return;
    this.submit();
    this.send(memory, at, values);
  }

  /** The same before what is queued, for memory that it does not use yet. */
  send(memory: Memory, at: number, values: Float32Array | Int32Array): void {
    this.gpu.queue.writeBuffer(this[memory].buffer, 4 * at, values as Float32Array<ArrayBuffer>);
    this.calls.bytesUp += values.byteLength;
  }

  /** Sends what is queued. */
  submit(): void {
    this.#endPass();
    for (const send of this.unsent) send();
    this.unsent.clear();
    if (this.#used > 0) this.gpu.queue.writeBuffer(this.#slots, 0, this.#arguments, 0, this.#used * slotBytes);
    if (this.#encoder) {
      this.gpu.queue.submit([this.#encoder.finish()]);
      this.calls.submits++;
    }
    this.#encoder = undefined;
    this.#used = 0;
    for (const buffer of this.#retired.splice(0)) buffer.destroy();
  }

  /**
   * Copies of numbers as they are once all that is queued is computed; those asked for at the same time come in one read.
   * @throws WorkbenchError `native` where the device ran out of memory or was lost
   */
  read(memory: Memory, at: number, length: number): Promise<ArrayBuffer> {
    const bytes = 4 * length;
    if (this.#reads && this.#reads.used + bytes > this.#reads.staging.size) void this.#readAll();
    const reads = (this.#reads ??= this.#stage(bytes));
    const begin = reads.used;
    reads.used += bytes;
    this.#endPass();
    if (length > 0) this.#encoding().copyBufferToBuffer(this[memory].buffer, 4 * at, reads.staging, begin, bytes);
    return new Promise((resolve, reject) => reads.waiting.push({ begin, end: begin + bytes, resolve, reject }));
  }

  /** Begins a read with room for so many bytes at least, by the buffer of the one before where that is back. */
  #stage(bytes: number): Reads {
    const kept = this.#staging;
    this.#staging = undefined;
    const fits = kept && kept.size >= bytes;
    if (kept && !fits) kept.destroy();
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, 2 ** 20)));
    const staging = fits ? kept : this.#create(size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    // The next turn: those of several networks come together.
    setImmediate(() => void this.#readAll());
    return { staging, used: 0, waiting: [] };
  }

  async #readAll(): Promise<void> {
    const reads = this.#reads;
    if (!reads) return;
    this.#reads = undefined;
    const { staging, used, waiting } = reads;
    try {
      this.submit();
      this.calls.reads++;
      await Promise.all([staging.mapAsync(GPUMapMode.READ, 0, Math.max(4, used)), ...this.#checks.splice(0)]);
      this.#check();
      const values = staging.getMappedRange(0, Math.max(4, used)).slice(0);
      staging.unmap();
      this.#staging ??= staging;
      if (this.#staging !== staging) staging.destroy();
      for (const { begin, end, resolve } of waiting) resolve(values.slice(begin, end));
    } catch (error) {
      this.#failure ??= firstLine(error);
      const failed = error instanceof WorkbenchError ? error : failedWith(this.#failure);
      for (const { reject } of waiting) reject(failed);
    }
  }

  #check(): void {
    if (this.#failure !== undefined) throw failedWith(this.#failure);
  }

  /** Copies stand between passes. */
  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
  }

  #encoding(): GPUCommandEncoder {
    return (this.#encoder ??= this.gpu.createCommandEncoder());
  }

  #bound(): GPUBindGroup {
    const { layout } = this;
    return this.gpu.createBindGroup({
      layout,
      entries: [
        { binding: 0, resource: { buffer: this.floats.buffer } },
        { binding: 1, resource: { buffer: this.ints.buffer } },
        { binding: 2, resource: { buffer: this.#slots, offset: 0, size: slotBytes } },
      ],
    });
  }

  /** A larger memory with what the one before holds. */
  #grown(bytes: number, before: GPUBuffer | undefined): GPUBuffer {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
    const buffer = this.#create(bytes, usage);
    if (before) {
      this.#endPass();
      this.#encoding().copyBufferToBuffer(before, 0, buffer, 0, before.size);
      // What is written from now on must come after the copy.
      this.#retired.push(before);
      this.submit();
    }
    this.#group = undefined;
    return buffer;
  }

  #create(size: number, usage: number): GPUBuffer {
    this.gpu.pushErrorScope('out-of-memory');
    const buffer = this.gpu.createBuffer({ size, usage });
    const check = this.gpu.popErrorScope().then((error) => {
      if (error) this.#failure ??= `its memory is full: ${firstLine(error)}`;
    });
    this.#checks.push(check);
    return buffer;
  }
}

function spread(groups: number): [number, number] {
  return groups <= mostGroups ? [groups, 1] : [mostGroups, Math.ceil(groups / mostGroups)];
}

const failedWith = (failure: string) =>
  new WorkbenchError('native', `expected the card to compute, got: ${failure}`, {
    hint: 'Smaller batches need less of its memory; `--backend simd` does without a card.',
  });

const opened = new Map<string, Promise<Device>>();

/**
 * Opens the fastest device, once a process.
 * @param option of Dawn, such as `backend=null`, which computes nothing; default: a card by its driver
 * @throws WorkbenchError `native` without the package or without a device
 */
export function openDevice(option = ''): Promise<Device> {
  const device =
    opened.get(option) ??
    open(option).catch((error: unknown) => {
      opened.delete(option);
      throw error;
    });
  opened.set(option, device);
  return device;
}

async function open(option: string): Promise<Device> {
  if (!option && !mayHaveGpu()) throw new WorkbenchError('native', 'no card is there', { hint: driverRemedy });
  const dawn = await import('webgpu').catch((error: unknown) => {
    const hint = 'npm install webgpu: it has what Linux, macOS and Windows need.';
    throw new WorkbenchError('native', `its package does not load here: ${firstLine(error)}`, { hint });
  });
  for (const [name, value] of Object.entries(dawn.globals)) {
    // The flags of buffers, as a browser has them.
    if (!(name in globalThis)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  const adapter = await instanceOf(dawn, option).requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new WorkbenchError('native', 'no device that WebGPU can use', { hint: driverRemedy });
  const { maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
  const gpu = await adapter.requestDevice({ requiredLimits: { maxStorageBufferBindingSize, maxBufferSize } });
  return new Device(gpu, nameOf(adapter.info));
}

/**
 * One instance a process, which the native module itself holds: Dawn aborts the process when its instance is collected before a
 * device of it.
 */
function instanceOf({ create, globals }: { create(options: string[]): GPU; globals: object }, option: string): GPU {
  const held = globals as Record<symbol, GPU | undefined>;
  const instance = Symbol.for(`kgwalk.webgpu ${option}`);
  if (!held[instance]) Object.defineProperty(held, instance, { value: create(option ? [option] : []) });
  return held[instance]!;
}

/**
 * True where there may be a card, without loading anything: on Linux by its file, elsewhere always. `VK_ICD_FILENAMES` and
 * `VK_DRIVER_FILES` name a driver that needs none.
 */
function mayHaveGpu(): boolean {
  if (platform !== 'linux' || env.VK_ICD_FILENAMES || env.VK_DRIVER_FILES) return true;
  return ['/dev', '/dev/dri'].some((folder) =>
    filesIn(folder).some((name) => /^(nvidia\d+|dxg|renderD\d+)$/.test(name)),
  );
}

const driverRemedy =
  'needs a card and its Vulkan driver (Debian: apt-get install libvulkan1 mesa-vulkan-drivers; NVIDIA: its own driver, and ' +
  'libvulkan1 libegl1 libgl1 on a machine without a display); training works without it';

function nameOf({ vendor, architecture, device, description }: GPUAdapterInfo): string {
  return [device, description].filter(Boolean).join(', ') || architecture || vendor || 'unnamed';
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

/** The memory of training with SIMD kernels. */
import { Arena } from '../../src/simd/arena.js';
import { openKernels, type Kernels } from '../../src/simd/kernels.js';
import type { WasmMemory } from '../../src/simd/web-assembly.js';
import type { TransEWork } from './transe-work.js';

/** Positives that are drawn and trained in one call where batches are smaller. */
export const leastBlock = 32;

/** What the kernels use beside the arrays of the work. */
export interface SimdRoom {
  memory: WasmMemory;
  /** float32 [places of a batch or a block, any]: what was drawn for a positive, and what its moves are. */
  places: Float32Array;
  /** int32 [places, 4]: state of the generator of each place. */
  streams: Int32Array;
  /** int32, one a thread. */
  scratch: Int32Array[];
}

/**
 * The work with its arrays in the memory of kernels, and room for them.
 * @throws WorkbenchError `native` where there is no WebAssembly SIMD
 */
export function inArena(work: TransEWork, threads: number): TransEWork {
  const arena = new Arena();
  const held = arena.hold(work);
  const kernels = openKernels(arena.memory);
  describe(kernels, held);
  const places = Math.max(leastBlock, Math.min(work.settings.batchSize, work.order.length));
  const simd: SimdRoom = {
    memory: arena.memory,
    places: arena.float32((places * kernels.transePlaceBytes()) / 4),
    streams: arena.int32(places * 4),
    scratch: Array.from({ length: threads }, () => arena.int32(kernels.transeScratchBytes() / 4)),
  };
  return { ...held, simd };
}

/** The kernels over the work's arrays, for one of its threads. */
export function openTransEKernels(work: TransEWork, thread: number): Kernels {
  const { memory, places, streams, scratch } = work.simd!;
  const kernels = openKernels(memory);
  describe(kernels, work);
  kernels.transeRoom(places.byteOffset, streams.byteOffset, scratch[thread]!.byteOffset);
  return kernels;
}

function describe(kernels: Kernels, { state, settings, train, trainSet, tailChance }: TransEWork): void {
  const { table, entitySquares, relationSquares } = state;
  const { entities, relations, numEntities, dim } = table;
  const at = (array: ArrayBufferView) => array.byteOffset;
  kernels.transeTable(at(entities), at(relations), at(entitySquares), at(relationSquares), numEntities, dim);
  const { slots, filter } = trainSet;
  kernels.transeTriples(
    at(train.heads),
    at(train.relations),
    at(train.tails),
    at(slots),
    slots.length,
    at(filter),
    filter.length,
    at(tailChance),
  );
  const { norm, loss, margin, temperature, negativeCutoff, optimizer, negatives } = settings;
  const flags = [loss === 'margin', optimizer === 'adagrad'].map(Number) as [number, number];
  kernels.transeSettings(norm, flags[0], margin, temperature, negativeCutoff, flags[1], negatives);
}

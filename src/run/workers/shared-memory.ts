/** Memory that all threads see. */

/** A typed array of numbers, as work for several threads holds them. */
type Numbers = Int8Array | Int32Array | Float32Array | Float64Array;

/**
 * A copy of plain data (objects, arrays, numbers, texts) in which every typed array lies in shared memory: sent to a
 * worker, those arrays stay the same memory, and everything else is copied. Views of one buffer become buffers of their own.
 */
export function inSharedMemory<T>(value: T): T {
  if (ArrayBuffer.isView(value)) return sharedCopy(value as unknown as Numbers) as T;
  if (Array.isArray(value)) return value.map(inSharedMemory) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inSharedMemory(part as unknown)])) as T;
}

function sharedCopy(numbers: Numbers): Numbers {
  const type = numbers.constructor as new (buffer: SharedArrayBuffer) => Numbers;
  const copy = new type(new SharedArrayBuffer(numbers.byteLength));
  copy.set(numbers);
  return copy;
}

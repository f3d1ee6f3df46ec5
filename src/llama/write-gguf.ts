/** Writes a GGUF model file, version 3. @source ggml docs/gguf.md */
import { blockValues, toBlocks, toFloat16 } from './write-types.js';
import { WorkbenchError } from '../run/errors.js';
import { writeFileAtomic } from '../run/files.js';

/** A metadata value; a plain number has no type in the format, so each says its own. Int32Array and Float32Array are arrays. */
export type GgufEntryValue =
  string | boolean | { uint32: number } | { float32: number } | readonly string[] | Int32Array | Float32Array;

export interface GgufTensorData {
  name: string;
  /** Sizes, fastest first: a matrix that maps `in` to `out`, stored row by row, is `[in, out]`. */
  shape: readonly number[];
  /** Storage format of the values; of Q8_0 the fastest size is a multiple of `blockValues`. */
  type: keyof typeof types;
  values: Float32Array;
}

const alignment = 32;
const types = { F32: 0, F16: 1, Q8_0: 8 };

/**
 * Writes the file at once and whole; the same input gives the same bytes.
 * @param metadata in this order; the default alignment of 32 holds
 * @throws WorkbenchError `data` for a value that its type cannot hold (not finite, beyond ±65,504 but as F32) or a
 *   tensor whose shape does not fit; `failure` when the place cannot be written
 */
export function writeGguf(
  path: string,
  metadata: Readonly<Record<string, GgufEntryValue>>,
  tensors: readonly GgufTensorData[],
): void {
  const entries = Object.entries(metadata);
  const data = tensors.map((tensor) => padded(tensorData(tensor, path)));
  let offset = 0;
  const listed = tensors.flatMap(({ name, shape, type }, index) => {
    const at = offset;
    offset += data[index]!.length;
    return [text(name), uint32(shape.length), ...shape.map(uint64), uint32(types[type]), uint64(at)];
  });
  const header = Buffer.concat([
    Buffer.from('GGUF'),
    uint32(3),
    uint64(tensors.length),
    uint64(entries.length),
    ...entries.flatMap(([key, value]) => [text(key), ...entry(value)]),
    ...listed,
  ]);
  writeFileAtomic(path, [padded(header), ...data]);
}

function tensorData({ name, shape, type, values }: GgufTensorData, path: string): Buffer {
  const size = shape.reduce((product, length) => product * length, 1);
  const refuse = (got: string) =>
    new WorkbenchError('data', `expected ${size} finite ${type} values for ${name}, got ${got}, at ${path}`);
  if (values.length !== size) throw refuse(`${values.length}`);
  const largest = type === 'F32' ? Number.MAX_VALUE : 65_504;
  const wrong = values.findIndex((value) => !(Math.abs(value) <= largest));
  if (wrong >= 0) throw refuse(`${values[wrong]} at ${wrong}`);
  if (type === 'Q8_0') {
    if (shape[0]! % blockValues !== 0) throw refuse(`rows of ${shape[0]}, no multiple of ${blockValues}`);
    return toBlocks(values);
  }
  const stored = type === 'F16' ? toFloat16(values) : values;
  return Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}

/** Type number and value. */
function entry(value: GgufEntryValue): Buffer[] {
  if (typeof value === 'string') return [uint32(8), text(value)];
  if (typeof value === 'boolean') return [uint32(7), Buffer.from([Number(value)])];
  if (value instanceof Int32Array) return array(5, value.length, bytesOf(value));
  if (value instanceof Float32Array) return array(6, value.length, bytesOf(value));
  if ('uint32' in value) return [uint32(4), uint32(value.uint32)];
  if ('float32' in value) return [uint32(6), bytesOf(Float32Array.of(value.float32))];
  return array(8, value.length, ...value.map(text));
}

function array(type: number, length: number, ...values: Buffer[]): Buffer[] {
  return [uint32(9), uint32(type), uint64(length), ...values];
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

/** Bytes in memory order, which is little-endian on all supported platforms. */
function bytesOf(values: Int32Array | Float32Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** What a GGUF file says about itself, read and checked before anything heavy loads it. @source ggml docs/gguf.md */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { WorkbenchError } from '../../run/errors.js';
import { refuseSpecial } from '../../run/files.js';

/** A metadata value that is kept; arrays are counted only. */
type GgufValue = string | number | boolean;

interface GgufTensor {
  name: string;
  /** Sizes, fastest first, as the file states them. */
  shape: number[];
  /** ggml's type number. */
  type: number;
  /** Bytes from the start of the tensor data. */
  offset: number;
}

export interface GgufHeader {
  version: number;
  /** Scalar entries and strings up to 64 KiB; arrays (vocabularies) are checked and left out. */
  metadata: ReadonlyMap<string, GgufValue>;
  /** Lengths of the arrays, by key. */
  arrayLengths: ReadonlyMap<string, number>;
  tensors: readonly GgufTensor[];
  dataStart: number;
}

/** Names the flaw; the path is added where it is known. */
class Malformed extends Error {}

/**
 * Reads the header and checks that the file is long enough for every tensor it lists. Costs one pass over the header
 * (megabytes at most), whatever lengths a damaged or hostile file states.
 * @throws WorkbenchError `data` when the file is missing, is not GGUF, is cut short or contradicts itself
 */
export function readGgufHeader(path: string): GgufHeader {
  const problem = (got: string, hint: string, cause?: unknown) =>
    new WorkbenchError('data', `expected a whole GGUF model file, got ${got}, at ${path}`, { hint, cause });
  refuseSpecial(path, 'a whole GGUF model file');
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw problem(code === 'ENOENT' ? 'nothing' : `${code}`, 'Check the name and the folder.', error);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw problem('a folder or device', 'Name the .gguf file itself.');
    return parse(new Cursor(descriptor, stat.size));
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw problem(error.message, 'Get the file again and compare its size and sha256 with the source.', error);
  } finally {
    closeSync(descriptor);
  }
}

function parse(cursor: Cursor): GgufHeader {
  if (cursor.size < 4 || cursor.text(4) !== 'GGUF') throw new Malformed('a file that does not start with "GGUF"');
  const version = cursor.uint32();
  if (version === 0x03000000 || version === 0x02000000) throw new Malformed('a big-endian GGUF file');
  if (version !== 2 && version !== 3) throw new Malformed(`GGUF version ${version} (2 and 3 are known)`);
  const tensorCount = cursor.count(24, 'tensors');
  const entryCount = cursor.count(12, 'metadata entries');

  const metadata = new Map<string, GgufValue>();
  const arrayLengths = new Map<string, number>();
  for (let i = 0; i < entryCount; i++) {
    const key = cursor.shortText('a key');
    const type = cursor.uint32();
    if (type === arrayType) arrayLengths.set(key, skipArray(cursor));
    else {
      const value = readValue(cursor, type);
      if (value !== undefined) metadata.set(key, value);
    }
  }
  const tensors = Array.from({ length: tensorCount }, () => readTensor(cursor));
  const dataStart = checkExtents(tensors, cursor, metadata.get('general.alignment') ?? 32);
  return { version, metadata, arrayLengths, tensors, dataStart };
}

/** Returns where the tensor data starts. */
function checkExtents(tensors: readonly GgufTensor[], { at, size }: Cursor, alignment: GgufValue): number {
  if (typeof alignment !== 'number' || !Number.isInteger(alignment) || alignment < 1 || alignment > kept) {
    throw new Malformed(`alignment ${alignment}`);
  }
  const dataStart = Math.ceil(at / alignment) * alignment;
  for (const tensor of tensors) {
    const values = tensor.shape.reduce((product, length) => product * length, 1);
    const end = dataStart + tensor.offset + (tensorBytes(tensor.type, values) ?? 0);
    if (!(end <= size)) throw new Malformed(`${size} bytes where tensor ${tensor.name} needs ${end} (cut short)`);
  }
  return dataStart;
}

function readTensor(cursor: Cursor): GgufTensor {
  const name = cursor.shortText('a tensor name');
  const dimensions = cursor.uint32();
  if (dimensions > 8) throw new Malformed(`a tensor of ${dimensions} dimensions`);
  const shape = Array.from({ length: dimensions }, () => cursor.uint64());
  return { name, shape, type: cursor.uint32(), offset: cursor.uint64() };
}

/** Longest text that is kept, in bytes. */
const kept = 1 << 16;
const stringType = 8;
const arrayType = 9;
/** By type number: bytes, and how they are read. */
const scalars: Readonly<Record<number, readonly [bytes: number, read: (view: DataView) => GgufValue]>> = {
  0: [1, (view) => view.getUint8(0)],
  1: [1, (view) => view.getInt8(0)],
  2: [2, (view) => view.getUint16(0, true)],
  3: [2, (view) => view.getInt16(0, true)],
  4: [4, (view) => view.getUint32(0, true)],
  5: [4, (view) => view.getInt32(0, true)],
  6: [4, (view) => view.getFloat32(0, true)],
  7: [1, (view) => view.getUint8(0) !== 0],
  10: [8, (view) => Number(view.getBigUint64(0, true))],
  11: [8, (view) => Number(view.getBigInt64(0, true))],
  12: [8, (view) => view.getFloat64(0, true)],
};

/** A value, or undefined for a string too long to be worth keeping. */
function readValue(cursor: Cursor, type: number): GgufValue | undefined {
  if (type === stringType) {
    const length = cursor.uint64();
    return length <= kept ? cursor.text(length) : cursor.skip(length);
  }
  const scalar = scalars[type];
  if (scalar === undefined) throw new Malformed(`a metadata entry of unknown type ${type}`);
  const [bytes, read] = scalar;
  return read(cursor.take(bytes));
}

/** Passes over an array and returns its length. Nested arrays are not written by any known tool and are refused. */
function skipArray(cursor: Cursor): number {
  const type = cursor.uint32();
  const bytes = type === stringType ? 8 : scalars[type]?.[0];
  if (bytes === undefined) throw new Malformed(`an array of unknown type ${type}`);
  const length = cursor.count(bytes, 'array values');
  if (type !== stringType) cursor.skip(length * bytes);
  else for (let i = 0; i < length; i++) cursor.skip(cursor.uint64());
  return length;
}

const windowBytes = 1 << 20;

/** Reads a file front to back, little-endian, without ever trusting a length it states: nothing is read past the end. */
class Cursor {
  /** Bytes before the next read. */
  at = 0;
  private readonly buffer: Buffer;
  private windowStart = 0;
  private windowEnd = 0;

  constructor(
    private readonly descriptor: number,
    readonly size: number,
  ) {
    this.buffer = Buffer.allocUnsafe(Math.min(windowBytes, Math.max(size, 1)));
  }

  skip(length: number): undefined {
    if (length > this.size - this.at) throw new Malformed('a file that is cut short');
    this.at += length;
  }

  /** The next bytes, as a view that is valid until the next call. @param length at most a megabyte */
  take(length: number): DataView {
    const { at, buffer } = this;
    this.skip(length);
    if (at < this.windowStart || this.at > this.windowEnd) {
      this.windowStart = at;
      this.windowEnd = at + readSync(this.descriptor, buffer, 0, Math.min(buffer.length, this.size - at), at);
      if (this.at > this.windowEnd) throw new Malformed('a file that is cut short');
    }
    return new DataView(buffer.buffer, buffer.byteOffset + at - this.windowStart, length);
  }

  /** The next bytes as text, UTF-8, broken sequences replaced. */
  text(length: number): string {
    return new TextDecoder().decode(this.take(length));
  }

  shortText(what: string): string {
    const length = this.uint64();
    if (length > kept) throw new Malformed(`${what} of ${length} bytes`);
    return this.text(length);
  }

  uint32(): number {
    return this.take(4).getUint32(0, true);
  }

  uint64(): number {
    const value = this.take(8).getBigUint64(0, true);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Malformed(`a length of ${value} bytes`);
    return Number(value);
  }

  /** A number of things of at least `bytes` each: refused at once when the rest of the file cannot hold them. */
  count(bytes: number, what: string): number {
    const value = this.uint64();
    if (value * bytes > this.size - this.at) throw new Malformed(`${value} ${what}, more than the file can hold`);
    return value;
  }
}

/** Tensor types: name, values and bytes of a block. @source ggml.h, `enum ggml_type`, and the block layouts of ggml-common.h */
const tensorTypes: Readonly<Record<number, readonly [name: string, values: number, bytes: number]>> = {
  0: ['F32', 1, 4],
  1: ['F16', 1, 2],
  2: ['Q4_0', 32, 18],
  3: ['Q4_1', 32, 20],
  6: ['Q5_0', 32, 22],
  7: ['Q5_1', 32, 24],
  8: ['Q8_0', 32, 34],
  9: ['Q8_1', 32, 36],
  10: ['Q2_K', 256, 84],
  11: ['Q3_K', 256, 110],
  12: ['Q4_K', 256, 144],
  13: ['Q5_K', 256, 176],
  14: ['Q6_K', 256, 210],
  15: ['Q8_K', 256, 292],
  16: ['IQ2_XXS', 256, 66],
  17: ['IQ2_XS', 256, 74],
  18: ['IQ3_XXS', 256, 98],
  19: ['IQ1_S', 256, 50],
  20: ['IQ4_NL', 32, 18],
  21: ['IQ3_S', 256, 110],
  22: ['IQ2_S', 256, 82],
  23: ['IQ4_XS', 256, 136],
  24: ['I8', 1, 1],
  25: ['I16', 1, 2],
  26: ['I32', 1, 4],
  27: ['I64', 1, 8],
  28: ['F64', 1, 8],
  29: ['IQ1_M', 256, 56],
  30: ['BF16', 1, 2],
  34: ['TQ1_0', 256, 54],
  35: ['TQ2_0', 256, 66],
  39: ['MXFP4', 32, 17],
};

/**
 * Bytes of a tensor, or undefined for a type this table does not know (newer than it).
 * @param values number of values, a positive integer
 */
export function tensorBytes(type: number, values: number): number | undefined {
  const known = tensorTypes[type];
  return known && Math.ceil(values / known[1]) * known[2];
}

/** Such as `Q4_K` or `F16`. */
export function tensorTypeName(type: number): string {
  return tensorTypes[type]?.[0] ?? `type ${type}`;
}

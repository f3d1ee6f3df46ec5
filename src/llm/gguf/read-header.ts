/** What a GGUF file says about itself, read and checked before anything heavy loads it. @source ggml docs/gguf.md */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { WorkbenchError } from '../../run/errors.js';

/** A metadata value that is kept; arrays are counted only. */
type GgufValue = string | number | boolean;

/** Where a tensor stands, and of what type and shape it is. */
interface GgufTensor {
  name: string;
  /** Sizes, fastest first, as the file states them. */
  shape: number[];
  /** ggml's type number. */
  type: number;
  /** Bytes from the start of the tensor data. */
  offset: number;
}

/** All that stands before the weights. */
export interface GgufHeader {
  version: number;
  /** Scalar entries and strings up to 64 KiB; arrays (vocabularies) are checked and left out. */
  metadata: ReadonlyMap<string, GgufValue>;
  /** Lengths of the arrays, by key. */
  arrayLengths: ReadonlyMap<string, number>;
  tensors: readonly GgufTensor[];
  /** Where in the file the tensor data starts, bytes. */
  dataStart: number;
}

/** Names the flaw; the path is added where it is known. */
class Malformed extends Error {}

const kept = 1 << 16;
const scalarBytes: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};
const stringType = 8;
const arrayType = 9;

/**
 * Reads the header and checks that the file is long enough for every tensor it lists. Costs one pass over the header
 * (megabytes at most), whatever lengths a damaged or hostile file states.
 * @throws WorkbenchError `data` when the file is missing, is not GGUF, is cut short or contradicts itself
 */
export function readGgufHeader(path: string): GgufHeader {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw problem(path, code === 'ENOENT' ? 'nothing' : `${code}`, 'Check the name and the folder.', error);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw problem(path, 'a folder or device', 'Name the .gguf file itself.');
    return parse(byteCursor(descriptor, stat.size), stat.size);
  } catch (error) {
    if (error instanceof EndOfFile) throw problem(path, 'a file that is cut short', again, error);
    if (error instanceof Malformed) throw problem(path, error.message, again, error);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

const again = 'Get the file again and compare its size and sha256 with the source.';

function problem(path: string, got: string, hint: string, cause?: unknown): WorkbenchError {
  return new WorkbenchError('data', `expected a whole GGUF model file, got ${got}, at ${path}`, { hint, cause });
}

function parse(cursor: ByteCursor, size: number): GgufHeader {
  if (size < 4 || cursor.text(4) !== 'GGUF') throw new Malformed('a file that does not start with "GGUF"');
  const version = uint32(cursor);
  if (version === 0x03000000 || version === 0x02000000) throw new Malformed('a big-endian GGUF file');
  if (version !== 2 && version !== 3) throw new Malformed(`GGUF version ${version} (2 and 3 are known)`);
  const tensorCount = count(cursor, 24, 'tensors');
  const entryCount = count(cursor, 12, 'metadata entries');

  const metadata = new Map<string, GgufValue>();
  const arrayLengths = new Map<string, number>();
  for (let i = 0; i < entryCount; i++) {
    const key = shortText(cursor, 'a key');
    const type = uint32(cursor);
    if (type === arrayType) arrayLengths.set(key, skipArray(cursor));
    else {
      const value = readValue(cursor, type);
      if (value !== undefined) metadata.set(key, value);
    }
  }
  const tensors = Array.from({ length: tensorCount }, () => readTensor(cursor));
  const dataStart = checkExtents(tensors, cursor.position(), metadata.get('general.alignment') ?? 32, size);
  return { version, metadata, arrayLengths, tensors, dataStart };
}

/** Returns where the tensor data starts. */
function checkExtents(tensors: readonly GgufTensor[], headerEnd: number, alignment: GgufValue, size: number): number {
  if (typeof alignment !== 'number' || !Number.isInteger(alignment) || alignment < 1 || alignment > kept) {
    throw new Malformed(`alignment ${alignment}`);
  }
  const dataStart = Math.ceil(headerEnd / alignment) * alignment;
  for (const tensor of tensors) {
    const values = tensor.shape.reduce((product, length) => product * length, 1);
    const end = dataStart + tensor.offset + (tensorBytes(tensor.type, values) ?? 0);
    if (!(end <= size)) throw new Malformed(`${size} bytes where tensor ${tensor.name} needs ${end} (cut short)`);
  }
  return dataStart;
}

function readTensor(cursor: ByteCursor): GgufTensor {
  const name = shortText(cursor, 'a tensor name');
  const dimensions = uint32(cursor);
  if (dimensions > 8) throw new Malformed(`a tensor of ${dimensions} dimensions`);
  const shape = Array.from({ length: dimensions }, () => uint64(cursor));
  return { name, shape, type: uint32(cursor), offset: uint64(cursor) };
}

/** A value, or undefined for a string too long to be worth keeping. */
function readValue(cursor: ByteCursor, type: number): GgufValue | undefined {
  if (type === stringType) {
    const length = uint64(cursor);
    if (length <= kept) return cursor.text(length);
    cursor.skip(length);
    return undefined;
  }
  const bytes = scalarBytes[type];
  if (bytes === undefined) throw new Malformed(`a metadata entry of unknown type ${type}`);
  const view = cursor.take(bytes);
  switch (type) {
    case 0:
      return view.getUint8(0);
    case 1:
      return view.getInt8(0);
    case 2:
      return view.getUint16(0, true);
    case 3:
      return view.getInt16(0, true);
    case 4:
      return view.getUint32(0, true);
    case 5:
      return view.getInt32(0, true);
    case 6:
      return view.getFloat32(0, true);
    case 7:
      return view.getUint8(0) !== 0;
    case 10:
      return Number(view.getBigUint64(0, true));
    case 11:
      return Number(view.getBigInt64(0, true));
    default:
      return view.getFloat64(0, true);
  }
}

/** Passes over an array and returns its length. Nested arrays are not written by any known tool and are refused. */
function skipArray(cursor: ByteCursor): number {
  const type = uint32(cursor);
  const bytes = type === stringType ? 8 : scalarBytes[type];
  if (bytes === undefined) throw new Malformed(`an array of unknown type ${type}`);
  const length = count(cursor, bytes, 'array values');
  if (type !== stringType) cursor.skip(length * bytes);
  else for (let i = 0; i < length; i++) cursor.skip(uint64(cursor));
  return length;
}

function shortText(cursor: ByteCursor, what: string): string {
  const length = uint64(cursor);
  if (length > kept) throw new Malformed(`${what} of ${length} bytes`);
  return cursor.text(length);
}

function uint32(cursor: ByteCursor): number {
  return cursor.take(4).getUint32(0, true);
}

function uint64(cursor: ByteCursor): number {
  const value = cursor.take(8).getBigUint64(0, true);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Malformed(`a length of ${value} bytes`);
  return Number(value);
}

/** A number of things of at least `bytes` each: refused at once when the rest of the file cannot hold them. */
function count(cursor: ByteCursor, bytes: number, what: string): number {
  const value = uint64(cursor);
  if (value * bytes > cursor.remaining()) throw new Malformed(`${value} ${what}, more than the file can hold`);
  return value;
}

/** Thrown when the file ends before what it announced; the reader that knows the path turns it into an error for the user. */
class EndOfFile extends Error {}

/** A little-endian cursor over an open file. Every method throws `EndOfFile` rather than reading past the end. */
interface ByteCursor {
  /** Bytes before the next read. */
  position(): number;
  remaining(): number;
  /** The next bytes, as a view that is valid until the next call. @param length at most a megabyte */
  take(length: number): DataView;
  /** The next bytes as text, UTF-8, broken sequences replaced. */
  text(length: number): string;
  skip(length: number): void;
}

const windowBytes = 1 << 20;

/**
 * @param descriptor of a file opened for reading; stays the caller's to close
 * @param size of the file, bytes
 */
function byteCursor(descriptor: number, size: number): ByteCursor {
  const buffer = Buffer.allocUnsafe(Math.min(windowBytes, Math.max(size, 1)));
  let at = 0;
  let windowStart = 0;
  let windowEnd = 0;

  function require(length: number): void {
    if (length > size - at) throw new EndOfFile();
  }
  function take(length: number): DataView {
    require(length);
    if (at < windowStart || at + length > windowEnd) {
      windowStart = at;
      windowEnd = at + readSync(descriptor, buffer, 0, Math.min(buffer.length, size - at), at);
      if (at + length > windowEnd) throw new EndOfFile();
    }
    const view = new DataView(buffer.buffer, buffer.byteOffset + at - windowStart, length);
    at += length;
    return view;
  }
  return {
    position: () => at,
    remaining: () => size - at,
    take,
    text: (length) => new TextDecoder().decode(take(length)),
    skip(length) {
      require(length);
      at += length;
    },
  };
}

/** Type number → values a block, bytes a block. */
const blocks: Readonly<Record<number, readonly [values: number, bytes: number]>> = {
  0: [1, 4], // F32
  1: [1, 2], // F16
  2: [32, 18], // Q4_0
  3: [32, 20], // Q4_1
  6: [32, 22], // Q5_0
  7: [32, 24], // Q5_1
  8: [32, 34], // Q8_0
  9: [32, 36], // Q8_1
  10: [256, 84], // Q2_K
  11: [256, 110], // Q3_K
  12: [256, 144], // Q4_K
  13: [256, 176], // Q5_K
  14: [256, 210], // Q6_K
  15: [256, 292], // Q8_K
  16: [256, 66], // IQ2_XXS
  17: [256, 74], // IQ2_XS
  18: [256, 98], // IQ3_XXS
  19: [256, 50], // IQ1_S
  20: [32, 18], // IQ4_NL
  21: [256, 110], // IQ3_S
  22: [256, 82], // IQ2_S
  23: [256, 136], // IQ4_XS
  24: [1, 1], // I8
  25: [1, 2], // I16
  26: [1, 4], // I32
  27: [1, 8], // I64
  28: [1, 8], // F64
  29: [256, 56], // IQ1_M
  30: [1, 2], // BF16
  34: [256, 54], // TQ1_0
  35: [256, 66], // TQ2_0
  39: [32, 17], // MXFP4
};

/**
 * Bytes of a tensor, or undefined for a type this table does not know (newer than it).
 * @param values number of values, a positive integer
 */
export function tensorBytes(type: number, values: number): number | undefined {
  const block = blocks[type];
  return block && Math.ceil(values / block[0]) * block[1];
}

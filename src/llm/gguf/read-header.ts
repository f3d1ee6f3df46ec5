/** Headers of GGUF files, read here: node-llama-cpp takes a second to load. @source ggml docs/gguf.md */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { WorkbenchError } from '../../run/errors.js';
import { refuseSpecial } from '../../run/files.js';

/** Header of a file: entries and places of tensors, without their data. */
export interface GgufHeader {
  /** Scalar entries, by key. */
  metadata: ReadonlyMap<string, string | number | boolean>;
  /** Lengths of the arrays, by key. */
  arrayLengths: ReadonlyMap<string, number>;
  /** `type` is a name such as `Q4_K` or `F16`; sizes fastest first; `start` in bytes of the file. */
  tensors: readonly { name: string; shape: readonly number[]; type: string; start: number }[];
}

class Malformed extends Error {}

const damaged = 'Get the file again and compare its size and sha256 with the source.';

function problem(path: string, got: string, hint: string, cause?: unknown): WorkbenchError {
  return new WorkbenchError('data', `expected a whole GGUF model file, got ${got}, at ${path}`, { hint, cause });
}

/**
 * Reads a header and checks magic, version, counts, lengths and tensor offsets against the file’s size: llama.cpp believes
 * them, and a hostile count would allocate without bound.
 * @throws WorkbenchError `data` when the file is missing, is not GGUF, is cut short or contradicts itself
 */
export function readGgufHeader(path: string): GgufHeader {
  refuseSpecial(path, 'a whole GGUF model file');
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw problem(path, code === 'ENOENT' ? 'nothing' : `${code}`, 'Check the name and the folder.', error);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw problem(path, 'a folder or device', 'Name the .gguf file itself.');
    return read(new Cursor(descriptor, stat.size));
  } catch (error) {
    throw error instanceof Malformed ? problem(path, error.message, damaged, error) : error;
  } finally {
    closeSync(descriptor);
  }
}

/** Scalars by the number of their type, little-endian; strings and arrays have lengths. */
const scalars: readonly ([bytes: number, read: (bytes: Buffer) => number | boolean] | undefined)[] = [
  [1, (bytes) => bytes.readUInt8()],
  [1, (bytes) => bytes.readInt8()],
  [2, (bytes) => bytes.readUInt16LE()],
  [2, (bytes) => bytes.readInt16LE()],
  [4, (bytes) => bytes.readUInt32LE()],
  [4, (bytes) => bytes.readInt32LE()],
  [4, (bytes) => bytes.readFloatLE()],
  [1, (bytes) => bytes.readUInt8() !== 0],
  undefined,
  undefined,
  [8, (bytes) => Number(bytes.readBigUInt64LE())],
  [8, (bytes) => Number(bytes.readBigInt64LE())],
  [8, (bytes) => bytes.readDoubleLE()],
];
const [stringType, arrayType] = [8, 9];

/** Names of tensors' types by their numbers; `-` for those that no file has any more. @source ggml.h, `enum ggml_type` */
const typeNames =
  'F32 F16 Q4_0 Q4_1 - - Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16 - - - TQ1_0 TQ2_0 - - - MXFP4'.split(
    ' ',
  );
/** Bytes of a value: exact for F32, F16 and BF16, else a lower bound (IQ1_S). */
const valueBytes = (type: number) => ({ 0: 4, 1: 2, 30: 2 })[type] ?? 50 / 256;
const longestName = 1 << 16;
/** Longest string that is read; chat templates are the longest of use. */
const longestString = 1 << 20;

function read(cursor: Cursor): GgufHeader {
  if (cursor.size < 4 || cursor.uint32() !== 0x46554747) throw new Malformed('a file that does not start with "GGUF"');
  const version = cursor.uint32();
  if (version === 0x03000000 || version === 0x02000000) throw new Malformed('a big-endian GGUF file');
  if (version !== 2 && version !== 3) throw new Malformed(`GGUF version ${version} (2 and 3 are known)`);
  const tensorCount = cursor.count(24, 'tensors');
  const entryCount = cursor.count(12, 'metadata entries');
  const metadata = new Map<string, string | number | boolean>();
  const arrayLengths = new Map<string, number>();
  for (let i = 0; i < entryCount; i++) {
    const key = cursor.name('a key');
    const type = cursor.uint32();
    if (type === arrayType) arrayLengths.set(key, skipArray(cursor));
    else metadata.set(key, type === stringType ? cursor.string() : scalarOf(cursor, type));
  }
  const alignment = Number(metadata.get('general.alignment') ?? 32);
  if (!(alignment >= 1 && alignment <= longestName)) throw new Malformed(`alignment ${alignment}`);
  const tensors = Array.from({ length: tensorCount }, () => readTensor(cursor));
  const dataStart = Math.ceil(cursor.at / alignment) * alignment;
  return {
    ...{ metadata, arrayLengths },
    tensors: tensors.map(({ end, start, ...tensor }) => {
      if (dataStart + end <= cursor.size) return { ...tensor, start: dataStart + start };
      throw new Malformed(`${cursor.size} bytes where tensor ${tensor.name} needs ${dataStart + end} (cut short)`);
    }),
  };
}

function scalarOf(cursor: Cursor, type: number): number | boolean {
  const scalar = scalars[type];
  if (!scalar) throw new Malformed(`a metadata entry of unknown type ${type}`);
  const [bytes, of] = scalar;
  return of(cursor.take(bytes));
}

/** Skips the values of an array. @returns how many they are */
function skipArray(cursor: Cursor): number {
  // No known tool writes nested arrays.
  const inner = cursor.uint32();
  const bytes = inner === stringType ? 8 : scalars[inner]?.[0];
  if (bytes === undefined) throw new Malformed(`an array of unknown type ${inner}`);
  const length = cursor.count(bytes, 'array values');
  if (inner !== stringType) cursor.skip(length * bytes);
  else for (let i = 0; i < length; i++) cursor.skip(cursor.uint64());
  return length;
}

/** A tensor with where its data lies, in bytes from the start of all tensor data. */
function readTensor(cursor: Cursor) {
  const name = cursor.name('a tensor name');
  const dimensions = cursor.uint32();
  if (dimensions > 8) throw new Malformed(`a tensor of ${dimensions} dimensions`);
  const shape = Array.from({ length: dimensions }, () => cursor.uint64());
  const type = cursor.uint32();
  const start = cursor.uint64();
  const values = shape.reduce((product, length) => product * length, 1);
  const known = typeNames[type] ?? '-';
  return {
    ...{ name, shape, start, type: known === '-' ? `type ${type}` : known },
    end: start + Math.floor(values * valueBytes(type)),
  };
}

/** Reads a file front to back, little-endian; nothing is read past its end. */
class Cursor {
  at = 0;
  private readonly buffer: Buffer;
  private start = 0;
  private end = 0;

  constructor(
    private readonly descriptor: number,
    readonly size: number,
  ) {
    this.buffer = Buffer.allocUnsafe(Math.min(1 << 20, Math.max(size, 1)));
  }

  skip(length: number): void {
    if (length > this.size - this.at) throw new Malformed('a file that is cut short');
    this.at += length;
  }

  uint32(): number {
    return this.take(4).readUInt32LE();
  }

  uint64(): number {
    const value = this.take(8).readBigUInt64LE();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Malformed(`a length of ${value} bytes`);
    return Number(value);
  }

  name(what: string): string {
    const length = this.uint64();
    if (length > longestName) throw new Malformed(`${what} of ${length} bytes`);
    return this.take(length).toString();
  }

  /** A string; of one too long to be of use nothing. */
  string(): string {
    const length = this.uint64();
    if (length <= longestString) return this.take(length).toString();
    this.skip(length);
    return '';
  }

  /** A count of items of at least `bytes` each. */
  count(bytes: number, what: string): number {
    const value = this.uint64();
    if (value * bytes > this.size - this.at) throw new Malformed(`${value} ${what}, more than the file can hold`);
    return value;
  }

  /** The next bytes, valid until the next call. @param length at most a megabyte */
  take(length: number): Buffer {
    const { at, buffer } = this;
    this.skip(length);
    if (at < this.start || this.at > this.end) {
      this.start = at;
      this.end = at + readSync(this.descriptor, buffer, 0, Math.min(buffer.length, this.size - at), at);
      if (this.at > this.end) throw new Malformed('a file that is cut short');
    }
    return buffer.subarray(at - this.start, this.at - this.start);
  }
}

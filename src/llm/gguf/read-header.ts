/** Headers of GGUF files: bounded by this project's check, then read by node-llama-cpp. @source ggml docs/gguf.md */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { WorkbenchError } from '../../run/errors.js';
import { refuseSpecial } from '../../run/files.js';
import { llamaLibrary } from '../llama-library.js';

export interface GgufHeader {
  /** Scalar entries, by key. */
  metadata: ReadonlyMap<string, string | number | boolean>;
  /** Lengths of the arrays, by key. */
  arrayLengths: ReadonlyMap<string, number>;
  /** `type` is a name such as `Q4_K` or `F16`; sizes fastest first; `start` in bytes of the file. */
  tensors: readonly { name: string; shape: readonly number[]; type: string; start: number }[];
}

class Malformed extends Error {}

/** Checks and reads a header. @throws WorkbenchError `data` as `checkGguf`; `native` without node-llama-cpp */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  checkGguf(path);
  const { GgmlType, readGgufFileInfo } = await llamaLibrary();
  const options = { sourceType: 'filesystem', spliceSplitFiles: false, logWarnings: false } as const;
  const info = await readGgufFileInfo(path, options).catch((error: unknown) => {
    throw problem(path, error instanceof Error ? error.message : String(error), damaged, error);
  });
  const metadata = new Map<string, string | number | boolean>();
  const arrayLengths = new Map<string, number>();
  const flatten = (value: unknown, key: string) => {
    if (Array.isArray(value)) arrayLengths.set(key, value.length);
    else if (typeof value === 'bigint') metadata.set(key, Number(value));
    else if (typeof value !== 'object' || value === null) metadata.set(key, value as string | number | boolean);
    else for (const [name, inner] of Object.entries(value)) flatten(inner, key === '' ? name : `${key}.${name}`);
  };
  flatten(info.metadata, '');
  const tensors = (info.tensorInfo ?? []).map(({ name, dimensions, ggmlType, fileOffset }) => ({
    name,
    shape: dimensions.map(Number),
    type: GgmlType[ggmlType] ?? `type ${ggmlType}`,
    start: Number(fileOffset),
  }));
  return { metadata, arrayLengths, tensors };
}

const damaged = 'Get the file again and compare its size and sha256 with the source.';

function problem(path: string, got: string, hint: string, cause?: unknown): WorkbenchError {
  return new WorkbenchError('data', `expected a whole GGUF model file, got ${got}, at ${path}`, { hint, cause });
}

/**
 * Checks magic, version, counts, lengths and tensor offsets against the file’s size: llama.cpp believes them, and a
 * hostile count would allocate without bound.
 * @throws WorkbenchError `data` when the file is missing, is not GGUF, is cut short or contradicts itself
 */
export function checkGguf(path: string): void {
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
    check(new Cursor(descriptor, stat.size));
  } catch (error) {
    throw error instanceof Malformed ? problem(path, error.message, damaged, error) : error;
  } finally {
    closeSync(descriptor);
  }
}

/** Bytes of each scalar type, by its number; strings and arrays have lengths. */
const scalarBytes = [1, 1, 2, 2, 4, 4, 4, 1, undefined, undefined, 8, 8, 8];
const [uint32Type, stringType, arrayType] = [4, 8, 9];
/** Bytes of a value: exact for F32, F16 and BF16, else a lower bound (IQ1_S). */
const valueBytes = (type: number) => ({ 0: 4, 1: 2, 30: 2 })[type] ?? 50 / 256;
const longestName = 1 << 16;

function check(cursor: Cursor): void {
  if (cursor.size < 4 || cursor.uint32() !== 0x46554747) throw new Malformed('a file that does not start with "GGUF"');
  const version = cursor.uint32();
  if (version === 0x03000000 || version === 0x02000000) throw new Malformed('a big-endian GGUF file');
  if (version !== 2 && version !== 3) throw new Malformed(`GGUF version ${version} (2 and 3 are known)`);
  const tensorCount = cursor.count(24, 'tensors');
  const entryCount = cursor.count(12, 'metadata entries');
  let alignment = 32;
  for (let i = 0; i < entryCount; i++) {
    const key = cursor.name('a key');
    const type = cursor.uint32();
    if (key === 'general.alignment' && type === uint32Type) alignment = cursor.uint32();
    else skipValue(cursor, type);
  }
  if (alignment < 1 || alignment > longestName) throw new Malformed(`alignment ${alignment}`);
  const ends = Array.from({ length: tensorCount }, () => readTensorEnd(cursor));
  const dataStart = Math.ceil(cursor.at / alignment) * alignment;
  for (const { name, end } of ends) {
    const needed = dataStart + end;
    if (!(needed <= cursor.size)) {
      throw new Malformed(`${cursor.size} bytes where tensor ${name} needs ${needed} (cut short)`);
    }
  }
}

function skipValue(cursor: Cursor, type: number): void {
  if (type === stringType) return cursor.skip(cursor.uint64());
  if (type !== arrayType) {
    const bytes = scalarBytes[type];
    if (bytes === undefined) throw new Malformed(`a metadata entry of unknown type ${type}`);
    return cursor.skip(bytes);
  }
  // No known tool writes nested arrays.
  const inner = cursor.uint32();
  const bytes = inner === stringType ? 8 : scalarBytes[inner];
  if (bytes === undefined) throw new Malformed(`an array of unknown type ${inner}`);
  const length = cursor.count(bytes, 'array values');
  if (inner !== stringType) return cursor.skip(length * bytes);
  for (let i = 0; i < length; i++) cursor.skip(cursor.uint64());
}

/** End of a tensor's data, bytes from the start of all tensor data. */
function readTensorEnd(cursor: Cursor): { name: string; end: number } {
  const name = cursor.name('a tensor name');
  const dimensions = cursor.uint32();
  if (dimensions > 8) throw new Malformed(`a tensor of ${dimensions} dimensions`);
  let values = 1;
  for (let i = 0; i < dimensions; i++) values *= cursor.uint64();
  const type = cursor.uint32();
  return { name, end: cursor.uint64() + Math.floor(values * valueBytes(type)) };
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

  /** A count of items of at least `bytes` each. */
  count(bytes: number, what: string): number {
    const value = this.uint64();
    if (value * bytes > this.size - this.at) throw new Malformed(`${value} ${what}, more than the file can hold`);
    return value;
  }

  /** The next bytes, valid until the next call. @param length at most a megabyte */
  private take(length: number): Buffer {
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

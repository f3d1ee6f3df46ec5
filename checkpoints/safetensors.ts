/**
 * The safetensors format: named arrays behind a JSON header, nothing that could be executed. Every file that is written here
 * carries the sha256 of all its bytes, which any reader takes for one more text of the metadata.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { printable } from '../src/run/printable.js';
import { refuseSpecial } from '../src/run/files.js';

/** Arrays a file can hold, by the format's name of their dtype. */
const arrayTypes = {
  ...{ F64: Float64Array, I64: BigInt64Array, U64: BigUint64Array },
  ...{ F32: Float32Array, I32: Int32Array, U32: Uint32Array },
  ...{ I16: Int16Array, U16: Uint16Array, I8: Int8Array, U8: Uint8Array },
} as const;

type Dtype = keyof typeof arrayTypes;

/** The arrays of a tensor; the class is its dtype. Bytes are little-endian, as every platform Node runs on has them. */
export type TensorData =
  | Float64Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Int32Array
  | Uint32Array
  | Int16Array
  | Uint16Array
  | Int8Array
  | Uint8Array;

/** Numbers with a shape, row-major. */
export interface Tensor {
  /** Sizes, outermost first; `[]` is a scalar. Row-major. */
  shape: readonly number[];
  /** Number of elements: the product of `shape`. */
  data: TensorData;
}

/** All that a file holds. */
export interface SafetensorsContent {
  tensors: ReadonlyMap<string, Tensor>;
  /** Free text by key, stored in the header's `__metadata__`. */
  metadata: ReadonlyMap<string, string>;
}

/** Contents of a file, and the state of its digest. */
export interface ReadContent extends SafetensorsContent {
  /** The sha256 that it carries, which fits; files of other programs carry none. */
  seal?: string | undefined;
}

/** Strictness of reading. */
export interface ReadOptions {
  /** Refuse NaN and infinities in floating-point tensors. Default false. */
  finite?: boolean;
  /** Refuse a file without its sha256: all that kgwalk writes carry theirs. Default false. */
  own?: boolean;
}

const metadataKey = '__metadata__';
const prefixBytes = 8;
/** Headers are a few kilobytes; a larger length is a damaged file, not a reason to allocate. */
const maxHeaderBytes = 64 * 2 ** 20;

/** Key of the sha256 in `__metadata__`: the first text, so its position is fixed. */
const sealKey = 'kgwalk-sha256';
/** Placeholder while it is computed, over every byte of the file. */
const sealSpace = '0'.repeat(64);

const opening = Buffer.from(`{"__metadata__":{"${sealKey}":"`);
/** Bytes that are hashed at once; the library refuses 2 GiB. */
const chunkBytes = 2 ** 28;

/** Puts the digest over its space. @param start byte at which the header begins */
export function writeSeal(bytes: Uint8Array, start: number): void {
  bytes.set(Buffer.from(digestOf(bytes, start)), start + opening.length);
}

/** The digest that a file states, or undefined where it states none. @param start byte at which the header begins */
function statedSeal(bytes: Uint8Array, start: number): string | undefined {
  const at = start + opening.length;
  if (!opening.equals(bytes.subarray(start, at))) return undefined;
  return Buffer.from(bytes.subarray(at, at + sealSpace.length)).toString('latin1');
}

/** The sha256 that a safetensors file states of itself, without reading the rest; undefined where it states none. */
export function statedSealOf(file: string): string | undefined {
  const start = prefixBytes;
  const bytes = Buffer.alloc(start + opening.length + sealSpace.length);
  refuseSpecial(file, 'a sealed file');
  const descriptor = openSync(file, 'r');
  try {
    return statedSeal(bytes.subarray(0, readSync(descriptor, bytes)), start);
  } finally {
    closeSync(descriptor);
  }
}

/** True if the stated digest is correct; undefined if there is none. @param start byte at which the header begins */
export function checkSeal(bytes: Uint8Array, start: number): boolean | undefined {
  const stated = statedSeal(bytes, start);
  return stated === undefined ? undefined : stated === digestOf(bytes, start);
}

function digestOf(bytes: Uint8Array, start: number): string {
  const at = start + opening.length;
  const hash = createHash('sha256').update(bytes.subarray(0, at)).update(sealSpace);
  for (let done = at + sealSpace.length; done < bytes.length; done += chunkBytes) {
    hash.update(bytes.subarray(done, done + chunkBytes));
  }
  return hash.digest('hex');
}

const size = z.number().int().nonnegative();
const tensorInfo = z.strictObject({
  dtype: z.string(),
  shape: z.array(size).max(32),
  data_offsets: z.tuple([size, size]),
});
const textByKey = z.custom<Record<string, string>>(
  (value) => isObject(value) && Object.values(value).every((text) => typeof text === 'string'),
);

type Layout = { name: string; dtype: Dtype; shape: number[]; begin: number; end: number };

/**
 * Serialises tensors so that equal content gives equal bytes: widest dtype first, then by name, which also aligns
 * every tensor to its own element size without holes.
 * @throws {WorkbenchError} `failure` where a shape does not match its data or a name is reserved
 */
export function encodeSafetensors(content: SafetensorsContent): Uint8Array<ArrayBuffer> {
  const entries = [...content.tensors].sort(
    ([a, { data: x }], [b, { data: y }]) => y.BYTES_PER_ELEMENT - x.BYTES_PER_ELEMENT || compareText(a, b),
  );
  const texts = [...content.metadata].sort(([a], [b]) => compareText(a, b));
  if (content.metadata.has(sealKey))
    throw new WorkbenchError('failure', `expected texts of other keys, got "${sealKey}"`);
  const fields = [`"${metadataKey}":{${[[sealKey, sealSpace] as const, ...texts].map(jsonField).join(',')}}`];
  let end = 0;
  for (const [name, { shape, data }] of entries) {
    if (name === metadataKey || elementCount(shape) !== data.length) {
      const got = `${data.length} elements for shape [${shape.join(', ')}]`;
      throw new WorkbenchError('failure', `expected a tensor whose shape matches its data, got ${got}, at "${name}"`);
    }
    const begin = end;
    end += data.byteLength;
    fields.push(jsonField([name, { dtype: dtypeOf(data), shape, data_offsets: [begin, end] }]));
  }
  const header = new TextEncoder().encode(`{${fields.join(',')}}`);
  const headerLength = Math.ceil(header.length / prefixBytes) * prefixBytes;
  const bytes = new Uint8Array(prefixBytes + headerLength + end);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(headerLength), true);
  bytes.fill(0x20, prefixBytes, prefixBytes + headerLength);
  bytes.set(header, prefixBytes);
  let cursor = prefixBytes + headerLength;
  for (const [, { data }] of entries) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), cursor);
    cursor += data.byteLength;
  }
  writeSeal(bytes, prefixBytes);
  return bytes;
}

/**
 * Reads a file's bytes, believing none of them: the sha256 fits where there is one, the header is bounded, tensors tile the data
 * exactly, sizes match.
 * @param place what to call the bytes in errors, such as the file's path
 * @throws {WorkbenchError} `data` with the place and the reason
 */
export function decodeSafetensors(bytes: Uint8Array, place: string, options: ReadOptions = {}): ReadContent {
  const headerLength = readHeaderLength(bytes, place);
  const dataStart = prefixBytes + headerLength;
  const header = parseHeader(bytes.subarray(prefixBytes, dataStart), bytes.length - dataStart, place);
  const sealed = checkSeal(bytes, prefixBytes);
  if (sealed === false) throw damaged('the bytes that its sha256 was made of', 'others', place);
  if (sealed === undefined && options.own) throw damaged('a file with its sha256', 'one without', place);
  const tensors = new Map<string, Tensor>();
  for (const { name, dtype, shape, begin, end } of header.layout) {
    // A separate copy: a view would need the element's alignment and keep the whole file alive.
    const buffer = new Uint8Array(bytes.subarray(dataStart + begin, dataStart + end)).buffer;
    const data = new arrayTypes[dtype](buffer);
    if (options.finite) requireFinite(data, name, place);
    tensors.set(name, { shape, data });
  }
  header.metadata.delete(sealKey);
  return { tensors, metadata: header.metadata, seal: statedSeal(bytes, prefixBytes) };
}

/** Reads a safetensors file. @throws {WorkbenchError} `data` where it is missing, cut short, damaged or, on demand, holds NaN */
export function readSafetensors(file: string, options: ReadOptions = {}): ReadContent {
  refuseSpecial(file, 'a readable file');
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    const message = `expected a readable file, got ${(cause as Error).message}, at ${file}`;
    throw new WorkbenchError('data', message, { cause });
  }
  return decodeSafetensors(bytes, file, options);
}

function readHeaderLength(bytes: Uint8Array, place: string): number {
  if (bytes.length < prefixBytes) throw damaged('at least 8 bytes', String(bytes.length), place);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  const limit = Math.min(maxHeaderBytes, bytes.length - prefixBytes);
  if (length > BigInt(limit)) throw damaged(`a header of at most ${limit} bytes`, String(length), place);
  return Number(length);
}

function parseHeader(bytes: Uint8Array, dataLength: number, place: string) {
  const header = parseJsonObject(bytes, place);
  const layout: Layout[] = [];
  let metadata = new Map<string, string>();
  for (const [name, value] of Object.entries(header)) {
    if (name === metadataKey) {
      const texts = textByKey.safeParse(value);
      if (!texts.success) throw damaged('texts by key', 'something else', `${place}, ${metadataKey}`);
      metadata = new Map(Object.entries(texts.data));
    } else layout.push(checkTensorInfo(name, value, place));
  }
  layout.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let cursor = 0;
  for (const { name, begin, end } of layout) {
    if (begin !== cursor)
      throw damaged(`data from byte ${cursor} on`, String(begin), `${place}, tensor "${printable(name, 80)}"`);
    cursor = end;
  }
  if (cursor !== dataLength) throw damaged(`${cursor} bytes of data`, String(dataLength), place);
  return { layout, metadata };
}

function parseJsonObject(bytes: Uint8Array, place: string): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw damaged('a JSON header', printable((cause as Error).message, 160), place);
  }
  if (!isObject(header)) throw damaged('a JSON object as header', 'another value', place);
  return header;
}

function checkTensorInfo(name: string, value: unknown, place: string): Layout {
  const at = `${place}, tensor "${printable(name, 80)}"`;
  const info = tensorInfo.safeParse(value);
  if (!info.success) throw damaged('dtype, shape and data_offsets', printable(z.prettifyError(info.error), 200), at);
  const { dtype, shape, data_offsets: offsets } = info.data;
  const [begin, end] = offsets;
  if (!isDtype(dtype)) throw damaged(`a dtype of ${Object.keys(arrayTypes).join(', ')}`, printable(dtype, 80), at);
  const byteLength = elementCount(shape) * arrayTypes[dtype].BYTES_PER_ELEMENT;
  if (end - begin !== byteLength)
    throw damaged(`${byteLength} bytes for [${shape.join(', ')}]`, String(end - begin), at);
  return { name, dtype, shape, begin, end };
}

function requireFinite(data: TensorData, name: string, place: string): void {
  if (!(data instanceof Float32Array || data instanceof Float64Array)) return;
  const index = data.findIndex((value) => !Number.isFinite(value));
  if (index >= 0)
    throw damaged('finite numbers', String(data[index]), `${place}, tensor "${printable(name, 80)}", element ${index}`);
}

function damaged(expected: string, got: string, place: string): WorkbenchError {
  const hint = 'The file is damaged or is no safetensors file; take another copy or write it again.';
  return new WorkbenchError('data', `expected ${expected}, got ${got}, at ${place}`, { hint });
}

function dtypeOf(data: TensorData): Dtype {
  return (Object.keys(arrayTypes) as Dtype[]).find((dtype) => data instanceof arrayTypes[dtype])!;
}

const isDtype = (name: string): name is Dtype => Object.hasOwn(arrayTypes, name);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const elementCount = (shape: readonly number[]): number => shape.reduce((product, dimension) => product * dimension, 1);

function jsonField([key, value]: readonly [string, unknown]): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}

/** By code units: the same order under every locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A model file written anew as Q8_0, for whose blocks llama.cpp has kernels that read several tokens at once. */
import { closeSync, openSync } from 'node:fs';
import { WorkbenchError } from '../../run/errors.js';
import { readFully, writeFileAtomic } from '../../run/files.js';
import { halfOf, valueOfHalf } from './float16.js';
import { type GgufHeader, readGgufHeader, tensorBytes, tensorTypeName } from './read-header.js';

const values = 32;
const q8 = { type: 8, bytes: 34, fileType: 7 };

/** Numbers at `at` of a block, 32 of them, into `to`. */
type Decode = (block: DataView, at: number, to: Float32Array) => void;

/**
 * The types that are written anew, by ggml's number: whole numbers in floating point, and quantised ones without such kernels.
 * Others are as quick as Q8_0 and smaller. @source ggml-quants.c, `dequantize_row_…`
 */
const decoders: Readonly<Record<number, Decode>> = {
  0: (block, at, to) => each(to, (i) => block.getFloat32(at + 4 * i, true)),
  1: (block, at, to) => each(to, (i) => half(block, at + 2 * i)),
  30: (block, at, to) => each(to, (i) => bfloat16(block.getUint16(at + 2 * i, true))),
  3: (block, at, to) => {
    const [scale, least] = [half(block, at), half(block, at + 2)];
    each(to, (i) => Math.fround(fourBits(block, at + 4, i) * scale) + least);
  },
  6: (block, at, to) => {
    const scale = half(block, at);
    each(to, (i) => (fiveBits(block, at + 2, i) - 16) * scale);
  },
  7: (block, at, to) => {
    const [scale, least] = [half(block, at), half(block, at + 2)];
    each(to, (i) => Math.fround(fiveBits(block, at + 4, i) * scale) + least);
  },
};

function each(to: Float32Array, value: (i: number) => number): void {
  for (let i = 0; i < values; i++) to[i] = value(i);
}

const half = (block: DataView, at: number) => valueOfHalf(block.getUint16(at, true));

const word = new Uint32Array(1);
const single = new Float32Array(word.buffer);

function bfloat16(bits: number): number {
  word[0] = bits << 16;
  return single[0]!;
}

/** The first 16 numbers lie in the low halves of 16 bytes, the others in the high ones. */
function fourBits(block: DataView, at: number, i: number): number {
  const pair = block.getUint8(at + (i & 15));
  return i < 16 ? pair & 15 : pair >>> 4;
}

/** A word of fifth bits, then bytes as of `fourBits`. */
function fiveBits(block: DataView, at: number, i: number): number {
  return fourBits(block, at + 4, i) | (((block.getUint32(at, true) >>> i) & 1) << 4);
}

/**
 * @source ggml-quants.c, `quantize_row_q8_0_ref`: the largest magnitude becomes 127, all in single precision
 * @returns whether all numbers are finite; where not nothing is written
 */
function encode(from: Float32Array, block: DataView, at: number): boolean {
  let largest = 0;
  for (let i = 0; i < values; i++) largest = Math.max(largest, Math.abs(from[i]!));
  if (!Number.isFinite(largest)) return false;
  const scale = Math.fround(largest / 127);
  const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
  block.setUint16(at, halfOf(scale), true);
  for (let i = 0; i < values; i++) {
    const scaled = Math.fround(from[i]! * inverse);
    // Halves away from zero, as C rounds; Math.round takes them up.
    block.setInt8(at + 2 + i, Math.sign(scaled) * Math.round(Math.abs(scaled)));
  }
  return true;
}

/** Matrices that llama.cpp's own quantizer leaves as they are, and rows that are no whole blocks. @source llama-quant.cpp */
function isWrittenAnew({ name, shape, type }: GgufHeader['tensors'][number]): boolean {
  const aside = /(^|\.)(position_embd|token_types|ffn_gate_inp|altup|laurel|per_layer_model_proj|ssm_conv1d)/;
  return (
    shape.length >= 2 && shape[0]! % values === 0 && type in decoders && name.endsWith('weight') && !aside.test(name)
  );
}

/** What a file became. */
export interface Quantized {
  /** Matrices that are Q8_0 now and were not. */
  written: number;
  /** Those that stay, by type. */
  kept: Record<string, number>;
}

/**
 * Writes `from` to `to` with every matrix as Q8_0 that lies in floating point or in a type that is slow on a processor; everything else
 * stays as it is. A megabyte is in memory at a time.
 * @throws WorkbenchError `data` for a damaged file, a tensor of a type that is not known, or values that are not finite, `failure` when the place
 *   cannot be written; nothing is left of a file that was not finished
 */
export function quantizeGguf(from: string, to: string): Quantized {
  const header = readGgufHeader(from);
  const alignment = (header.metadata.get('general.alignment') as number | undefined) ?? 32;
  const padded = (bytes: number) => Math.ceil(bytes / alignment) * alignment;
  const kept: Record<string, number> = {};
  let offset = 0;
  const plan = header.tensors.map((tensor) => {
    const count = tensor.shape.reduce((product, length) => product * length, 1);
    const bytes = tensorBytes(tensor.type, count);
    if (bytes === undefined) throw refusal(from, `${tensor.name} of ${tensorTypeName(tensor.type)}`);
    const anew = isWrittenAnew(tensor);
    if (!anew) kept[tensorTypeName(tensor.type)] = (kept[tensorTypeName(tensor.type)] ?? 0) + 1;
    const at = offset;
    offset += padded(anew ? (count / values) * q8.bytes : bytes);
    return { tensor, bytes, anew, at };
  });
  const descriptor = openSync(from, 'r');
  try {
    writeFileAtomic(to, parts());
  } finally {
    closeSync(descriptor);
  }
  return { written: plan.filter(({ anew }) => anew).length, kept };

  function* parts(): Generator<Uint8Array> {
    const head = Buffer.alloc(header.listStart);
    readFully(descriptor, head, 0);
    const place = header.places.get('general.file_type');
    if (place !== undefined && typeof header.metadata.get('general.file_type') === 'number') {
      head.writeUInt32LE(q8.fileType, place);
    }
    yield* whole([head, ...plan.map(({ tensor, anew, at }) => listed(tensor, anew ? q8.type : tensor.type, at))]);
    for (const { tensor, bytes, anew } of plan) {
      const start = header.dataStart + tensor.offset;
      yield* whole(anew ? quantized(tensor, start, bytes) : copied(start, bytes));
    }
  }

  /** With zeros up to the alignment. */
  function* whole(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
    let length = 0;
    for (const chunk of chunks) {
      length += chunk.length;
      yield chunk;
    }
    yield new Uint8Array(padded(length) - length);
  }

  function* copied(start: number, bytes: number): Generator<Buffer> {
    for (let done = 0; done < bytes; done += piece) {
      const chunk = Buffer.alloc(Math.min(piece, bytes - done));
      readFully(descriptor, chunk, start + done);
      yield chunk;
    }
  }

  function* quantized({ name, type }: GgufHeader['tensors'][number], start: number, bytes: number): Generator<Buffer> {
    const decode = decoders[type]!;
    const blockBytes = tensorBytes(type, values)!;
    const numbers = new Float32Array(values);
    const blocks = Math.floor(piece / blockBytes);
    for (let done = 0; done < bytes; done += blocks * blockBytes) {
      const [chunk] = copied(start + done, Math.min(blocks * blockBytes, bytes - done));
      const [source, count] = [viewOf(chunk!), chunk!.length / blockBytes];
      const out = Buffer.alloc(count * q8.bytes);
      const target = viewOf(out);
      for (let block = 0; block < count; block++) {
        decode(source, block * blockBytes, numbers);
        if (!encode(numbers, target, block * q8.bytes)) throw refusal(from, `${name} with values that are not finite`);
      }
      yield out;
    }
  }
}

/** Bytes that are read at a time. */
const piece = 1 << 20;

const viewOf = ({ buffer, byteOffset, length }: Buffer) => new DataView(buffer, byteOffset, length);

function listed({ name, shape }: GgufHeader['tensors'][number], type: number, at: number): Buffer {
  const text = Buffer.from(name);
  const bytes = Buffer.alloc(8 + text.length + 4 + 8 * shape.length + 4 + 8);
  let place = bytes.writeBigUInt64LE(BigInt(text.length), 0);
  place += text.copy(bytes, place);
  place = bytes.writeUInt32LE(shape.length, place);
  for (const length of shape) place = bytes.writeBigUInt64LE(BigInt(length), place);
  place = bytes.writeUInt32LE(type, place);
  bytes.writeBigUInt64LE(BigInt(at), place);
  return bytes;
}

function refusal(path: string, got: string): WorkbenchError {
  return new WorkbenchError('data', `expected a model that can be written as Q8_0, got ${got}, at ${path}`, {
    hint: 'Take the file as it is, or one of another quantisation.',
  });
}

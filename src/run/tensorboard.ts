/**
 * TensorBoard event files with scalars, written without TensorBoard.
 * @source TFRecord framing: tensorflow/core/lib/io/record_writer; messages: tensorflow/core/util/event.proto and summary.proto
 */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { writeError, writeFully } from './files.js';
import { eventFiles } from './tensorboard-keep.js';

/** An open event file; close it after use. */
export interface EventFile {
  readonly file: string;
  /** @param value stored as float32; NaN and infinities are kept */
  scalar(tag: string, step: number, value: number): void;
  close(): void;
}

/** What makes the file's name its own, and the clock. */
export interface EventFileOptions {
  /** File name; must contain `tfevents` to be found. Default: time, host and process, so that a resumed run adds a file. */
  name?: string;
  /** Wall clock in seconds since 1970. */
  now?: () => number;
}

/**
 * Starts an event file in `folder`; a file of that name is replaced. Every scalar is written at once.
 * @throws WorkbenchError `failure` when the disk is full or the folder cannot be written
 */
export function openEventFile(folder: string, options: EventFileOptions = {}): EventFile {
  const now = options.now ?? (() => Date.now() / 1000);
  const { file, descriptor } = create(folder, () => options.name ?? nextName(folder, now()));
  const write = (event: Uint8Array) => {
    try {
      writeFully(descriptor, frame(event));
    } catch (error) {
      throw writeError(error, file);
    }
  };
  const version = bytesField(3, Buffer.from('brain.Event:2'));
  write(Buffer.concat([doubleField(1, now()), version]));
  return {
    file,
    scalar(tag, step, value) {
      const entry = Buffer.concat([bytesField(1, Buffer.from(tag)), floatField(2, value)]);
      const summary = bytesField(1, entry);
      write(Buffer.concat([doubleField(1, now()), varintField(2, step), bytesField(5, summary)]));
    },
    close() {
      closeSync(descriptor);
    },
  };
}

function create(folder: string, name: () => string): { file: string; descriptor: number } {
  try {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, name());
    return { file, descriptor: openSync(file, 'w') };
  } catch (error) {
    throw writeError(error, folder);
  }
}

/** A name after those of all files there, whatever the clock says: TensorBoard reads files in the order of their names. */
function nextName(folder: string, now: number): string {
  const taken = eventFiles(folder).map((name) => Number(/tfevents\.(\d+)/.exec(name)?.[1] ?? 0));
  const seconds = Math.max(Math.floor(now), ...taken.map((second) => second + 1));
  return `events.out.tfevents.${seconds}.${hostname()}.${pid}`;
}

/** Length, its checksum, the bytes, their checksum; little-endian. */
function frame(bytes: Uint8Array): Buffer {
  const framed = Buffer.alloc(bytes.length + 16);
  framed.writeBigUInt64LE(BigInt(bytes.length), 0);
  framed.writeUInt32LE(maskedCrc32c(framed.subarray(0, 8)), 8);
  framed.set(bytes, 12);
  framed.writeUInt32LE(maskedCrc32c(bytes), 12 + bytes.length);
  return framed;
}

const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

function varintField(field: number, value: number): Buffer {
  return Buffer.concat([varint((field << 3) | wire.varint), varint(value)]);
}

function doubleField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([varint((field << 3) | wire.fixed64), bytes]);
}

function floatField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([varint((field << 3) | wire.fixed32), bytes]);
}

function bytesField(field: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint((field << 3) | wire.bytes), varint(value.length), value]);
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** CRC-32C (Castagnoli), reflected, unsigned 32-bit. @source RFC 3720, appendix B.4 */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = table[(crc ^ byte) & 255]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Rotated and shifted, as TFRecord stores it, so that a checksum of data that holds checksums stays sound. */
function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

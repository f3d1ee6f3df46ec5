/**
 * TensorBoard event files with scalars and texts.
 * @source TFRecord framing: tensorflow/core/lib/io/record_writer; messages: tensorflow/core/util/event.proto and
 *   summary.proto
 */
import { closeSync, openSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { z } from 'zod';
import { makeFolder, writeError, writeFully } from './files.js';

/** The `log` section of the settings. */
export const logSettings = z.strictObject({
  tensorboard: z
    .boolean()
    .default(false)
    .describe(
      'Write TensorBoard event files next to the metrics. They hold wall clock, so their bytes differ between equal runs.',
    ),
});

/** An open event file; close it after use. */
export type EventFile = ReturnType<typeof openEventFile>;

/**
 * Starts the event file of a run; replaces what stands in `folder`. Every scalar is written at once.
 * @param now wall clock in seconds since 1970
 * @throws WorkbenchError `failure` when the disk is full or the folder cannot be written
 */
export function openEventFile(folder: string, now = () => Date.now() / 1000) {
  const file = join(folder, `events.out.tfevents.${Math.floor(now())}.${hostname()}.${pid}`);
  const written = <Result>(write: () => Result): Result => {
    try {
      return write();
    } catch (error) {
      throw writeError(error, file);
    }
  };
  const descriptor = written(() => {
    makeFolder(folder);
    for (const name of readdirSync(folder)) if (name.includes('tfevents')) rmSync(join(folder, name));
    return openSync(file, 'w');
  });
  const write = (...fields: Uint8Array[]) =>
    written(() => writeFully(descriptor, frame(Buffer.concat([doubleField(1, now()), ...fields]))));
  write(bytesField(3, Buffer.from('brain.Event:2')));
  return {
    file,
    /** @param value stored as float32; NaN and infinities are kept */
    scalar(tag: string, step: number, value: number): void {
      const entry = Buffer.concat([bytesField(1, Buffer.from(tag)), floatField(2, value)]);
      write(varintField(2, step), bytesField(5, bytesField(1, entry)));
    },
    /** @param markdown shown under the tab for texts */
    text(tag: string, markdown: string): void {
      // A tensor of one string (data type 7), of the plugin for texts.
      const shape = bytesField(2, varintField(1, 1));
      const tensor = Buffer.concat([varintField(1, 7), bytesField(2, shape), bytesField(8, Buffer.from(markdown))]);
      const plugin = bytesField(1, bytesField(1, Buffer.from('text')));
      const entry = [bytesField(1, Buffer.from(tag)), bytesField(8, tensor), bytesField(9, plugin)];
      write(bytesField(5, bytesField(1, Buffer.concat(entry))));
    },
    close: () => closeSync(descriptor),
  };
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

const fieldOf = (field: number, kind: keyof typeof wire, ...bytes: Uint8Array[]) =>
  Buffer.concat([varint((field << 3) | wire[kind]), ...bytes]);
const varintField = (field: number, value: number) => fieldOf(field, 'varint', varint(value));
const bytesField = (field: number, value: Uint8Array) => fieldOf(field, 'bytes', varint(value.length), value);

const doubleField = (field: number, value: number) =>
  fieldOf(field, 'fixed64', new Uint8Array(Float64Array.of(value).buffer));
const floatField = (field: number, value: number) =>
  fieldOf(field, 'fixed32', new Uint8Array(Float32Array.of(value).buffer));

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

/** Masked as in TFRecord, so that checksums of data with checksums stay sound. */
function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

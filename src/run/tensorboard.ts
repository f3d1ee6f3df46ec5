/**
 * TensorBoard event files with scalars, written without TensorBoard.
 * @source TFRecord framing: tensorflow/core/lib/io/record_writer; messages: tensorflow/core/util/event.proto and summary.proto
 */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { z } from 'zod';
import { makeFolder, writeError, writeFileAtomic, writeFully } from './files.js';

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
 * Starts an event file in `folder`; a file of that name is replaced. Every scalar is written at once.
 * @param options.name file name; must contain `tfevents` to be found. Default: time, host and process, so that a resumed run adds a
 * file
 * @param options.now wall clock in seconds since 1970
 * @throws WorkbenchError `failure` when the disk is full or the folder cannot be written
 */
export function openEventFile(folder: string, options: { name?: string; now?: () => number } = {}) {
  const now = options.now ?? (() => Date.now() / 1000);
  const { file, descriptor } = create(folder, () => options.name ?? nextName(folder, now()));
  const write = (...fields: Uint8Array[]) => {
    try {
      writeFully(descriptor, frame(Buffer.concat([doubleField(1, now()), ...fields])));
    } catch (error) {
      throw writeError(error, file);
    }
  };
  write(bytesField(3, Buffer.from('brain.Event:2')));
  return {
    file,
    /** @param value stored as float32; NaN and infinities are kept */
    scalar(tag: string, step: number, value: number): void {
      const entry = Buffer.concat([bytesField(1, Buffer.from(tag)), floatField(2, value)]);
      write(varintField(2, step), bytesField(5, bytesField(1, entry)));
    },
    close(): void {
      closeSync(descriptor);
    },
  };
}

function create(folder: string, name: () => string): { file: string; descriptor: number } {
  try {
    makeFolder(folder);
    const file = join(folder, name());
    return { file, descriptor: openSync(file, 'w') };
  } catch (error) {
    throw writeError(error, folder);
  }
}

/** A name after those of all existing files, independent of the clock: TensorBoard reads files in name order. */
function nextName(folder: string, now: number): string {
  const taken = eventFiles(folder).map((name) => Number(/tfevents\.(\d+)/.exec(name)?.[1] ?? 0));
  const seconds = Math.max(Math.floor(now), ...taken.map((second) => second + 1));
  return `events.out.tfevents.${seconds}.${hostname()}.${pid}`;
}

/** Event files of a folder in the order TensorBoard reads them. */
function eventFiles(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.includes('tfevents') && !name.startsWith('.'));
  return names.sort();
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

function doubleField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return fieldOf(field, 'fixed64', bytes);
}

function floatField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return fieldOf(field, 'fixed32', bytes);
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

/** Masked as in TFRecord, so that checksums of data with checksums stay sound. */
function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

interface Scalar {
  tag: string;
  step: number;
}

/**
 * Removes from the event files of a resumed run what was written after its checkpoint: leaves only these scalars, each
 * as often as it is named, with their times; a torn record ends its file. A file without any is removed. TensorBoard's own remedy,
 * an event of kind `SessionLog.START`, drops every tag from a step on; steps here count in phases, so it would drop others too.
 */
export function keepEvents(folder: string, scalars: Iterable<Scalar>): void {
  if (!existsSync(folder)) return;
  const nameOf = ({ tag, step }: Scalar) => `${step} ${tag}`;
  const wanted = new Map<string, number>();
  for (const scalar of scalars) wanted.set(nameOf(scalar), (wanted.get(nameOf(scalar)) ?? 0) + 1);
  const isKept = (event: Buffer) => {
    const scalar = scalarOf(event);
    if (!scalar) return true;
    const left = wanted.get(nameOf(scalar)) ?? 0;
    wanted.set(nameOf(scalar), left - 1);
    return left > 0;
  };
  for (const name of eventFiles(folder)) {
    const file = join(folder, name);
    const bytes = readFileSync(file);
    const kept = recordsOf(bytes).filter(({ event }) => isKept(event));
    const framed = kept.map((record) => record.framed);
    if (!kept.some(({ event }) => scalarOf(event))) rmSync(file);
    else if (framed.reduce((sum, { length }) => sum + length, 0) < bytes.length) writeFileAtomic(file, framed);
  }
}

/** Complete records of a TFRecord file. */
function recordsOf(file: Buffer): { event: Buffer; framed: Buffer }[] {
  const records: { event: Buffer; framed: Buffer }[] = [];
  for (let at = 0; at + 16 <= file.length;) {
    const end = at + 16 + Number(file.readBigUInt64LE(at));
    if (end > file.length) break;
    records.push({ event: file.subarray(at + 12, end - 4), framed: file.subarray(at, end) });
    at = end;
  }
  return records;
}

/** Tag and step of an event; undefined for the file header. */
function scalarOf(event: Buffer): Scalar | undefined {
  const summary = fieldsOf(event).get(5);
  const entry = summary instanceof Buffer ? fieldsOf(summary).get(1) : undefined;
  const tag = entry instanceof Buffer ? fieldsOf(entry).get(1) : undefined;
  return tag instanceof Buffer ? { tag: tag.toString(), step: Number(fieldsOf(event).get(2) ?? 0) } : undefined;
}

/** Fields of a protobuf message by number: varints as bigint, the rest as bytes. */
function fieldsOf(message: Buffer): Map<number, bigint | Buffer> {
  const fields = new Map<number, bigint | Buffer>();
  let at = 0;
  const next = () => {
    let value = 0n;
    for (let shift = 0n; at < message.length; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < message.length) {
    const key = Number(next());
    const kind = key & 7;
    if (kind === wire.varint) fields.set(key >> 3, next());
    else {
      const length = kind === wire.fixed64 ? 8 : kind === wire.fixed32 ? 4 : Number(next());
      fields.set(key >> 3, message.subarray(at, (at += length)));
    }
  }
  return fields;
}

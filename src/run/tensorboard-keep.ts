/**
 * Event files of a run that goes on from a checkpoint: what was written after it is cut out. TensorBoard's own remedy, an
 * event of kind `SessionLog.START`, drops every tag from a step on; steps here count in phases, so it would drop others too.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from './files.js';

/** What names one value of an event file. */
export interface Scalar {
  tag: string;
  step: number;
}

/**
 * Leaves in the event files of `folder` only these scalars, each as often as it is named, with their times; a torn record
 * ends its file. A file without any is removed.
 */
export function keepEvents(folder: string, scalars: Iterable<Scalar>): void {
  if (!existsSync(folder)) return;
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
    if (!kept.some(({ event }) => scalarOf(event))) rmSync(file);
    else if (kept.reduce((sum, { framed }) => sum + framed.length, 0) < bytes.length) {
      writeFileAtomic(
        file,
        kept.map(({ framed }) => framed),
      );
    }
  }
}

/** Names of the event files in a folder, in the order TensorBoard reads them. */
export function eventFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.includes('tfevents') && !name.startsWith('.'))
    .sort();
}

function nameOf({ tag, step }: Scalar): string {
  return `${step} ${tag}`;
}

/** The whole records of a file of the TFRecord format: length, its checksum, bytes, their checksum. */
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

/** Tag and step of an event, or undefined for the one that opens a file. */
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
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; at < message.length; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < message.length) {
    const key = Number(varint());
    const kind = key & 7;
    if (kind === 0) fields.set(key >> 3, varint());
    else {
      const length = kind === 1 ? 8 : kind === 5 ? 4 : Number(varint());
      fields.set(key >> 3, message.subarray(at, (at += length)));
    }
  }
  return fields;
}

import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32c, openEventFile } from '../../../src/run/tensorboard.js';

/** Bit by bit, from the polynomial: independent of the table under test. */
function slowCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffffn;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0x82f63b78n : crc >> 1n;
  }
  return Number(crc ^ 0xffffffffn);
}

function unmask(masked: number): number {
  const rotated = (masked - 0xa282ead8) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}

/** Splits a TFRecord file, checking both checksums of every record. */
function records(file: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < file.length;) {
    const length = Number(file.readBigUInt64LE(at));
    expect(unmask(file.readUInt32LE(at + 8))).toBe(slowCrc32c(file.subarray(at, at + 8)));
    const data = file.subarray(at + 12, at + 12 + length);
    expect(unmask(file.readUInt32LE(at + 12 + length))).toBe(slowCrc32c(data));
    found.push(data);
    at += length + 16;
  }
  return found;
}

/** Fields of a protobuf message by number; varints as bigint, the rest as bytes. */
function fields(message: Buffer): Map<number, bigint | Buffer> {
  const found = new Map<number, bigint | Buffer>();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    if (wire === 0) found.set(tag >> 3, varint());
    else {
      const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(varint());
      found.set(tag >> 3, message.subarray(at, (at += length)));
    }
  }
  return found;
}

test('the checksum of the standard vector is the published one', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
});

test('a file of scalars decodes to the version, tags, steps, values and times that went in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-events-'));
  const events = openEventFile(join(folder, 'deep'), { name: 'events.out.tfevents.1', now: () => 1234.5 });
  const scalars: [string, number, number][] = [
    ['train/approx_kl', 1, 0.25],
    ['eval/path@1', 300, -1.5],
    ['søster', 5_000_000_000, NaN],
  ];
  for (const [tag, step, value] of scalars) events.scalar(tag, step, value);
  events.close();

  const [version, ...rest] = records(readFileSync(join(folder, 'deep/events.out.tfevents.1'))).map(fields);
  expect(String(version!.get(3))).toBe('brain.Event:2');
  const decoded = rest.map((event) => {
    expect((event.get(1) as Buffer).readDoubleLE()).toBe(1234.5);
    const entry = fields(fields(event.get(5) as Buffer).get(1) as Buffer);
    return [String(entry.get(1)), Number(event.get(2)), (entry.get(2) as Buffer).readFloatLE()];
  });
  expect(decoded).toEqual(scalars);
});

test('without a name the file is found by TensorBoard and a resumed run gets another one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-events-'));
  const [a, b] = [1, 2].map((second) => openEventFile(folder, { now: () => second }));
  expect(a!.file).toContain('events.out.tfevents.1.');
  expect(b!.file).not.toBe(a!.file);
  a!.close();
  b!.close();
});

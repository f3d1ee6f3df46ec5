import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crc32c, openEventFile } from '../../../src/run/tensorboard.js';
import { fieldsOf, readEvents, readTexts, recordsOf } from '../../fixtures/event-files.js';
import { folderWith } from '../../fixtures/tiny-release.js';

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

test('the checksum of the standard vector is the published one', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
});

test('a file of scalars decodes to the version, tags, steps, values and times that went in', () => {
  const folder = folderWith({});
  const events = openEventFile(join(folder, 'deep'), () => 1234.5);
  const scalars: [string, number, number][] = [
    ['train/approx_kl', 1, 0.25],
    ['eval/path@1', 300, -1.5],
    ['søster', 5_000_000_000, NaN],
  ];
  for (const [tag, step, value] of scalars) events.scalar(tag, step, value);
  events.text('settings', '    seed: 1');
  events.close();

  const bytes = readFileSync(events.file);
  for (let at = 0; at < bytes.length;) {
    const data = bytes.subarray(at + 12, at + 12 + Number(bytes.readBigUInt64LE(at)));
    expect(unmask(bytes.readUInt32LE(at + 8))).toBe(slowCrc32c(bytes.subarray(at, at + 8)));
    expect(unmask(bytes.readUInt32LE(at + 12 + data.length))).toBe(slowCrc32c(data));
    at += data.length + 16;
  }
  expect(String(fieldsOf(recordsOf(bytes)[0]!).get(3))).toBe('brain.Event:2');
  expect(readEvents(events.file)).toEqual(scalars.map(([tag, step, value]) => ({ tag, step, value, time: 1234.5 })));
  expect([...readTexts(events.file)]).toEqual([['settings', '    seed: 1']]);
});

test('TensorBoard finds the file, and a second one replaces it and leaves other files', () => {
  const folder = folderWith({ 'notes.txt': 'mine' });
  const files = [1, 2].map((second) => {
    const events = openEventFile(folder, () => second);
    events.close();
    return events.file;
  });
  expect(readdirSync(folder)).toEqual([basename(files[1]!), 'notes.txt']);
  expect(files[1]).toContain('events.out.tfevents.2.');
});

import { appendFileSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { keepEvents, openEventFile } from '../../../src/run/tensorboard.js';
import { readEvents } from '../../fixtures/event-files.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const written = [
  { tag: 'transe/train/loss', step: 7, value: 3 },
  { tag: 'ppo/train/loss', step: 1, value: 2 },
  { tag: 'ppo/train/loss', step: 2, value: 1.5 },
  { tag: 'ppo/eval/path@1', step: 2, value: 0.25 },
  { tag: 'ppo/train/loss', step: 3, value: 1 },
];

function eventsOf(folder: string, scalars: typeof written, now: number) {
  const events = openEventFile(folder, { now: () => now });
  for (const { tag, step, value } of scalars) events.scalar(tag, step, value);
  events.close();
  return events.file;
}

test('what is kept stays with its time, what is not goes, steps of other phases stay', () => {
  const folder = folderWith({});
  const file = eventsOf(folder, written, 1000);
  const kept = written.slice(0, 3);
  keepEvents(folder, kept);
  expect(readEvents(file)).toEqual(kept.map((scalar) => ({ ...scalar, time: 1000 })));
  const size = statSync(file).size;
  keepEvents(folder, written);
  expect(statSync(file).size).toBe(size);
});

test('each scalar stays as often as it is named, the first ones', () => {
  const folder = folderWith({});
  const [a, b] = [1000, 2000].map((now) => eventsOf(folder, written, now));
  keepEvents(folder, written);
  expect(readEvents(a!)).toHaveLength(written.length);
  expect(readdirSync(folder)).toHaveLength(1);
  expect(readdirSync(folder)).not.toContain(b);
});

test('a torn last record is cut, so that the file reads to its end', () => {
  const folder = folderWith({});
  const file = eventsOf(folder, written, 1000);
  const whole = readFileSync(file);
  appendFileSync(file, whole.subarray(0, 20));
  keepEvents(folder, written);
  expect(readFileSync(file)).toEqual(whole);
});

test('without anything to keep no file stays; other files and missing folders are passed over', () => {
  const folder = folderWith({ 'notes.txt': 'mine' });
  eventsOf(folder, written, 1000);
  keepEvents(folder, []);
  keepEvents(join(folder, 'missing'), written);
  expect(readdirSync(folder)).toEqual(['notes.txt']);
});

test('files sort by when they were opened, even where the clock goes backwards', () => {
  const folder = folderWith({});
  const files = [2000, 2000, 1000].map((now) => eventsOf(folder, written, now));
  expect([...files].sort()).toEqual(files);
});

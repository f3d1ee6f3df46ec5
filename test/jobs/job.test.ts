/** Plans: a job a line, under its own hash, and nothing in it that a machine should not do. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { jobFrom, jobOf, readPlan, wordsOf, writePlan } from '../../jobs/job.js';
import { configHash } from '../../src/run/config-values.js';
import { folderWith } from '../fixtures/tiny-release.js';

const planned = {
  command: 'evaluate' as const,
  args: ['films'],
  options: { set: ['a=1', 'b=-3'], 'withhold-hops': true as const },
  ...{ presets: { 'my.yaml': { extends: 'demo' } }, folders: {}, inputs: { dataset: 'abc' } },
};
let file: string;
beforeEach(() => {
  file = join(folderWith({}), 'plan.jsonl');
});

test('comes back as it was written, each part under a key that depends on that part only', () => {
  const jobs = ['1/2', '2/2'].map((part) => jobOf({ ...planned, part }));
  writePlan(file, { jobs });
  expect(readPlan(file)).toEqual({ jobs, sweep: undefined });
  expect(new Set(jobs.map(({ key }) => key)).size).toBe(2);
  expect(jobOf({ ...planned, part: '1/2' })).toEqual(jobs[0]);
  expect(jobOf({ ...planned, part: '1/2', inputs: { dataset: 'abd' } }).key).not.toBe(jobs[0]!.key);
  expect(wordsOf(jobs[0]!)).toEqual(['evaluate', '--set=a=1', '--set=b=-3', '--withhold-hops', '--', 'films']);
});

describe('is refused, with the line:', () => {
  const job = jobOf({ ...planned, part: '1/1' });
  const keyed = (change: object) => {
    const { key: _, ...content } = { ...job, ...change };
    return { key: configHash(content), ...content };
  };

  test.each<[string, unknown, string]>([
    ['one that was altered', { ...job, part: '1/2' }, 'expected a job under its own hash'],
    ['another version', keyed({ version: '0.0.1' }), 'expected work for kgwalk 0.1.0, got 0.0.1'],
    ['another command', keyed({ command: 'serve' }), 'command: Invalid option'],
    ['an option that writes elsewhere', keyed({ options: { 'run-dir': ['/etc'] } }), 'got --run-dir'],
    ['a plugin', keyed({ options: { set: ['plugins=["x.mjs"]'] } }), 'expected work without plugins, got some'],
    ['a plugin in a preset', keyed({ presets: { 'my.yaml': { plugins: ['x.mjs'] } } }), 'no plugins'],
    ['a file elsewhere', keyed({ presets: { '../my.yaml': {} } }), 'presets'],
    ['a folder elsewhere', keyed({ folders: { 'runs/../../x': 'a'.repeat(64) } }), 'folders'],
    ['further keys', keyed({ shell: 'rm' }), 'Unrecognized key'],
    ['a part that leads out', keyed({ part: 'trial-001-s1/../..' }), 'part'],
    ['something else', 'text', 'expected a job, got'],
  ])('%s', (_, value, message) => {
    writeFileSync(file, `${JSON.stringify(job)}\n${JSON.stringify(value)}\n`);
    expect(() => readPlan(file)).toThrow(message);
    expect(() => readPlan(file)).toThrow(`at ${file}:2`);
    expect(() => jobFrom(value, 'a queue')).toThrow('at a queue');
  });

  test('a file without a line, and one of broken JSON', () => {
    writeFileSync(file, '\n');
    expect(() => readPlan(file)).toThrow(`expected a plan, a job a line, got no line, at ${file}`);
    writePlan(file, { jobs: [job] });
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, 40));
    expect(() => readPlan(file)).toThrow(`broken JSON`);
  });
});

/** Plans: a job a line, under its own hash, and nothing in it that a machine should not do. */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { jobFrom, jobOf, readPlan, wordsOf, writePlan } from '../../jobs/job.js';
import { openPreset } from '../../presets/index.js';
import { readConfigFile } from '../../src/run/config-source.js';
import { configHash } from '../../src/run/config-values.js';
import { loadPlugin } from '../../tasks/plugins.js';
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
    ['a plugin', keyed({ options: { set: ['a=1', 'plugins=["x.mjs"]'] } }), 'expected work without plugins, got some'],
    ['a plugin in a preset', keyed({ presets: { 'my.yaml': { plugins: ['x.mjs'] } } }), 'no plugins'],
    ['a file elsewhere', keyed({ presets: { '../my.yaml': {} } }), 'presets'],
    ['settings elsewhere', keyed({ args: ['/etc/evil.yaml'] }), 'args'],
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

describe('a process that runs a job', () => {
  const elsewhere = folderWith({
    'evil.yaml': 'extends: demo\nplugins: [./evil.mjs]\n',
    'evil.mjs': 'export const plugin = 0;',
  });
  let job: string;
  beforeEach(() => {
    job = folderWith({ 'own.yaml': 'extends: demo\n', 'over.yaml': `extends: ${join(elsewhere, 'evil.yaml')}\n` });
    env.KGWALK_JOB = job;
  });
  afterEach(() => void delete env.KGWALK_JOB);

  test('reads its own settings and those of the package alone', () => {
    expect(readConfigFile(join(job, 'own.yaml')).problems).toEqual([]);
    for (const file of [join(elsewhere, 'evil.yaml'), join(job, 'over.yaml')]) {
      expect(() => readConfigFile(file)).toThrow('expected settings of the job or of the package, got ');
    }
    symlinkSync(join(elsewhere, 'evil.yaml'), join(job, 'link.yaml'));
    expect(() => readConfigFile(join(job, 'link.yaml'))).toThrow('expected settings of the job');
  });

  test('loads no plugin, wherever it lies', async () => {
    writeFileSync(join(job, 'evil.mjs'), 'export function plugin() { globalThis.ran = true; }');
    writeFileSync(join(job, 'evil.yaml'), 'extends: demo\nplugins: [./evil.mjs]\n');
    await expect(openPreset(join(job, 'evil.yaml'))).rejects.toThrow('expected work without plugins');
    await expect(loadPlugin(join(elsewhere, 'evil.mjs'))).rejects.toThrow('expected work without plugins');
    expect(globalThis).not.toHaveProperty('ran');
  });
});

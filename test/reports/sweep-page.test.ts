/** The page of a sweep, from records that are made up. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { sweepIn, trialName, type SweepRecord, axesOf } from '../../src/run/sweep.js';
import { writeSweepPage } from '../../reports/sweep-page.js';
import { openSweep, plannedSweep, type SweepPlan } from '../../plans/sweep.js';
import { sweepResults } from '../../plans/results.js';
import { parseSpace, trialSettings } from '../../plans/space.js';
import { useBlankPictures } from '../fixtures/blank-pictures.js';
import { kgwalk } from '../fixtures/command-line.js';
import { folderWith } from '../fixtures/tiny-release.js';

useBlankPictures();
const planned = (more: Partial<SweepPlan> = {}) =>
  plannedSweep({
    ...{ preset: 'demo', overrides: [], seeds: [0, 1], seed: 0, better: 'high', trials: 8 },
    dimensions: parseSpace(['ppo.clipRange=0.1,0.2'], ['ppo.learningRate=log:1e-4..1e-2']),
    ...more,
  });

/** A sweep whose trial n is worth n / 10 and a bit more with the second seed; the last one fails, the one before is stopped. */
function madeUp(record: SweepRecord, trials = record.trials, apart = 0.01): string {
  const folder = join(folderWith({}), 'sweep-made-up');
  const sweep = openSweep(folder, record, false);
  for (let trial = 1; trial <= trials; trial++) {
    sweep.append({ kind: 'trial', trial, set: trialSettings(record, trial) });
    const state = trial === 8 ? 'failed' : trial === 7 ? 'stopped' : 'finished';
    for (const seed of record.seeds) {
      const value = trial / 10 + seed * apart;
      const figure =
        state === 'failed' ? { reason: 'no <memory>' } : { value, metric: 'eval/path@1', phase: 'ppo', step: 4 };
      sweep.append({ kind: 'end', trial, seed, state, ...figure });
      mkdirSync(join(folder, trialName(trial, seed)));
      const line = (step: number) =>
        JSON.stringify({ phase: 'ppo', step, metrics: { 'eval/path@1': (value * step) / 4 } });
      writeFileSync(join(folder, trialName(trial, seed), 'metrics.jsonl'), `${line(2)}\n${line(4)}\n`);
    }
  }
  sweep.close();
  return folder;
}

async function pageOf(folder: string) {
  const sweep = sweepIn(folder)!;
  const { page, pictures } = await writeSweepPage(sweep, sweepResults(sweep), { to: join(folder, 'report') });
  return { html: readFileSync(page, 'utf8'), pictures };
}
const textOf = (html: string) =>
  html
    .replace(/<(script|style)[^]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

describe('the page', () => {
  let folder: string;
  let html: string;
  let pictures: string[];
  beforeAll(async () => {
    folder = madeUp(await planned());
    ({ html, pictures } = await pageOf(folder));
  });

  test('says which trial is the best, with its interval over seeds and its command', () => {
    const text = textOf(html);
    // 0.60 and 0.61: t of one degree of freedom, 12.706, times the standard error 0.005.
    expect(text).toContain(
      'Trial 6 is the best of 6 finished trials: path@1 on valid 60.5 % (95 % over 2 seeds: 54.1 % to 66.9 %).',
    );
    expect(text).toMatch(/kgwalk train demo --set ppo\.clipRange=0\.2 --set ppo\.learningRate=0\.\d+ --seeds 0,1/);
    expect(text).toContain('it was chosen because it did well on valid');
    for (const file of pictures) expect(existsSync(file)).toBe(true);
  });

  test('gives a share no interval beyond 0 and 100 %', async () => {
    const { html } = await pageOf(madeUp(await planned(), 8, 0.08));
    expect(textOf(html)).toContain('64.0 % (95 % over 2 seeds: 13.2 % to 100.0 %)');
  });

  test('draws every trial that has a figure, the best as such, what was stopped dashed', () => {
    const lines = [...html.matchAll(/<path class="(\w*)"[^>]*><title>([^<]*)</g)].map(([, kind, title]) => [
      kind,
      title!.split(':')[0],
    ]);
    expect(lines).toHaveLength(7);
    expect(lines.filter(([kind]) => kind === 'best')).toEqual([['best', 'trial 6']]);
    expect(lines.filter(([kind]) => kind === 'stopped')).toEqual([['stopped', 'trial 7, stopped']]);
  });

  test('takes the earlier of equal trials for the best, everywhere', async () => {
    const record = await planned({ trials: 3, seeds: [0] });
    const folder = join(folderWith({}), 'sweep-alike');
    const sweep = openSweep(folder, record, false);
    for (const trial of [1, 2, 3]) {
      sweep.append({ kind: 'trial', trial, set: trialSettings(record, trial) });
      sweep.append({
        kind: 'end',
        trial,
        seed: 0,
        state: 'finished',
        value: trial === 1 ? 0.4 : 0.5,
        metric: 'eval/path@1',
      });
    }
    sweep.close();
    const { html } = await pageOf(folder);
    expect(html).toMatch(/<path class="best"[^>]*><title>trial 2:/);
    expect(textOf(html)).toContain('Trial 2 is the best of 3 finished trials');
  });

  test('has a row a trial, the best first, failures with their reason, escaped', () => {
    const table = html.split('<tbody>')[1]!.split('</tbody>')[0]!;
    const firsts = [...table.matchAll(/<tr[^>]*><td>(\d+)/g)].map((match) => Number(match[1]));
    expect(firsts).toEqual([6, 5, 4, 3, 2, 1, 7, 8]);
    expect(table).toContain('no &lt;memory&gt;');
    expect(html).not.toContain('<memory>');
  });

  test('shows importance with its reliability', () => {
    expect(textOf(html)).toMatch(
      /functional ANOVA .* from 6 finished trials; whiskers: .*\(out of bag R² -?\d\.\d\d\)/,
    );
  });

  test('is there of a sweep that is not done, and says so; not of one without a figure', async () => {
    const record = await planned();
    expect(textOf((await pageOf(madeUp(record, 3))).html)).toContain('5 trials still open: the sweep was stopped.');
    await expect(pageOf(madeUp(record, 0))).rejects.toThrow('expected a sweep with a run that was evaluated, got none');
  });

  test('is written by kgwalk report, of one sweep alone', async () => {
    expect(await kgwalk('report', folder)).toMatchObject({
      exitCode: 0,
      out: `${join(folder, 'report', 'index.html')}\n`,
    });
    const { exitCode, err } = await kgwalk('report', folder, 'runs/first');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('expected one sweep, or runs and evaluations')]);
  });
});

describe('where a value stands on its axis', () => {
  test.each<[string, unknown, number]>([
    ['uniform:0..2', 0.5, 0.25],
    ['log:0.01..1', 0.1, 0.5],
    ['int:1..4', 1, 0.125],
    ['int:1..4', 4, 0.875],
    ['choice:a,b', 'b', 0.75],
    ['choice:3,1,2', 1, 1 / 6],
  ])('%s: %p at %d', (range, value, index) => {
    const [axis] = axesOf({ dimensions: parseSpace([], [`k=${range}`]) });
    expect(axis!.placeOf(value)).toBeCloseTo(index, 10);
  });
});

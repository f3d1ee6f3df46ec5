import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { writeReport } from '../../reports/report.js';
import type { RunInfo } from '../../src/run/records.js';
import { openRun } from '../../src/run/run-folder.js';
import { useBlankPictures } from '../fixtures/blank-pictures.js';
import {
  madeUpAnswers,
  madeUpQuestionExample,
  madeUpSimulation,
  writeMadeUpEvaluation,
  type MadeUpEvaluation,
} from '../fixtures/made-up-evaluations.js';
import { takenApart } from '../fixtures/report-page.js';
import { hostileName, madeUpCurves, madeUpEvaluation, writeMadeUpRun, writeSealed } from '../fixtures/made-up-runs.js';

useBlankPictures();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-report-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const evaluation = (name: string, made: MadeUpEvaluation) => writeMadeUpEvaluation(join(folder, name), made);

async function pageOf(runs: readonly RunInfo[], evaluations: readonly string[] = []) {
  const { page, pictures } = await writeReport(runs, { to: join(folder, 'out'), evaluations });
  const html = readFileSync(page, 'utf8');
  const alts = [...html.matchAll(/ (?:data-)?alt="([^"]*)"/g)].map(([, alt]) => alt!);
  return { html, alts, pictures: pictures.map((file) => file.slice(folder.length + 5)) };
}

/** A walker's run that learns, with its own evaluation. */
function walkerRun(seed: number): RunInfo {
  const run = join(folder, `walker-s${seed}`);
  const metrics = [10, 20, 30].map((step) => ({
    phase: 'ppo',
    step,
    metrics: {
      'rollout/reward': step / 40,
      'eval/hit@1': step / 35 + seed / 100,
      'eval/f1': step / 36,
      'eval/exact': step / 40,
      'eval/chain': step / 45,
    },
  }));
  writeMadeUpRun(run, { config: { seed, name: 'walker', data: { dataset: 'harbour' } }, metrics });
  const hashes = { graph: 'a'.repeat(64), dataset: 'd'.repeat(64), checkpoint: `c${seed}` };
  const record = madeUpAnswers('walker', 0.9 + seed / 100, { calls: 0, hashes, seed, checkpoint: 'best' });
  writeMadeUpEvaluation(join(run, 'evaluations', 'valid-best'), { record });
  return openRun(run, folder);
}

describe('the page about evaluations of questions', () => {
  test('is self-contained and escapes every name', async () => {
    const hostile = madeUpQuestionExample({
      asked: [`</p><script>alert('x')</script> ${hostileName}`],
      topics: [hostileName],
      gold: [hostileName],
      answers: [{ text: hostileName }],
      lines: [hostileName],
    });
    const record = madeUpAnswers('fiske', 0.6, {
      dataset: hostileName,
      note: hostileName,
      model: hostileName,
      subsets: [hostileName],
      labels: ['fixture'],
      switches: { words: hostileName },
      misses: { [hostileName]: 3 },
      sections: [{ title: hostileName, lines: [hostileName], rows: [{ [hostileName]: hostileName }] }],
      examples: [hostile],
    });
    const { html, alts, pictures } = await pageOf([], [evaluation('a', { record })]);
    expect(takenApart(html).rest).not.toMatch(/<script|<img src=x|https?:|\u202e|\u0007/);
    expect(html).toContain("default-src 'none'");
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;\\u202e\\u0007');
    expect(alts).toHaveLength(pictures.length);
    expect(alts.every((alt) => alt.length > 20)).toBe(true);
    expect(pictures.every((name) => /^[\w@-]+\.png$/.test(name))).toBe(true);
    expect(html).toContain('[fixture]');
    expect(html).toContain('no benchmark results');
  });

  test('shows all agents in one table, with scores, calls, tokens, kinds, misses, ends, phases and worked questions', async () => {
    const { html } = await pageOf(
      [],
      [
        evaluation('fiske', { record: madeUpAnswers('fiske', 0.6, { examples: [madeUpQuestionExample()] }) }),
        evaluation('lookup', {
          record: madeUpAnswers('lookup', 0.5, {
            calls: 0,
            examples: [madeUpQuestionExample({ answers: [], right: false, miss: 'wrong-chain' })],
          }),
        }),
      ],
    );
    const text = html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    for (const part of [
      '2 agents on the questions of harbour',
      'agent Hit@1, % F1, % exact set, % complete match, % calls model tokens',
      'agent Hit@1, % any answer right, % F1, % exact set, % partial match, % complete match, %',
      'small.gguf',
      'no language model',
      'p95 12, max 18 948 48 written 60.0 % cached',
      'answers: 1 20',
      'type: captain 20',
      'covered 36, depth 4',
      'fiske explore 240 constrained 240',
      'wrong answer',
      'who sailed the ships that Ivo built',
      'Tamsin ; Ada',
      'topics Ivo',
      'chain: ~built_by → ~sailed',
      'covered · 1 calls',
      'no answer',
      'wrong chain',
      'npx kgwalk replay fiske',
      'not asked, no gold answer 3',
    ]) {
      expect(text).toContain(part);
    }
  });

  test('says simulated in every title of a simulated set, and puts no real model into its charts', async () => {
    const { html, alts } = await pageOf(
      [],
      [
        evaluation('real', { record: madeUpAnswers('tog', 0.3) }),
        ...[0, 0.3].map((error) => evaluation(`e${error}`, { record: madeUpSimulation('fiske', 1 - error, error) })),
      ],
    );
    const ofOracle = alts.filter((alt) => alt.includes('fiske'));
    expect(ofOracle.length).toBeGreaterThan(10);
    expect(ofOracle.every((alt) => alt.includes('simulated') && !alt.includes('tog'))).toBe(true);
    expect(alts.filter((alt) => alt.includes('tog')).every((alt) => !alt.includes('simulated'))).toBe(true);
    expect(html).toContain('<h2 id="noise">');
    expect(html.match(/<details class="set">/g)).toHaveLength(1);
    expect(html).toContain('oracle:0.3, simulated');
  });

  test('refuses what is no evaluation, with its place', async () => {
    const broken = evaluation('broken', { record: madeUpAnswers('tog', 0.3) });
    writeSealed(broken, '{"schemaVersion":1}');
    await expect(pageOf([], [broken])).rejects.toThrow(/schemaVersion: Invalid input: expected 2.* at .*broken/);
    const { figures: _, ...bare } = madeUpAnswers('tog', 0.3);
    writeSealed(broken, JSON.stringify(bare));
    await expect(pageOf([], [broken])).rejects.toThrow(/expected an evaluation, got figures: .* at .*broken/);
  });
});

describe('the page about runs on questions', () => {
  test('has learning curves over seeds, and their evaluations in one row', async () => {
    const { html, pictures } = await pageOf([1, 2, 3].map(walkerRun));
    for (const key of ['eval-hit@1', 'eval-f1', 'eval-exact', 'rollout-reward', 'eval-chain']) {
      expect(pictures).toContain(`ppo-${key}.png`);
    }
    expect(html).toContain('alt="PPO: F1 on valid, % by updates: PPO rises from 27.8 % to 83.3 %"');
    expect(html).toContain('Student’s t');
    expect(html).toContain('mean of 3 seeds');
    expect(html.replaceAll('\u00a0', ' ')).toContain('walker (best) has a Hit@1 of 92.0 %');
  });

  test('lists walkers with other evaluations on the same questions and with runs on dialogues', async () => {
    writeMadeUpRun(join(folder, 'talker'), {
      config: { seed: 1, name: 'talker', data: { dataset: 'opendialkg' } },
      metrics: madeUpCurves(1, 40),
      evaluations: [madeUpEvaluation('talker', 0.28, { checkpoint: 'best' })],
    });
    const { html, pictures, alts } = await pageOf(
      [walkerRun(1), openRun(join(folder, 'talker'), folder)],
      [evaluation('fiske', { record: madeUpAnswers('fiske', 0.6) })],
    );
    expect(
      alts.some((alt) =>
        /^Hit@1, %, of 40 samples, with 95 % intervals: walker \(best\) 91\.0 \(.*\), fiske 60\.0/.test(alt),
      ),
    ).toBe(true);
    expect(pictures).toEqual(
      expect.arrayContaining(['harbour-ppo-rollout-reward.png', 'opendialkg-ppo-rollout-reward.png']),
    );
    expect(new Set(pictures).size).toBe(pictures.length);
    for (const part of ['On harbour', 'On opendialkg', 'has a path@1 of 28.0', 'path@25']) {
      expect(html).toContain(part);
    }
  });

  test('of a run that has nothing yet says so', async () => {
    writeMadeUpRun(join(folder, 'new'), { config: { seed: 1, env: { id: 'kgwalk/RelationWalk-v1' } } });
    const { html, pictures } = await pageOf([openRun(join(folder, 'new'), folder)]);
    expect(pictures).toEqual([]);
    expect(html).toContain('Nothing was evaluated yet');
  });
});

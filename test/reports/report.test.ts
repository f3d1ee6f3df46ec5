import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { exampleView } from '../../reports/dialogue-sections.js';
import { escapeText } from '../../reports/html.js';
import { writeReport } from '../../reports/report.js';
import { openRun } from '../../src/run/run-folder.js';
import {
  hostileName,
  madeUpCurves,
  madeUpEvaluation,
  madeUpExamples,
  madeUpTimings,
  writeMadeUpRun,
} from '../fixtures/made-up-runs.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-report-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the report', () => {
  test('is one page that needs nothing beside itself and shows what was measured', async () => {
    for (const seed of [1, 2, 3]) {
      writeMadeUpRun(join(folder, `tiny-s${seed}`), {
        config: { seed, note: hostileName },
        metrics: madeUpCurves(seed, 40),
        timings: madeUpTimings,
        evaluations: [
          madeUpEvaluation('walker', 0.28 + seed / 100, { checkpoint: 'best', examples: madeUpExamples }),
          madeUpEvaluation('frequency', 0.2, { note: hostileName }),
        ],
      });
    }
    const runs = [1, 2, 3].map((seed) => openRun(join(folder, `tiny-s${seed}`), folder));
    const { page, pictures } = await writeReport(runs, { to: join(folder, 'out') });
    const html = readFileSync(page, 'utf8');

    expect(html).not.toMatch(/<script|<img src=x|https?:|\u202e|\u0007/);
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;\\u202e\\u0007');
    expect(html).toContain("default-src 'none'");
    for (const title of [
      'Results',
      'Learning curves',
      'Losses and diagnostics',
      'Cost',
      'Example walks',
      'how to repeat it',
    ]) {
      expect(html).toContain(title);
    }
    for (const text of [
      'mean of 3 seeds',
      '8 min 33 s',
      '14,213 encodes · 1,000,000 tokens · 500 encode seconds · 2,000 tokens/s',
      '1,812 env steps',
      'two-hop golds',
      'target unseen in train',
      'moving mean over 3',
    ]) {
      expect(html).toContain(text);
    }
    expect(html).toContain('npx kgwalk train presets/opendialkg.yaml --model &#39;my models/all-MiniLM.gguf&#39;');
    expect(html.match(/<img[^>]* src="data:image\/png;base64,iVBOR/g)).toHaveLength(pictures.length);
    expect(readdirSync(join(folder, 'out')).sort()).toEqual(
      ['index.html', ...pictures.map((file) => file.slice(folder.length + 5))].sort(),
    );
    const png = readFileSync(pictures.find((file) => file.includes('ppo-eval-path@1'))!);
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([760, 500]);
  });

  test('of a run that has nothing yet says so', async () => {
    writeMadeUpRun(join(folder, 'new'), { config: { seed: 1 } });
    const { page, pictures } = await writeReport([openRun(join(folder, 'new'), folder)], { to: join(folder, 'out') });
    expect(pictures).toEqual([]);
    expect(readFileSync(page, 'utf8')).toContain('Nothing was evaluated yet');
  });

  test('refuses a broken evaluation with its place', async () => {
    writeMadeUpRun(join(folder, 'broken'), { config: { seed: 1 } });
    writeFileSync(join(folder, 'broken', 'evaluations', 'valid.json'), '{"schemaVersion":2}');
    const runs = [openRun(join(folder, 'broken'), folder)];
    await expect(writeReport(runs, { to: folder })).rejects.toThrow(
      /schemaVersion: Invalid input: expected 1.* at .*valid\.json/,
    );
    await expect(writeReport([], { to: folder })).rejects.toThrow('at least one run');
  });
});

describe('an example', () => {
  test('marks the hops that agree with the gold and the first that does not', () => {
    const view = exampleView(madeUpExamples![1]!);
    expect(view.verdict).toBe('first wrong edge: hop 2');
    expect(view.beam.map(({ hops }) => hops.map(({ mark }) => mark))).toEqual([['right', 'wrong'], ['wrong'], []]);
    expect(view.gold.hops[1]).toEqual({ relation: 'written_by', inverse: true, entity: 'Angels & Demons', mark: '' });
    expect(view.messages[0]!.lines).toHaveLength(2);
    expect(view.beam[0]!.share).toBe('18.0 %');
  });

  test('that is right says so, and one whose gold is ranked lower says where', () => {
    const [right] = madeUpExamples!;
    expect(exampleView(right!)).toMatchObject({ right: true, verdict: 'right' });
    const lower = exampleView({ ...right!, beam: right!.beam.toReversed(), firstWrongHop: 0 });
    expect(lower).toMatchObject({ right: false, verdict: 'gold is ranked 3' });
  });

  test('shows the last messages and folds those before', () => {
    const messages = ['a', 'b', 'c', 'd', 'e'].map((text) => ({ sender: 'user', text }));
    const view = exampleView({ ...madeUpExamples![0]!, messages });
    expect(view.earlier.map(({ lines }) => lines[0])).toEqual(['a', 'b']);
    expect(view.messages.map(({ lines }) => lines[0])).toEqual(['c', 'd', 'e']);
  });
});

test('text is escaped for elements and attributes, and lines stay lines', () => {
  expect(escapeText(`<a href="x" title='y'>&\u001b\u202e\nz`)).toBe(
    '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;\\u001b\\u202e\nz',
  );
});

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { askedView, saidView } from '../../reports/examples.js';
import { escapeText } from '../../reports/html.js';
import { writeReport } from '../../reports/report.js';
import { openRun } from '../../src/run/run-folder.js';
import { madeUpLinkExamples } from '../fixtures/made-up-links.js';
import { takenApart } from '../fixtures/report-page.js';
import {
  hostileName,
  madeUpCurves,
  madeUpEvaluation,
  madeUpExamples,
  madeUpTimings,
  writeMadeUpRun,
  writeSealed,
} from '../fixtures/made-up-runs.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-report-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the report', () => {
  test('is one self-contained page and shows what was measured', async () => {
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

    expect(takenApart(html).rest).not.toMatch(/<script|<img src=x|https?:|\u202e|\u0007/);
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;\\u202e\\u0007');
    expect(html).toContain("default-src 'none'");
    for (const title of [
      'Results',
      'Learning curves',
      'Losses and diagnostics',
      'Cost',
      'Worked examples',
      'how to repeat it',
    ]) {
      expect(html).toContain(title);
    }
    for (const text of [
      'mean of 3 seeds',
      '8 min 33 s',
      '14,213 encodes · 1,000,000 tokens · 500 encode seconds · 2,000 tokens/s',
      '1,812 env steps',
      'hops: 2',
      'target: unseen',
      'gold in graph 99.2 %',
      'moving mean over 3',
    ]) {
      expect(html).toContain(text);
    }
    expect(html).toContain('npx kgwalk train presets/opendialkg.yaml --model &#39;my models/all-MiniLM.gguf&#39;');
    const plotted = html.match(/<figure data-plot="\d+"/g)!;
    expect(plotted).toHaveLength(pictures.length);
    expect(takenApart(html).plots).toHaveLength(pictures.length);
    // Of diagnostics the page holds no picture.
    const drawn = html.match(/<img[^>]* src="data:image\/png;base64,iVBOR/g)!.length;
    expect([drawn > 5, drawn < pictures.length]).toEqual([true, true]);
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

  test.each([
    ['stopped', '', 'half was stopped in cloning; kgwalk train --resume resumes it.'],
    ['failed', ',"reason":"loss is NaN"', 'half failed in cloning: loss is NaN.'],
    // Its lock is free: it was killed.
    ['running', '', 'half was stopped in cloning'],
  ])('says above all else that a run that is %s has not come to its end', async (status, more, said) => {
    writeMadeUpRun(join(folder, 'half'), { config: { seed: 1 }, metrics: madeUpCurves(1).slice(0, 1) });
    const state = `{"schemaVersion":1,"status":"${status}","phase":"clone","done":{}${more}}`;
    writeFileSync(join(folder, 'half', 'state.json'), state);
    const { page } = await writeReport([openRun(join(folder, 'half'), folder)], { to: join(folder, 'out') });
    const html = readFileSync(page, 'utf8');
    expect(/<p class="status">([^<]*)/.exec(html)?.[1]).toContain(said);
    expect(html.indexOf('class="status"')).toBeLessThan(html.indexOf('class="summary"'));
  });

  test('has tiles with figure, interval, distance and cost before one sentence, and what two settings differ in', async () => {
    for (const [name, clipRange] of Object.entries({ near: 0.1, far: 0.3 })) {
      writeMadeUpRun(join(folder, name), {
        config: { seed: 1, data: { dataset: 'opendialkg' }, ppo: { enabled: true, clipRange } },
        timings: madeUpTimings,
        evaluations: [
          madeUpEvaluation('walker', 0.2 + clipRange, { checkpoint: 'best', phase: 'ppo', step: 3 }),
          madeUpEvaluation('frequency', 0.2),
        ],
      });
    }
    const runs = ['near', 'far'].map((name) => openRun(join(folder, name), folder));
    const { page } = await writeReport(runs, { to: join(folder, 'out') });
    const html = readFileSync(page, 'utf8');
    const [tiles] = /<dl class="tiles">([^]*?)<\/dl>/.exec(html)!;
    expect([...tiles.matchAll(/<dt>([^<]*)/g)].map(([, name]) => name!.replace('\u00a0', ' '))).toEqual([
      ...['path@1', '95 % interval', 'against most frequent', 'training each'],
    ]);
    expect(tiles).toContain('50.0\u00a0%');
    expect(html.match(/class="summary"/g)).toHaveLength(1);
    expect(html).toContain('best of 2 settings, chosen');
    const differing = html.slice(html.indexOf('What differs in the settings'));
    expect(differing.slice(0, 2000)).toMatch(/ppo\.clipRange[^]*0\.1[^]*0\.3/);
  });

  test('compares settings of readers with readers alone, in whole words', async () => {
    const data = { dataset: 'films' };
    const configs: Record<string, Record<string, unknown>> = {
      walker: { data, ppo: { enabled: true, clipRange: 0.1 } },
      'long-reader': { data, ppo: { enabled: false, clipRange: 0.2 }, reader: { kind: 'nsm-chains', hops: 3 } },
      'short-reader': {
        data,
        ppo: { enabled: false, clipRange: 0.3 },
        reader: { kind: 'a-kind-with-a-name-of-many-letters' },
      },
    };
    const write = (names: string[], to: string) => {
      const runs = names.map((name) => {
        const evaluations = [madeUpEvaluation('walker', 0.5, { checkpoint: 'best', run: name, dataset: 'films' })];
        writeMadeUpRun(join(folder, to, name), { config: { seed: 1, name, ...configs[name] }, evaluations });
        return openRun(join(folder, to, name), folder);
      });
      return writeReport(runs, { to: join(folder, to) }).then(({ page }) => readFileSync(page, 'utf8'));
    };
    const two = await write(['walker', 'long-reader'], 'two');
    expect(two).toContain('best of 2 trained agents, chosen');
    expect(two).not.toContain('>What differs');
    const three = await write(Object.keys(configs), 'three');
    const [table] = /What differs in the settings[^]*?<\/table>/.exec(three)!;
    const rows = [...table.matchAll(/<tr>([^]*?)<\/tr>/g)].map(([, row]) =>
      row!.replaceAll(/<[^>]*>/g, '|').split(/\|+/),
    );
    expect(rows.map((row) => row.filter(Boolean))).toEqual([
      ['setting', 'long-reader', 'short-reader'],
      ['reader.hops', '3', '–'],
      ['reader.kind', 'nsm-chains', 'a-kind-with-a-name-of-many-letters'],
    ]);
  });

  test('refuses a broken evaluation with its place', async () => {
    writeMadeUpRun(join(folder, 'broken'), { config: { seed: 1 } });
    writeSealed(join(folder, 'broken', 'evaluations', 'valid'), '{"schemaVersion":1}');
    const runs = [openRun(join(folder, 'broken'), folder)];
    await expect(writeReport(runs, { to: folder })).rejects.toThrow(
      /schemaVersion: Invalid input: expected 2.* at .*valid.evaluation\.json/,
    );
    await expect(writeReport([], { to: folder })).rejects.toThrow('at least one run');
  });
});

describe('an example', () => {
  const dialogue = madeUpExamples[1]!;

  test('marks the hops that agree with the gold and the first that does not', () => {
    const { verdict, answers } = saidView(dialogue);
    expect(verdict).toBe('wrong');
    expect(answers.map(({ walk }) => walk!.hops.map(({ mark }) => mark))).toEqual([['right', 'wrong'], ['wrong'], []]);
    expect(answers.map(({ walk }) => walk!.start)).toEqual(Array(3).fill('The Da Vinci Code'));
    expect([answers[0]!.score, answers[0]!.width]).toEqual(['18.0 %', 18]);
    const { goldWalk, messages } = askedView(dialogue);
    expect(goldWalk!.hops[1]).toEqual({ relation: 'written_by', inverse: true, entity: 'Angels & Demons', mark: '' });
    expect(messages[0]).toMatchObject({ assistant: false, lines: { length: 2 } });
  });

  test('without a gold walk marks the end of a walk to a right answer', () => {
    const [right] = madeUpLinkExamples;
    expect(saidView(right!).answers.map(({ walk }) => walk!.hops.map(({ mark }) => mark))).toEqual([['', 'right'], []]);
    expect(saidView(right!).answers[1]!.walk!.start).toBe('Ada Quill');
  });

  test('that is right says so, and one whose gold is ranked lower says where', () => {
    const [right] = madeUpExamples;
    expect(saidView(right!)).toMatchObject({ right: true, verdict: 'right' });
    const answers = right!.answers.toReversed();
    expect(saidView({ ...right!, answers, right: false })).toMatchObject({ verdict: 'right is ranked 3' });
    expect(saidView({ ...right!, answers: [], right: false, miss: 'wrong-chain' }).verdict).toBe('wrong chain');
  });

  test('shows the last messages and folds those before', () => {
    const asked = ['a', 'b', 'c', 'd', 'e'].map((text) => `user: ${text}`);
    const view = askedView({ ...dialogue, asked });
    expect(view.earlier.map(({ lines }) => lines[0])).toEqual(['a']);
    expect(view.messages.map(({ lines }) => lines[0])).toEqual(['b', 'c', 'd', 'e']);
  });
});

test('text is escaped for elements and attributes, and lines stay lines', () => {
  expect(escapeText(`<a href="x" title='y'>&\u001b\u202e\nz`)).toBe(
    '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;\\u001b\\u202e\nz',
  );
});

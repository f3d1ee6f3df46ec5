/** The page of runs and evaluations together, as a browser shows it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeReport } from '../../reports/report.js';
import { openRun } from '../../src/run/run-folder.js';
import { findBrowser, openBrowser } from '../fixtures/browser.js';
import type { Browser } from '../fixtures/browser.js';
import { madeUpAnswers, madeUpQuestionExample, writeMadeUpEvaluation } from '../fixtures/made-up-evaluations.js';
import { madeUpLinkConfig, madeUpLinkEvaluation, madeUpLinkTraining } from '../fixtures/made-up-links.js';
import {
  hostileName,
  madeUpArkEvaluation,
  madeUpCurves,
  madeUpEvaluation,
  madeUpExamples,
  madeUpTimings,
  writeMadeUpRun,
} from '../fixtures/made-up-runs.js';

const program = findBrowser();
if (program === undefined)
  console.log('no Chromium on this machine (KGWALK_TEST_BROWSER): the report is not tried in a browser');

(program === undefined ? describe.skip : describe)('the page in a browser', () => {
  let folder: string;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kgwalk-page-'));
    for (const seed of [1, 2, 3]) {
      writeMadeUpRun(join(folder, `talker-s${seed}`), {
        config: { seed, name: 'talker', ppo: { enabled: true }, data: { dataset: 'opendialkg', graph: 'dialogue' } },
        metrics: madeUpCurves(seed, 20),
        timings: madeUpTimings,
        evaluations: [
          madeUpEvaluation('talker', 0.28, { checkpoint: 'best', examples: madeUpExamples }),
          madeUpEvaluation('talker', 0.27, { checkpoint: 'clone' }),
          madeUpEvaluation('frequency', 0.2, { note: hostileName }),
        ],
      });
    }
    // One whose page has the tables of LLM-ARK's paper, too.
    writeMadeUpRun(join(folder, 'reader'), {
      config: {
        name: 'reader',
        ...{ walker: { head: 'pa-mlp', placeVectors: false }, ppo: { enabled: true }, data: { dataset: 'opendialkg' } },
      },
      evaluations: [madeUpArkEvaluation('reader', 0.25, { checkpoint: 'best' })],
    });
    for (const [name, algorithm] of Object.entries({ linker: 'ppo', learner: 'reinforce' })) {
      writeMadeUpRun(join(folder, name), {
        config: { ...madeUpLinkConfig(1, { algorithm }) },
        ...madeUpLinkTraining(1, { updates: 20 }),
        evaluations: [
          madeUpLinkEvaluation('walker', 0.7, { checkpoint: 'best', note: hostileName }),
          madeUpLinkEvaluation('rules', 0.6),
        ],
      });
    }
    const examples = [madeUpQuestionExample({ asked: [hostileName] })];
    const said = { record: madeUpAnswers('fiske', 0.6, { examples }) };
    const { page } = await writeReport(
      ['talker-s1', 'talker-s2', 'talker-s3', 'reader', 'linker', 'learner'].map((name) =>
        openRun(join(folder, name), folder),
      ),
      {
        to: join(folder, 'page'),
        evaluations: [
          writeMadeUpEvaluation(join(folder, 'fiske'), said),
          writeMadeUpEvaluation(join(folder, 'lookup'), { record: madeUpAnswers('lookup', 0.5, { calls: 0 }) }),
        ],
      },
    );
    url = pathToFileURL(page).href;
    browser = await openBrowser(program!);
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)(
    'at %d pixels and %s: nothing is complained of or fetched, and nothing sticks out',
    async (width, scheme) => {
      const page = await browser.visit(url, width, scheme);
      // What is folded is looked at, too.
      await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
      const widest = await page.evaluate<number>('document.documentElement.scrollWidth');
      const pictures = await page.evaluate<{ alt: string; shown: boolean; night: boolean }[]>(
        `Promise.all([...document.images].map((one) => one.decode().then(() => ({
          alt: one.alt, shown: one.naturalWidth > 0 && one.clientWidth > 200,
          night: one.currentSrc !== one.src || one.classList.contains('day') }))))`,
      );
      const paper = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');

      expect(page.complaints).toEqual([]);
      expect(page.requests).toEqual([url]);
      expect(widest).toBe(width);
      expect(pictures.length).toBeGreaterThan(20);
      expect(pictures.filter(({ alt, shown }) => alt.length < 20 || !shown)).toEqual([]);
      expect(pictures.some(({ night }) => night) && paper !== 'rgb(255, 255, 255)').toBe(scheme === 'dark');
    },
  );

  test('on paper it is by day, and no table sticks out', async () => {
    const page = await browser.visit(url, 700, 'print');
    await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(700);
    expect(await page.evaluate<boolean>('[...document.images].every((one) => one.currentSrc === one.src)')).toBe(true);
    expect(await page.evaluate<string>('getComputedStyle(document.body).color')).toBe('rgb(31, 41, 51)');
  });

  test('the paper’s tables hold every figure, and ours stand out', async () => {
    const page = await browser.visit(url, 1440, 'light');
    const shown = await page.evaluate<{ rows: number; own: number; wide: boolean }[]>(
      `[...document.querySelectorAll('h4')].filter((one) => one.textContent.startsWith('LLM-ARK')).map((one) => {
        const table = one.nextElementSibling;
        return { rows: table.querySelectorAll('tbody tr').length, own: table.querySelectorAll('tr.own').length,
          wide: table.scrollWidth > table.clientWidth };
      })`,
    );
    expect(shown).toEqual([
      { rows: 15, own: 3, wide: false },
      { rows: 8, own: 3, wide: false },
    ]);
  });

  test('names from data are text, and tables can be reached by keys', async () => {
    const page = await browser.visit(url, 390, 'light');
    expect(await page.evaluate<number>('document.querySelectorAll("script, img[onerror], iframe").length')).toBe(0);
    expect(await page.evaluate<string>('document.body.textContent')).toContain('<img src=x onerror=alert(1)>\\u202e');
    const bare = '[...document.querySelectorAll(".scroll")].filter((one) => one.tabIndex < 0 || !one.ariaLabel).length';
    expect(await page.evaluate<number>(bare)).toBe(0);
  });
});

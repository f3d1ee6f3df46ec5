/** The page of `kgwalk serve` as a browser shows it, while a run grows. `npm test` builds its scripts first. */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { env } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeReport } from '../../reports/report.js';
import { serve, type Serving } from '../../serve/server.js';
import { openRun } from '../../src/run/run-folder.js';
import { lockFolder } from '../../src/run/run-lock.js';
import { describeInBrowser, looks, type PageVisit } from '../fixtures/browser.js';
import {
  hostileName,
  madeUpCurves,
  madeUpEvaluation,
  madeUpExamples,
  madeUpTimings,
  writeMadeUpRun,
} from '../fixtures/made-up-runs.js';
import { folderWith } from '../fixtures/tiny-release.js';

/** Waits in the page until an expression holds. */
const until = (page: PageVisit, holds: string) =>
  page.evaluate(`new Promise((done) => { const look = () => (${holds}) ? done() : setTimeout(look, 20); look(); })`);

describeInBrowser('the live page', (browser) => {
  const runs = folderWith({});
  let serving: Serving;

  beforeAll(async () => {
    for (const seed of [1, 2, 3]) {
      writeMadeUpRun(join(runs, `talker-s${seed}`), {
        config: { seed, name: 'talker', ppo: { enabled: true, updates: 40 }, data: { dataset: 'opendialkg' } },
        metrics: madeUpCurves(seed, 20),
        timings: madeUpTimings,
        evaluations: [
          madeUpEvaluation('talker', 0.28, { checkpoint: 'best', examples: madeUpExamples }),
          madeUpEvaluation('frequency', 0.2, { note: hostileName }),
        ],
      });
    }
    writeMadeUpRun(join(runs, 'other'), {
      config: { seed: 1, name: 'other', ppo: { enabled: true, updates: 40, clipRange: 0.4 } },
      metrics: madeUpCurves(7, 20),
    });
    serving = await serve({ roots: [runs], port: 0, lookMs: 20 });
  });
  afterAll(() => serving?.close());

  const drawn = `document.querySelectorAll('.card canvas').length > 3`;
  const views = {
    curves: drawn,
    results: `document.querySelectorAll('section.set tbody tr').length > 1`,
    examples: `document.querySelectorAll('.example svg').length > 1`,
    ask: `document.querySelector('form.ask select')`,
    settings: `[...document.querySelectorAll('td code')].some((one) => one.textContent === 'ppo.clipRange')`,
  };

  test.each(looks)('shows every view at %i px by %s, without a complaint or another host', async (width, scheme) => {
    for (const [view, holds] of Object.entries(views)) {
      const page = await browser().visit(`${serving.url}?${view}-${scheme}#${view}`, width, scheme);
      await until(page, holds);
      expect(page.complaints).toEqual([]);
      expect(page.requests.filter((address) => !address.startsWith(serving.url))).toEqual([]);
      expect(page.requests.length).toBeGreaterThan(3);
      // Tables and drawings scroll in themselves: the page is as wide as the window.
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });

  test('a curve grows when a line is written, and what was chosen stays', async () => {
    const page = await browser().visit(`${serving.url}?grow`, 1440, 'light');
    await until(page, drawn);
    const last = `Chart.getChart(document.querySelector('[data-plot="opendialkg ppo rollout/reward"] canvas'))?.scales.x.max`;
    await until(page, `${last} === 20`);
    await page.evaluate(`(() => {
      const slider = document.querySelector('.controls input[type=range]');
      slider.value = 0.5;
      slider.dispatchEvent(new Event('input'));
    })()`);
    for (const seed of [1, 2, 3]) {
      appendFileSync(
        join(runs, `talker-s${seed}/metrics.jsonl`),
        '{"phase":"ppo","step":25,"metrics":{"rollout/reward":0.1}}\n',
      );
    }
    await until(page, `${last} === 25`);
    expect(await page.evaluate(`document.querySelector('.controls output').textContent`)).toBe('0.50');
    expect(page.complaints).toEqual([]);
  });

  test('a run that begins appears by itself', async () => {
    const page = await browser().visit(`${serving.url}?new`, 1440, 'light');
    await until(page, drawn);
    writeMadeUpRun(join(runs, 'young'), { config: { seed: 1, name: 'young' }, metrics: madeUpCurves(9, 3) });
    await until(page, `[...document.querySelectorAll('aside .name')].some((one) => one.textContent === 'young')`);
  });

  test('a run in training shows its time to go by its own log, and none before it is known', async () => {
    for (const [id, timed] of [
      ['timed', 20],
      ['untimed', 0],
    ] as const) {
      writeMadeUpRun(join(runs, id), {
        config: { seed: 1, name: id, ppo: { enabled: true, updates: 40 } },
        metrics: madeUpCurves(3, 20),
        timings: Array.from({ length: timed }, (_, i) => ({ phase: 'ppo', step: i + 1, seconds: 10, rss_mb: 1 })),
      });
      const state = { schemaVersion: 1, done: {}, status: 'running', phase: 'ppo' };
      writeFileSync(join(runs, id, 'state.json'), JSON.stringify(state));
    }
    const locks = ['timed', 'untimed'].map((id) => lockFolder(join(runs, id)));
    const page = await browser().visit(`${serving.url}?left`, 1440, 'light');
    await until(page, drawn);
    await page.evaluate(`document.querySelector('#choose-all').click()`);
    const about = (id: string) =>
      `document.querySelector('#run-${id}').closest('label').querySelector('.about').textContent`;
    await until(page, `${about('timed')}.includes('to go') && ${about('untimed')}.includes('of 40')`);
    expect(await page.evaluate(`[${about('timed')}, ${about('untimed')}]`)).toEqual([
      'unnamed data · seed 1 · PPO 20 of 40, 03:20 to go',
      'unnamed data · seed 1 · PPO 20 of 40',
    ]);
    if (env.KGWALK_TEST_PICTURES) {
      writeFileSync(join(env.KGWALK_TEST_PICTURES, 'to-go.png'), await page.picture());
    }
    for (const release of locks) release();
    for (const id of ['timed', 'untimed']) rmSync(join(runs, id), { recursive: true });
  });

  test('titles of curves, heads of tables and what they mean are those of the report', async () => {
    const folders = [1, 2, 3].map((seed) => join(runs, `talker-s${seed}`));
    const { page: file } = await writeReport(
      folders.map((folder) => openRun(folder)),
      { to: join(folderWith({}), 'report') },
    );
    const own = await serve({ roots: folders, port: 0 });
    /** Texts with what is shown on hover, of charts that are drawn as they come near. */
    const curves = `(async () => {
      for (const one of document.querySelectorAll('details')) one.open = true;
      const titles = [];
      for (const chart of document.querySelectorAll('.plot.lines')) {
        chart.scrollIntoView();
        while (!chart.querySelector('.plot-title')) await new Promise((done) => setTimeout(done, 10));
        const { textContent, title } = chart.querySelector('.plot-title');
        titles.push([textContent, title]);
      }
      return titles.sort();
    })()`;
    const heads = `[...document.querySelector('table').tHead.rows[0].cells].map(({ textContent, title }) => [textContent, title])`;
    const heading = (level: number) => `[...document.querySelectorAll('h${level}')].map((one) => one.textContent)`;
    const report = await browser().visit(pathToFileURL(file).href, 1440, 'light');
    const [titles, columns, sections, sets] = [
      await report.evaluate<[string, string][]>(curves),
      await report.evaluate<[string, string][]>(heads),
      await report.evaluate<string[]>(heading(2)),
      await report.evaluate<string[]>(heading(3)),
    ];
    expect(titles.filter(([, meaning]) => meaning !== '').length).toBeGreaterThan(2);
    const live = await browser().visit(`${own.url}?words`, 1440, 'light');
    await until(live, drawn);
    // Titles come with the evaluations; the report leaves out what never changes.
    await until(live, `document.querySelector('.plot-title[title]:not([title=""])')`);
    expect(await live.evaluate(curves)).toEqual(expect.arrayContaining(titles));
    expect(sections).toContain(await live.evaluate(`document.querySelector('h1').textContent`));
    const results = await browser().visit(`${own.url}?words-results#results`, 1440, 'light');
    await until(results, views.results);
    expect(await results.evaluate(heads)).toEqual(columns);
    expect(sets).toEqual(expect.arrayContaining(await results.evaluate<string[]>(heading(2))));
    expect(sections).toContain(await results.evaluate(`document.querySelector('h1').textContent`));
    await own.close();
  });

  test('every control is reached by the Tab key, and the focus is seen', async () => {
    const page = await browser().visit(`${serving.url}?tab#results`, 1440, 'light');
    await until(page, views.results);
    const controls = `[...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')].filter((one) => !one.disabled && one.checkVisibility()).length`;
    // Lists fill after the results are there: what is counted has stood still for a while.
    await until(
      page,
      `(() => {
        const [count, still] = window.stood ?? [0, 0];
        window.stood = [${controls}, count === ${controls} ? still + 1 : 0];
        return window.stood[1] > 50;
      })()`,
    );
    const wanted = await page.evaluate<number>(controls);
    const seen = new Set<string>();
    for (let place = ''; !seen.has(place);) {
      if (place !== '') seen.add(place);
      await page.press('Tab');
      const [next, outline] = await page.evaluate<[string, string]>(`(() => {
        const one = document.activeElement;
        one.dataset.number ??= String(document.querySelectorAll('[data-number]').length);
        return [one === document.body ? 'body' : one.dataset.number, getComputedStyle(one).outlineStyle];
      })()`);
      if (next !== 'body') expect(outline).not.toBe('none');
      place = next;
    }
    expect([...seen].filter((place) => place !== 'body').length).toBe(wanted);
  });

  test('differences are tested on demand, and a refusal is said', async () => {
    const page = await browser().visit(`${serving.url}?test#results`, 1440, 'light');
    await until(page, views.results);
    await page.evaluate(`document.querySelector('section.set form').requestSubmit()`);
    // Made-up evaluations hold no rows to pair: the server says so, and the page shows it.
    await until(page, `document.querySelector('.trouble')`);
    expect(await page.evaluate(`document.querySelector('.trouble').textContent`)).toContain('expected');
  });
});

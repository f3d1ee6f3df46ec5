/** The page of runs and evaluations together, as a browser shows it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeReport } from '../../reports/report.js';
import { openRun } from '../../src/run/run-folder.js';
import { describeInBrowser, looks } from '../fixtures/browser.js';
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

describeInBrowser('the report', (browser) => {
  let folder: string;
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
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(looks)(
    'at %d pixels and %s: nothing is complained of or fetched, and nothing sticks out',
    async (width, scheme) => {
      const page = await browser().visit(url, width, scheme);
      // Folded parts are checked, too.
      await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
      const widest = await page.evaluate<number>('document.documentElement.scrollWidth');
      const drawn = await page.evaluate<{ alt: string; width: number; isBlank: boolean }[]>(
        `(async () => {
          const figures = [...document.querySelectorAll('[data-plot]')];
          for (const one of figures) {
            one.scrollIntoView();
            for (let i = 0; i < 200 && !one.querySelector('canvas'); i++) await new Promise(requestAnimationFrame);
          }
          return figures.map((one) => one.querySelector('canvas')).map((canvas) => ({
            alt: canvas.getAttribute('aria-label'), width: canvas.clientWidth,
            isBlank: !canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean) }));
        })()`,
      );
      const paper = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');

      expect(page.complaints).toEqual([]);
      expect(page.requests).toEqual([url]);
      expect(widest).toBe(width);
      expect(drawn.length).toBeGreaterThan(20);
      expect(drawn.filter(({ alt, width: across, isBlank }) => alt.length < 20 || across < 200 || isBlank)).toEqual([]);
      expect(paper !== 'rgb(255, 255, 255)').toBe(scheme === 'dark');
    },
  );

  test('on paper it is by day, and no table sticks out', async () => {
    const page = await browser().visit(url, 700, 'print');
    await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(700);
    expect(await page.evaluate<boolean>('[...document.images].every((one) => one.clientWidth > 200)')).toBe(true);
    expect(await page.evaluate<string>('getComputedStyle(document.body).color')).toBe('rgb(31, 41, 51)');
  });

  test('the paper’s tables hold every figure, and ours stand out', async () => {
    const page = await browser().visit(url, 1440, 'light');
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
    const page = await browser().visit(url, 390, 'light');
    expect(await page.evaluate<number>('document.querySelectorAll("img[onerror], iframe").length')).toBe(0);
    expect(await page.evaluate<number>('document.scripts.length')).toBe(3);
    expect(await page.evaluate<string>('document.body.textContent')).toContain('<img src=x onerror=alert(1)>\\u202e');
    const bare = '[...document.querySelectorAll(".scroll")].filter((one) => one.tabIndex < 0 || !one.ariaLabel).length';
    expect(await page.evaluate<number>(bare)).toBe(0);
  });

  describe('a chart', () => {
    const curve = '[...document.querySelectorAll("[data-name=\\"umls-ppo-rollout-reward\\"]")][0]';
    const state = `(() => { const canvas = ${curve}.querySelector('canvas'); const chart = Chart.getChart(canvas);
      const { left, right, top, bottom } = chart.chartArea; const at = canvas.getBoundingClientRect();
      return { left: at.left + left, right: at.left + right, y: at.top + (top + bottom) / 2,
        x: [chart.scales.x.min, chart.scales.x.max], kind: chart.scales.y.type, label: ${curve}.querySelector('select').selectedOptions[0].text,
        lines: chart.data.datasets.flatMap((one) => one.line ?? []), pointed: chart.tooltip.getActiveElements().length,
        first: chart.data.datasets.find((one) => one.line).data[1].y }; })()`;
    interface State {
      left: number;
      right: number;
      y: number;
      x: [number, number];
      kind: string;
      label: string;
      lines: string[];
      pointed: number;
      first: number;
    }
    const shown = async (width = 1440) => {
      const page = await browser().visit(url, width, 'light');
      await page.evaluate(
        `(async () => { ${curve}.scrollIntoView({ block: 'center' });
          while (!${curve}.querySelector('canvas')) await new Promise(requestAnimationFrame); })()`,
      );
      const click = (text: string) =>
        page.evaluate(`[...${curve}.querySelectorAll('button')].find((one) => one.textContent === '${text}').click()`);
      return { page, click, now: () => page.evaluate<State>(state) };
    };

    test('shows the values under the pointer, zooms to a dragged range, and zooms out', async () => {
      const { page, click, now } = await shown();
      const whole = await now();
      const third = (whole.right - whole.left) / 3;
      await page.mouse([{ x: whole.left + third, y: whole.y }]);
      expect((await now()).pointed).toBe(2);
      const ends = [whole.left + third, whole.left + 2 * third].map((x) => ({ x, y: whole.y }));
      await page.mouse(ends, true);
      const { x } = await now();
      const span = whole.x[1] - whole.x[0];
      expect((x[0] - whole.x[0]) / span).toBeCloseTo(1 / 3, 1);
      expect((x[1] - whole.x[0]) / span).toBeCloseTo(2 / 3, 1);
      await click('whole');
      expect((await now()).x).toEqual(whole.x);
      expect(page.complaints).toEqual([]);
    });

    test('takes the wheel once it has the focus, and leaves it to the page before', async () => {
      const { page, now } = await shown();
      const { left, right, y, x } = await now();
      const middle = { x: (left + right) / 2, y };
      const before = await page.evaluate<number>('scrollY');
      await page.wheel(middle, 120);
      await page.evaluate(
        'new Promise((resolve) => { const wait = () => scrollY === ' +
          before +
          ' ? requestAnimationFrame(wait) : resolve(); wait(); })',
      );
      expect((await now()).x).toEqual(x);
      await page.evaluate(`${curve}.scrollIntoView({ block: 'center' })`);
      await page.evaluate(`${curve}.querySelector('canvas').focus()`);
      await page.wheel({ x: middle.x, y: (await now()).y }, -120);
      const zoomed = (await now()).x;
      expect(zoomed[1] - zoomed[0]).toBeLessThan(x[1] - x[0]);
    });

    test('is worked by keys: from point to point, closer, and back', async () => {
      const { page, now } = await shown(390);
      const whole = await now();
      await page.evaluate(`${curve}.querySelector('canvas').focus()`);
      for (const key of ['ArrowRight', 'ArrowRight']) await page.press(key);
      expect((await now()).pointed).toBe(2);
      expect(await page.evaluate<string>(`${curve}.querySelector('.plot-said').textContent`)).toMatch(
        /environment steps: [\d.]+; .*PPO.*: -?[\d.]+; .*REINFORCE.*: -?[\d.]+/,
      );
      await page.press('+');
      expect((await now()).x).not.toEqual(whole.x);
      await page.press('0');
      expect((await now()).x).toEqual(whole.x);
    });

    test('switches lines off, smooths, takes a logarithmic axis, and counts what is chosen', async () => {
      const { page, click, now } = await shown();
      const whole = await now();
      await click(whole.lines[0]!);
      expect((await now()).lines).toEqual(whole.lines.slice(1));
      await click(whole.lines[0]!);
      await click('log y');
      expect((await now()).kind).toBe('logarithmic');
      await click('log y');
      const set = (selector: string, value: string, event: string) =>
        page.evaluate(`(() => { const one = ${curve}.querySelector('${selector}'); one.value = '${value}';
          one.dispatchEvent(new Event('${event}')); })()`);
      await set('input[type=range]', '12', 'input');
      expect((await now()).first).not.toBe(whole.first);
      await set('select', '1', 'change');
      expect((await now()).label).toMatch(/updates$/);
    });
  });

  test('a table is put in the order of a column', async () => {
    const page = await browser().visit(url, 1440, 'light');
    const column = `[...document.querySelector('table').tBodies[0].rows].map((row) => row.cells[1].firstChild.textContent)`;
    const press = `document.querySelectorAll('table th')[1].querySelector('button').click()`;
    const before = await page.evaluate<string[]>(column);
    await page.evaluate(`${press}; ${press}`);
    const after = await page.evaluate<string[]>(column);
    expect(after).toEqual([...before].sort((a, b) => Number(a) - Number(b)));
    expect(after).not.toEqual(before);
    expect(await page.evaluate<string>(`document.querySelectorAll('table th')[1].ariaSort`)).toBe('ascending');
  });
});

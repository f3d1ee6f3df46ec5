import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { light } from '../../reports/plots/chart.js';
import { configOf } from '../../reports/plots/config.js';
import { placeFor } from '../../reports/plots/scatter.js';
import { collectNoise, sweptFigures, sweptIn, sweptTable } from '../../reports/varied-number.js';
import { openingOf, reservationsOf, resultOf } from '../../reports/intro.js';
import { barFigures, costFigures, foundCurves } from '../../reports/figures.js';
import { collectResults } from '../../reports/results.js';
import { agentCostTable, missTable, resultTable, slicesTable } from '../../reports/tables.js';
import { loadEvaluation, type EvaluationData } from '../../reports/run-data.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import {
  madeUpAnswers,
  madeUpSimulation,
  writeMadeUpEvaluation,
  type MadeUpEvaluation,
} from '../fixtures/made-up-evaluations.js';

let folder: string;
let written = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-questions-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function saved(record: EvaluationRecord, more: Omit<MadeUpEvaluation, 'record'> = {}): EvaluationData {
  return loadEvaluation(
    writeMadeUpEvaluation(join(folder, `e-${String(written++).padStart(8, '0')}`), { record, ...more }),
  );
}

const collect = (evaluations: EvaluationData[]) => collectResults(evaluations, []);

const labelsOf = (evaluations: EvaluationData[]) =>
  collect(evaluations).map((set) => [set.title, set.rows.map(({ label }) => label)]);

describe('evaluations of questions', () => {
  test('on the same questions are one set, best first; simulated ones never meet real ones, and lookups go with both', () => {
    const found = labelsOf([
      saved(madeUpAnswers('fiske', 0.4)),
      saved(madeUpSimulation('fiske', 1, 0)),
      saved(madeUpAnswers('tog', 0.5)),
      saved(madeUpSimulation('fiske', 0.7, 0.1)),
      saved(madeUpAnswers('lookup', 0.9, { calls: 0 })),
    ]);
    expect(found).toEqual([
      ['harbour, 2-hop, dev-valid', ['lookup', 'tog', 'fiske']],
      ['harbour, 2-hop, dev-valid, simulated by oracle:0', ['fiske', 'lookup']],
      ['harbour, 2-hop, dev-valid, simulated by oracle:0.1', ['lookup', 'fiske']],
    ]);
  });

  test('that asked the model of the package say so, by name, and those of other models do not', () => {
    const opening = (model: string) =>
      openingOf(
        [],
        collect([saved({ ...madeUpAnswers('tog', 0.5), model }), saved(madeUpAnswers('lookup', 0.9, { calls: 0 }))]),
      );
    expect(opening('kgwalk-demo.gguf').reservations).toMatch(
      /trained on the steps of such agents .* what tog reaches with it/,
    );
    expect(opening('other.gguf').reservations).not.toContain('trained on the steps');
  });

  test('of other questions stand apart, though all that is said of them is equal', () => {
    const other = Array.from({ length: 40 }, (_, i) => `other-${i}`);
    const found = labelsOf([saved(madeUpAnswers('fiske', 0.4)), saved(madeUpAnswers('tog', 0.4), { ids: other })]);
    expect(found.map(([, labels]) => labels)).toEqual([['fiske'], ['tog']]);
  });

  test('are named by what sets them apart: switches, budget, model, and at last the folder', () => {
    const [[, labels]] = labelsOf([
      saved(madeUpAnswers('fiske', 0.9, { switches: { stateful: false } })),
      saved(madeUpAnswers('fiske', 0.8)),
      saved(madeUpAnswers('fiske', 0.7, { budget: 5, hopsWithheld: true })),
      saved(madeUpAnswers('tog', 0.6)),
      saved(madeUpAnswers('tog', 0.5)),
    ]) as [[string, string[]]];
    expect(labels.slice(0, 3)).toEqual([
      'fiske (stateful=false)',
      'fiske, budget 30',
      'fiske, budget 5, hops withheld',
    ]);
    expect(labels[3]).toMatch(/^tog, [\d-]{8}$/);
  });

  test('of seeds are averaged; one seed that was measured twice is not two', () => {
    const seeds = [0.4, 0.5, 0.6].map((hit, seed) => saved(madeUpAnswers('fiske', hit, { seed })));
    const [set] = collect([...seeds, saved(madeUpAnswers('fiske', 0.4, { seed: 0 }))]);
    expect(set!.rows).toHaveLength(1);
    const [row] = set!.rows;
    expect(row).toMatchObject({ seeds: 3, asked: 120, misses: { 'wrong-answer': 60 } });
    expect(row!.metrics['hit@1']!.value).toBeCloseTo(0.5, 12);
    expect(row!.metrics['hit@1']!.deviation).toBeCloseTo(0.1, 12);
    expect(missTable(set!).rows[0]!.cells.map(({ text }) => text)).toEqual(['fiske', '50.0', '50.0']);
  });

  test('of trained agents are averaged over the runs that differ in the seed alone', () => {
    const seeds = [1, 2].map((seed) =>
      saved(
        madeUpAnswers('walker', 0.9, {
          calls: 0,
          run: `gone-20260102-030405-s${seed}`,
          checkpoint: 'best',
          hashes: { graph: 'a', dataset: 'd', checkpoint: `c${seed}` },
        }),
      ),
    );
    // Of runs that are gone the name is all there is: they are not taken for equal settings.
    expect(collect(seeds)[0]!.rows.map(({ seeds: count, own }) => [count, own])).toEqual([
      [1, true],
      [1, true],
    ]);
    const [first, second] = seeds.map((one) => ({
      ...one,
      trained: { settings: 'x', label: 'm', checkpoint: 'best' },
    }));
    expect(collect([first!, second!])[0]!.rows).toMatchObject([{ label: 'walker (best)', seeds: 2 }]);
  });

  test('are summed up with n, interval, calls, ties, and what a fixture means', () => {
    const [set] = collect([
      saved(madeUpAnswers('fiske', 0.5, { labels: ['fixture'] })),
      saved(madeUpAnswers('lookup', 0.5, { calls: 0, labels: ['fixture'] })),
      saved(madeUpAnswers('tog', 0.25, { labels: ['fixture'] })),
    ]);
    const text = resultOf(set!).replaceAll('\u00a0', ' ');
    expect(text).toBe(
      'on the 40 samples of harbour [fixture], 2-hop, dev-valid, lookup and fiske with 6.0 calls a sample are level, with a Hit@1 of 50.0 % each, before tog with 6.0 calls a sample and 25.0 %',
    );
    expect(reservationsOf(set!).join(' ')).toContain('no benchmark results');
    const [bars] = barFigures(set!, 'x', [set!.main]);
    expect(bars!.charts[0]!.alt).toMatch(
      /^Hit@1, % \(fixture\), of 40 samples, with 95 % intervals: lookup 50\.0 \(34\.5–65\.5\), fiske 50/,
    );
  });
});

describe('time a question', () => {
  const lap = (seconds: number, questions: number, asked: number, remembered: number) => ({
    phase: 'evaluate',
    step: questions,
    seconds,
    rss_mb: 100,
    'time/questions': questions,
    'time/asked': asked,
    'time/remembered': remembered,
    'time/promptTokens': 100 * asked,
    'time/cachedTokens': 60 * asked,
    'time/completionTokens': 10 * asked,
  });

  test('is of what was asked, not of what a resumed evaluation remembered', () => {
    const timings = [lap(20, 10, 40, 0), lap(0.1, 10, 0, 40), lap(30, 10, 60, 5)];
    expect(saved(madeUpAnswers('fiske', 0.5), { timings }).speed).toEqual({
      msPerSample: 2500,
      tokensPerSecond: (100 * 50) / 50,
    });
  });

  test('of an agent without a model has no tokens, and a simulation shows none at all', () => {
    const lookup = saved(madeUpAnswers('lookup', 0.5, { calls: 0 }), { timings: [lap(0.05, 10, 0, 0)] });
    expect(lookup.speed).toEqual({ msPerSample: 5 });
    const simulated = saved(madeUpSimulation('fiske', 0.5, 0), { timings: [lap(20, 10, 40, 0)] });
    const [set] = collect([simulated, lookup]);
    const table = resultTable(set!);
    expect(table.head.at(-1)).toBe('time');
    expect(table.rows.map(({ cells }) => cells.at(-1)!.text)).toEqual(['5.0 ms', '']);
  });
});

describe('what calls buy', () => {
  test('rises where questions ended, is seen to its end, and is averaged over seeds', () => {
    const title = 'Right within so many calls';
    const [set] = collect([
      saved(madeUpAnswers('fiske', 0.8, { calls: 4 })),
      saved(madeUpAnswers('fiske', 0.4, { calls: 4, seed: 1 })),
      saved(madeUpAnswers('tog', 0.5, { calls: 2 })),
      saved(madeUpAnswers('lookup', 0.5, { calls: 0 })),
    ]);
    const [{ charts }] = foundCurves(set!, title, 'x') as [ReturnType<typeof foundCurves>[number]];
    const { datasets } = configOf(charts[0]!.plot, light).data;
    expect(datasets.map(({ data }) => data)).toEqual([
      [0, 0, 0.3, 0.3, 0.6, 0.6].map((y, x) => ({ x, y: expect.closeTo(y, 12) })),
      [0, 0.25, 0.5, 0.5, 0.5, 0.5].map((y, x) => ({ x, y })),
    ]);
    expect(charts[0]!.alt).toContain('at 4: fiske 60.0, tog 50.0');
    expect(foundCurves(collect([saved(madeUpAnswers('lookup', 0.5, { calls: 0 }))])[0]!, title, 'x')).toEqual([]);
  });

  test('has a band of three seeds or more, also of a simulated model, whose hash holds its seed', () => {
    const simulated = { calls: 2, model: 'oracle:0.2', simulated: true };
    const seeds = [0, 1, 2].map((seed) => saved(madeUpAnswers('fiske', 0.4 + seed / 10, { ...simulated, seed })));
    seeds.forEach(({ record }, seed) => (record.hashes = { ...record.hashes, model: `oracle:0.2/${seed}` }));
    const [set] = collect(seeds);
    const [{ charts }] = foundCurves(set!, 'Right within so many calls', 'x') as [
      ReturnType<typeof foundCurves>[number],
    ];
    expect(set!.rows).toHaveLength(1);
    expect(charts[0]!.plot).toMatchObject({ lines: [{ seeds: [{}, {}, {}] }] });
    expect(charts[0]!.alt).toContain('at 2: fiske 50.0');
  });

  test('stands against what it costs, agents without calls left of a logarithmic axis', () => {
    const [set] = collect([
      saved(madeUpAnswers('fiske', 0.8, { calls: 4 })),
      saved(madeUpAnswers('lookup', 0.5, { calls: 0 })),
    ]);
    const [{ charts }] = costFigures(set!, 'x') as [ReturnType<typeof costFigures>[number]];
    // Nothing was timed, so there is no chart of seconds.
    expect(charts.map(({ name }) => name)).toEqual(['x-cost-calls']);
    expect(charts[0]!.alt).toMatch(/fiske 80\.0 \([\d.–]+\) at 4 calls, lookup 50\.0 \([\d.–]+\) at 0 calls/);
    expect(configOf(charts[0]!.plot, light).data.datasets[0]!.data).toEqual([
      { x: 4, y: 0.8 },
      { x: 0.1, y: 0.5 },
    ]);
    expect(costFigures(collect([saved(madeUpAnswers('lookup', 0.5, { calls: 0 }))])[0]!, 'x')).toEqual([]);
  });
});

describe('agents of which nothing differs but a number', () => {
  const table = (usual?: object) => {
    const by = (agent: string, hit: number, calls: number, switches = {}) =>
      saved(
        madeUpAnswers(agent, hit, {
          calls,
          switches,
          ...(usual && { options: { switches: { ...usual, ...switches } } }),
        }),
      );
    const kept = (hit: number, calls: number, more: object = {}) =>
      by('tog', hit, calls, { prefilter: 'bm25', ...more });
    return collect([
      kept(0.5, 2, { keep: 1 }),
      kept(0.8, 5, { keep: 5 }),
      kept(0.7, 4),
      by('tog', 0.75, 9),
      by('fiske', 0.4, 9, { keep: 1 }),
      saved(madeUpAnswers('lookup', 0.9, { calls: 0 })),
    ]);
  };

  test('are a line over it, the default in its place; the same agent otherwise lies level', () => {
    const [set] = table({ prefilter: 'none', keep: 3 });
    const [swept, ...others] = sweptIn(set!);
    expect(others).toEqual([]);
    expect(swept!.values).toEqual([1, 3, 5]);
    const { charts, caption } = sweptFigures(swept!, 'x');
    expect(charts.map(({ name }) => name)).toEqual(
      ['hit@1', 'f1', 'exact', 'complete', 'calls.mean'].map((key) => `x-keep-${key}`),
    );
    expect(charts[0]!.alt).toBe(
      'Hit@1, % · n = 40 against keep: tog (prefilter=bm25) from 50.0 % at 1 to 80.0 % at 5; for comparison tog 75.0 %',
    );
    expect(charts[0]!.plot).toMatchObject({ lines: [{ x: [[1, 3, 5]], seeds: [[0.5, 0.7, 0.8]] }] });
    expect(charts.at(-1)!.alt).toContain('from 2.0 at 1 to 5.0 at 5; for comparison tog 9.0');
    expect(caption).toContain('Agents that differ only in keep. 40 questions a point');
    const { head, rows } = sweptTable(swept!);
    expect(head).toEqual(['agent', 'keep 1', 'keep 3', 'keep 5']);
    expect(rows[0]!.cells.map(({ text }) => text)).toEqual(['tog (prefilter=bm25)', '50.0', '70.0', '80.0']);
  });

  test('leave out the default where it is not recorded', () => {
    expect(sweptIn(table()[0]!)[0]!.values).toEqual([1, 5]);
  });

  test('are apart by how they choose, and by the budget', () => {
    const asked = (choices: string | undefined, budget: number) =>
      saved(madeUpAnswers('tog', 0.5, { budget, ...(choices && { choices }) } as object));
    const [set] = collect([5, 10].flatMap((budget) => [asked(undefined, budget), asked('likelihood', budget)]));
    const swept = sweptIn(set!);
    expect(swept.map(({ setting, rows }) => [setting.axis, rows.map(({ label }) => label)])).toEqual([
      ['budget', ['tog, written', 'tog, by likelihood']],
    ]);
    expect(new Set(swept[0]!.rows.map(({ color }) => color)).size).toBe(2);
  });

  test('are no line where two things differ', () => {
    const [set] = collect([
      saved(madeUpAnswers('tog', 0.5, { calls: 2, switches: { keep: 1 } })),
      saved(madeUpAnswers('tog', 0.5, { calls: 2, switches: { keep: 2, width: 2 } })),
    ]);
    expect(sweptIn(set!)).toEqual([]);
  });
});

describe('a table of many agents', () => {
  const names = Array.from({ length: 7 }, (_, i) => `agent-${i}`);
  const many = () => {
    const lookup = saved(madeUpAnswers('lookup', 0.9, { calls: 0, hashes: { graph: 'a', dataset: 'd' } }));
    const prompted = names.flatMap((name, i) =>
      [undefined, 'likelihood'].map((choices) => {
        const record = madeUpAnswers(name, 0.3 + i / 20, { ...(choices && { choices }) } as object);
        return saved({ ...record, hashes: { graph: 'a', dataset: 'd' } });
      }),
    );
    return collect([lookup, ...prompted])[0]!;
  };

  test('has one colour per agent for every way of choosing', () => {
    const { rows } = many();
    const colorsOf = (name: string) =>
      new Set(rows.filter(({ label }) => label.startsWith(name)).map(({ color }) => color));
    expect(names.map((name) => colorsOf(name).size)).toEqual(names.map(() => 1));
    expect(new Set(names.flatMap((name) => [...colorsOf(name)])).size).toBe(names.length);
  });

  test('draws separate lines by how agents choose, and names the agents with nothing to draw', () => {
    const [group] = foundCurves(many(), 'Right within so many calls', 'x');
    expect(group!.charts.map(({ name }) => name).sort()).toEqual([
      'x-right within so many calls-by likelihood',
      'x-right within so many calls-written',
    ]);
    for (const { plot } of group!.charts) expect(plot).toMatchObject({ lines: names.map(() => expect.anything()) });
    expect(group!.caption).toMatch(/Nothing to draw of lookup\.$/);
  });

  test('has a row for each in the table of slices', () => {
    const { head, rows } = slicesTable(many(), ['answers=1', 'type=captain']);
    expect(head).toEqual(['agent', 'all', 'answers: 1 (n = 20)', 'type: captain (n = 20)']);
    expect(rows).toHaveLength(15);
  });

  test('has names of three lines where two would cut what sets them apart', () => {
    const labelOf = (keep: number) => `tog (prefilter=embedding; keep=${keep}), by likelihood`;
    const bars = [1, 2].map((keep) => ({ label: labelOf(keep), color: '#0072b2', value: 0.5, low: 0.4, high: 0.6 }));
    const { labels } = configOf({ kind: 'bars', title: 't', unit: '%', bars }, light).data;
    expect(labels).toEqual([1, 2].map((keep) => ['tog', '(prefilter=embedding;', `keep=${keep}), by likelihood`]));
  });

  test('looks for the place of a name in the plot of cost within reach of its point', () => {
    const area = { left: 0, right: 100, top: 0, bottom: 100 };
    const spot = { left: 48, right: 52, top: 48, bottom: 52 };
    const isFree = ({ top, bottom }: { top: number; bottom: number }) => bottom <= 20 || top >= 80;
    const taken = [{ left: 0, right: 100, top: 20, bottom: 80 }];
    expect(isFree(placeFor(spot, 30, taken, area))).toBe(true);
    expect(isFree(placeFor(spot, 30, taken, area, 1))).toBe(false);
  });
});

describe('noise', () => {
  const sets = () =>
    collect([
      ...[0.3, 0, 0.1].map((error) => saved(madeUpSimulation('fiske', 1 - error, error, 6 - 10 * error))),
      ...[0, 0.1, 0.3].map((error) => saved(madeUpSimulation('tog', 0.5 - error, error, 9))),
      saved(madeUpSimulation('cut', 0.5, 0.1)),
      saved(madeUpAnswers('fiske', 0.2)),
      saved(madeUpAnswers('lookup', 0.9, { calls: 0 })),
    ]);

  test('is one line an agent over the error rates, with intervals, simulated in every title, without real models', () => {
    const [noise, ...others] = collectNoise(sets());
    expect(others).toEqual([]);
    expect(noise!.values).toEqual([0, 0.1, 0.3]);
    const { charts, caption } = sweptFigures(noise!, 'x');
    expect(charts.map(({ name }) => name)).toEqual([
      ...['x-noise-hit@1', 'x-noise-f1', 'x-noise-exact', 'x-noise-complete', 'x-noise-calls.mean'],
    ]);
    expect(charts[0]!.alt).toBe(
      'Hit@1, % (simulated) against decisions in which the oracle errs, %: fiske from 100.0 % at 0 % to 70.0 % at 30 %, tog from 50.0 % at 0 % to 20.0 % at 30 %',
    );
    expect(charts.at(-1)!.alt).toContain('fiske from 6.0 at 0 % to 3.0 at 30 %');
    // Two edges of the band, then the line.
    expect(configOf(charts[0]!.plot, light).data.datasets).toHaveLength(6);
    expect(caption).toContain('40 questions a point');
  });

  test('has a table with all figures, empty where an error rate was not measured', () => {
    const table = sweptTable(collectNoise(sets())[0]!);
    expect(table.head).toEqual(['agent (simulated)', 'error 0 %', 'error 10 %', 'error 30 %']);
    const cells = Object.fromEntries(table.rows.map(({ cells: [label, ...rest] }) => [label!.text, rest]));
    expect(cells.cut!.map(({ text }) => text)).toEqual(['', '50.0', '']);
    expect(cells.fiske![2]!.details!.slice(1)).toEqual([
      'F1 63.0',
      'exact set 56.0',
      'complete match 59.5',
      'calls 3.0',
    ]);
  });

  test('needs two error rates', () => {
    expect(collectNoise(collect([saved(madeUpSimulation('fiske', 1, 0))]))).toEqual([]);
  });

  test('go apart by how much lists confuse the oracle', () => {
    const confused = (hit: number, error: number, confuse: number) =>
      saved({ ...madeUpSimulation('fiske', hit, error), model: `oracle:${error},confuse=${confuse}` });
    const found = [
      saved(madeUpSimulation('fiske', 0.9, 0.1)),
      ...[confused(0.8, 0, 0.5), confused(0.5, 0.1, 0.5), confused(0.4, 0.1, 1)],
    ];
    const sets = collect(found);
    expect(sets[0]!.simulated).toBe('oracle:0,confuse=0.5');
    expect(collectNoise(sets).map(({ values, set }) => [values, set.simulated])).toEqual([
      [[0, 0.1], 'oracle:0,confuse=0.5'],
    ]);
  });
});

test('training pays off once the samples asked cost more, by processor time or by price', () => {
  const [set] = collect([saved(madeUpAnswers('lookup', 0.9, { calls: 0 })), saved(madeUpAnswers('tog', 0.5))]);
  const [walker, tog] = set!.rows;
  const speed = (cpuPerSample: number) => ({ msPerSample: 1000 * cpuPerSample, cpuPerSample });
  const cost = { ...tog!.cost, promptTokens: { ...tog!.cost.promptTokens!, mean: 1000 } };
  const rows = [
    { ...walker!, own: true, trainingSeconds: 90, speed: speed(0.5) },
    { ...tog!, cost, speed: speed(2) },
  ];
  const cell = (some: typeof rows, prices?: Parameters<typeof agentCostTable>[1]) => {
    const { head, rows: shown } = agentCostTable({ ...set!, rows: some }, prices);
    return head.at(-1)!.startsWith('training of') ? shown.map(({ cells }) => cells.at(-1)!.text) : undefined;
  };
  expect(cell(rows)).toEqual(['', 'after 60 samples']);
  expect(cell([rows[0]!, { ...rows[1]!, speed: speed(0.1) }])).toEqual(['', 'never']);
  const prices = { of: ({ promptTokens }: { promptTokens: number }) => promptTokens / 1000, processorSecond: 0.1 };
  // 9 for training; then 0.05 a sample against 1 for tokens and 0.2 for the processor.
  expect(cell(rows, prices)).toEqual(['', 'after 8 samples']);
  expect(cell([{ ...rows[0]!, trainingSeconds: undefined as never }, rows[1]!])).toBeUndefined();
});

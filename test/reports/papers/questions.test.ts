import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { fiske } from '../../../reports/papers/fiske.js';
import { selfVeqa } from '../../../reports/papers/self-veqa.js';
import { type Paper, paperViews } from '../../../reports/papers/table.js';
import { collectResults } from '../../../reports/results.js';
import { loadEvaluation, loadRunData, subjectsOf } from '../../../reports/run-data.js';
import type { EvaluationRecord } from '../../../src/run/evaluation.js';
import { openRun } from '../../../src/run/run-folder.js';
import { madeUpAnswerMetrics, madeUpAnswers, writeMadeUpEvaluation } from '../../fixtures/made-up-evaluations.js';
import { writeMadeUpRun } from '../../fixtures/made-up-runs.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-papers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Rows = Record<string, string[]>;

/** Tables of a paper by number; lines of ours by the system above them. */
function tablesOf(paper: Paper, records: readonly EvaluationRecord[], runs: readonly string[] = []) {
  const trained = runs.map((place) => loadRunData(openRun(place, folder)));
  const saved = records.map((record, i) =>
    loadEvaluation(writeMadeUpEvaluation(join(folder, `e-${String(i).padStart(8, '0')}`), { record })),
  );
  const sets = collectResults([...trained.flatMap(({ evaluations }) => evaluations), ...saved], subjectsOf(trained));
  const parts = paperViews(paper, sets).flatMap((view) => view.parts);
  const read = parts.map(({ heading, table, caption }) => {
    let system = '';
    const ours: Rows = {};
    for (const { own, cells } of table!.rows) {
      const [name, by, ...texts] = cells.map(({ text }) => text);
      if (by === 'paper') system = name!;
      expect(own === true).toBe(by !== 'paper');
      if (by !== 'paper') ours[`${system}: ${by}`] = [...(ours[`${system}: ${by}`] ?? []), ...texts];
    }
    return [Number(/table (\d)/.exec(heading!)![1]), { ours, caption: caption!, table: table! }] as const;
  });
  return new Map(read);
}

const onMetaQa = (hops: number, agent: string, hit: number, more: Partial<EvaluationRecord> = {}) =>
  madeUpAnswers(agent, hit, { dataset: 'metaqa', subsets: [`${hops}-hop`], n: 10 * hops, ...more });
const onWebQsp = (agent: string, hit: number, more: Partial<EvaluationRecord> = {}) =>
  madeUpAnswers(agent, hit, { dataset: 'webqsp', labels: ['fixture'], subsets: ['webqsp'], ...more });

describe('tables of papers on questions', () => {
  test.each([selfVeqa, fiske])('have as many figures in a line as columns', ({ tables }) => {
    for (const { rows, figures } of tables)
      for (const texts of rows.flatMap(({ printed }) => Object.values(printed))) {
        expect(texts.split(' ')).toHaveLength(figures.length);
      }
  });

  test('hold what is printed', () => {
    const printed = ({ tables }: Paper, number: number, system: string) =>
      tables.find((table) => table.number === number)!.rows.flatMap((row) => row.printed[system] ?? []);
    expect(printed(selfVeqa, 1, 'NSM')).toEqual(['99.9 98.9 62.8 68.7']);
    expect(printed(selfVeqa, 2, 'without verification')).toEqual(['98.9 98.7 63.9 74.3']);
    expect(printed(fiske, 1, 'FiSKE, GPT-4')).toEqual(['94.4 74.4 84.2 77.8']);
    expect(printed(fiske, 6, 'without both')).toEqual(['51.4 38.7 15.9']);
  });

  test('join an agent’s evaluations on several data sets in one line, with the size of each', () => {
    const found = tablesOf(selfVeqa, [
      onMetaQa(2, 'self-veqa', 0.9),
      onMetaQa(3, 'self-veqa', 0.8),
      onWebQsp('self-veqa', 0.5),
      onWebQsp('structgpt', 0.4),
    ]);
    const { ours, table, caption } = found.get(1)!;
    expect(ours).toEqual({
      'StructGPT (ChatGPT): ours': ['', '', '36.0', '40.0'],
      'Self-VEQA: ours': ['90.0', '80.0', '45.0', '50.0'],
    });
    const line = table.rows.findLast(({ own }) => own)!;
    expect(line.cells[1]!.details).toEqual(['n = 20, 30, 40']);
    expect(line.cells[0]!.details).toContain('small.gguf');
    expect(line.cells[2]!.details![0]).toMatch(/^\d+\.\d–\d+\.\d$/);
    expect(caption).toContain('Evaluated here: webqsp [fixture], webqsp, dev-valid · n = 40; ');
  });

  test('read a subset from the slices of all questions', () => {
    const slices = { 'subset=2-hop': madeUpAnswerMetrics(0.7, 6, 12) };
    const { ours } = tablesOf(selfVeqa, [onMetaQa(2, 'io', 0.5, { subsets: ['2-hop', '3-hop'], slices })]).get(1)!;
    expect(ours).toEqual({ 'ChatGPT: ours': ['70.0', '', '', ''] });
  });

  test('take evaluations with the switches of the row alone, those of the reference, and any source of hops', () => {
    const asked = (hit: number, switches: Record<string, unknown>) => onWebQsp('self-veqa', hit, { switches });
    const found = tablesOf(selfVeqa, [
      asked(0.1, { memory: 'off' }),
      asked(0.2, { memory: 'off', rounds: 4 }),
      asked(0.3, { verifier: 'reference', vocabulary: 'examples' }),
      asked(0.4, { hops: 'none', verify: false }),
      asked(0.5, { rounds: 4 }),
    ]);
    expect(found.get(2)!.ours).toEqual({
      'Self-VEQA: ours': ['', '', '27.0', '30.0'],
      'without memory: ours': ['', '', '9.0', '10.0'],
      'without verification: ours': ['', '', '36.0', '40.0'],
    });
    expect(found.get(3)!.ours).toEqual({
      'rounds = 2 (best): ours': ['27.0', '30.0'],
      'rounds = 4: ours': ['45.0', '50.0'],
    });
    expect([...found.keys()]).toEqual([1, 2, 3, 4]);
  });

  test('stand on no page of other data, other agents or switches', () => {
    expect(tablesOf(selfVeqa, [madeUpAnswers('self-veqa', 0.5), onWebQsp('tog', 0.4)]).size).toBe(0);
    expect(tablesOf(fiske, [onWebQsp('fiske', 0.5, { switches: { maxHops: 2 } })]).size).toBe(0);
    expect(tablesOf(fiske, [onWebQsp('fiske', 0.5, { dataset: 'webqsps' })]).size).toBe(0);
  });

  test('have readers by kind, once, though they stand with every model', () => {
    const place = join(folder, 'reader');
    const evaluation = onWebQsp('nsm', 0.6, { checkpoint: 'best', model: undefined });
    writeMadeUpRun(place, {
      config: {
        name: 'r',
        seed: 1,
        data: { dataset: 'webqsp' },
        reader: { kind: 'nsm', entities: { teacher: 'hybrid' } },
      },
      evaluations: [evaluation],
    });
    const { ours, table } = tablesOf(selfVeqa, [], [place]).get(1)!;
    expect(ours).toEqual({ 'NSM: ours': ['', '', '54.0', '60.0'] });
    // On the page of a comparison the evaluation is read without its run.
    const alone = collectResults([loadEvaluation(join(place, 'evaluations', '0'))], []);
    expect(paperViews(selfVeqa, alone)[0]!.parts[0]!.table).toEqual(table);
    expect(table.rows.find(({ own }) => own)!.cells[0]!.details).toContain('teacher hybrid');
  });

  test('show statements with evidence, and by the verdict alone, and calls by subset', () => {
    const calls = { value: 5.2, low: 5, high: 5.4, n: 8 };
    const share = (value: number) => ({ value, low: value, high: value, n: 8 });
    const truth = { grounded: share(0.25), accuracy: share(0.75), 'calls.mean': calls };
    const record = madeUpAnswers('fiske', 0.5, { dataset: 'mooc', subsets: ['1-hop-truth'], metrics: truth, n: 8 });
    const found = tablesOf(fiske, [record]);
    expect(found.get(1)!.ours).toEqual({
      'FiSKE, GPT-4: ours': ['25.0', '', '', ''],
      'FiSKE, GPT-4: ours, verdict alone': ['75.0', '', '', ''],
    });
    expect(found.get(4)!.ours).toEqual({ 'FiSKE, GPT-4: ours': ['5.2', '', ''] });
    expect(found.size).toBe(2);
  });

  test('leave rows that nothing fills as they are printed', () => {
    const { ours, table } = tablesOf(fiske, [onWebQsp('tog', 0.4)]).get(2)!;
    expect(ours).toEqual({ 'ToG, GLM4-9B: ours': ['', '', '40.0', '34.0'] });
    const printed = table.rows.filter(({ own }) => !own).map(({ cells }) => cells.map(({ text }) => text));
    expect(printed).toHaveLength(12);
    expect(printed.at(-2)).toEqual(['FiSKE + IO, Llama3-8B', 'paper', '81.2', '50.5', '75.0', '43.3']);
  });
});

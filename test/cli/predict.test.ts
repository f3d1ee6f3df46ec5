/** `kgwalk predict`: the likeliest missing triples of links. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { importLinks } from '../../datasets/links/import-links.js';
import { loadPreset } from '../../presets/index.js';
import { usualFlags } from '../../tasks/flags.js';
import { predictLinks } from '../../tasks/links/predict.js';
import type { Work } from '../../tasks/task.js';
import { train } from '../../tasks/train.js';
import { kgwalk, kgwalkJson, printed } from '../fixtures/command-line.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { tinyLinkFiles, tinyLinkTriples } from '../fixtures/tiny-links.js';
import { folderWith } from '../fixtures/tiny-release.js';

useSharedHome(() => importLinks({ from: folderWith(tinyLinkFiles), name: 'tiny' }));

interface Predicted {
  inTest: number;
  predictions: {
    headId: string;
    relation: string;
    tailId: string;
    score: number;
    test: boolean;
    reasons?: object[];
    rules?: object[];
  }[];
}
const predict = (...words: string[]) => kgwalkJson<Predicted>('predict', ...words);
const byRules = (...words: string[]) => predict('tiny', '--agent', 'rules', ...words);
const triplesOf = ({ predictions }: Predicted) =>
  predictions.map(({ headId, relation, tailId }) => [headId, relation, tailId].join(' '));
const ask = (agent: string, head: string, relation: string) =>
  kgwalkJson<{ answers: { id: string; score: number; known: boolean; reasons?: object[] }[] }>(
    ...['ask', '--agent', agent, '--dataset', 'tiny', head, relation, '--top', '100'],
  );

test('what a rule implies and train lacks comes first, with its chain', async () => {
  const { predictions, inTest } = await byRules('--relation', 'citizen_of', '--all-heads', '--top', '2');
  // Born in t0 and t1, which lie in c0; the others whose citizenship train lacks are in valid.
  expect(triplesOf({ predictions, inTest })).toEqual(['p8 citizen_of c0', 'p9 citizen_of c0']);
  for (const one of predictions) {
    expect(one).toMatchObject({ test: true });
    expect(one.rules![0]).toEqual({ words: 'born_in → lies_in (6 of 6)', right: 6, of: 6, precision: 6 / 11 });
  }
  expect(inTest).toBe(2);
  const text = await printed(
    ...['predict', 'tiny', '--agent', 'rules', '--relation', 'citizen_of', '--all-heads', '--top', '3'],
  );
  expect(text).toMatch(/^rank +head +relation +tail +score +test +why\n +1 +Ivy Stone +citizen_of +Northland +0\.\d+ /);
  expect(text).toMatch(/yes +0\.55 born_in → lies_in \(6 of 6\); /);
  expect(text).toContain('test holds 2 of these 3; the others are unjudged, not wrong');
});

test('heads are those that train has of the relation; ~ asks for heads', async () => {
  const { predictions } = await byRules('--relation', 'citizen_of');
  expect(predictions.length).toBeGreaterThan(0);
  for (const { headId } of predictions) expect(headId).toMatch(/^p[0-5]$/);
  const inverse = await byRules('--relation', '~citizen_of', '--top', '2');
  expect(triplesOf(inverse)).toEqual(['c0 ~citizen_of p8', 'c0 ~citizen_of p9']);
  expect(inverse.inTest).toBe(2);
});

test('triples of train and valid never appear, those of test are marked, none twice', async () => {
  const all = await byRules('--all-heads', '--top', '100000');
  const found = triplesOf(all);
  expect(new Set(found).size).toBe(found.length);
  const known = [...tinyLinkTriples.train, ...tinyLinkTriples.valid].map((triple) => triple.join(' '));
  expect(found.filter((one) => known.includes(one))).toEqual([]);
  const marked = found.filter((_, i) => all.predictions[i]!.test);
  expect(marked.sort()).toEqual(tinyLinkTriples.test.map((triple) => triple.join(' ')));
  const scores = all.predictions.map(({ score }) => score);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
  // The best of a longer list are the list of fewer.
  expect(triplesOf(await byRules('--all-heads', '--top', '4'))).toEqual(found.slice(0, 4));
  const each = triplesOf(await byRules('--all-heads', '--top', '2', '--each'));
  const relations = ['born_in', 'lives_in', 'lies_in', 'citizen_of'];
  const firsts = relations.flatMap((relation) => found.filter((one) => one.includes(` ${relation} `)).slice(0, 2));
  expect(each).toEqual(firsts);
});

test('scores of a chain walker are its probabilities, those of other agents a softmax; reasons are those of ask', async () => {
  const run = join(folderWith({}), 'chains');
  await train({
    settings: loadPreset('link-chains', ['data.dataset=tiny', 'exactWalker.chains.steps=20']),
    folder: run,
  });
  const { predictions } = await predict(run, '--relation', 'citizen_of', '--all-heads', '--top', '1000');
  const { answers } = await ask(run, 'p8', 'citizen_of');
  const own = predictions.filter(({ headId }) => headId === 'p8');
  expect(own.map(({ tailId }) => tailId)).toEqual(answers.map(({ id }) => id));
  own.forEach(({ score, reasons }, i) => {
    expect(score).toBeCloseTo(Math.exp(answers[i]!.score), 12);
    expect(reasons).toEqual(answers[i]!.reasons);
  });
  const random = await predict('tiny', '--agent', 'random', '--relation', 'lies_in', '--top', '1000');
  const walked = (await ask('random', 't0', 'lies_in')).answers;
  const sum = walked.reduce((all, { score }) => all + Math.exp(score), 0);
  for (const { headId, tailId, score } of random.predictions) {
    if (headId === 't0') expect(score).toBeCloseTo(Math.exp(walked.find(({ id }) => id === tailId)!.score) / sum, 12);
  }
});

test('--to writes a table of ids, names and reasons, whole', async () => {
  const folder = folderWith({});
  const file = join(folder, 'missing.tsv');
  const words = ['predict', 'tiny', '--agent', 'rules', '--relation', 'citizen_of', '--all-heads', '--top', '1'];
  expect(await printed(...words, '--to', file)).toContain(`written: ${file}`);
  const [columns, row, end] = readFileSync(file, 'utf8').split('\n');
  expect(columns).toBe('head_id\trelation\ttail_id\tscore\ttest\thead\ttail\twhy');
  expect(row).toMatch(/^p8\tcitizen_of\tc0\t0\.\d+\t1\tIvy Stone\tNorthland\t0\.55 born_in → lies_in \(6 of 6\); /);
  expect(end).toBe('');
  expect(readdirSync(folder)).toEqual(['missing.tsv']);
});

describe('refuses', () => {
  test.each([
    [['--relation', 'citizen'], /expected a relation of tiny, got "citizen"/, /Did you mean "citizen_of"/],
    [['--top', '0'], /whole number from 1 to 100000, got "0", at --top/, undefined],
    [['--top', '-3'], /got "-3", at --top/, undefined],
    [['--top', '1.5'], /got "1\.5", at --top/, undefined],
    [['--to', 'x.csv'], /ends in \.tsv, got x\.csv, at --to/, undefined],
    [['--threads', '2'], /expected transe or bilinear with --threads, got rules/, undefined],
  ])('%j before rules are mined', async (words, message, hint) => {
    const { exitCode, err, out } = await kgwalk('predict', 'tiny', '--agent', 'rules', ...words);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toMatch(message);
    if (hint) expect(err).toMatch(hint);
    expect(err).not.toContain('mine rules');
  });

  test('agents that ask a model, data sets without an agent, runs of another task, names of nothing', async () => {
    const refusal = async (...words: string[]) => (await kgwalk('predict', ...words)).err;
    expect(await refusal('tiny', '--agent', 'tog')).toContain('expected a run or an agent without a model, got tog');
    expect(await refusal('tiny')).toMatch(
      /expected an agent for a data set, got none, at --agent\n.* tiny --agent rules/,
    );
    expect(await refusal(await finishedRun('questions'))).toContain('expected links to predict, got questions');
    expect(await refusal('nothing')).toContain('expected a run, got nothing');
  });
});

test('stops at the next head', async () => {
  const stop = new AbortController();
  let ranked = 0;
  const work: Work = {
    progress: (label) => ({
      update() {
        if (label !== 'rank tails') return;
        ranked++;
        stop.abort();
      },
      finish() {},
    }),
    signal: stop.signal,
    note() {},
    onTruncatedLog() {},
    preset: () => Promise.reject(new Error('no settings')),
  };
  const flags = { ...usualFlags, dataset: 'tiny', relation: [] };
  const stopped = predictLinks({ name: 'rules', agent: 'rules', switches: {} }, flags, work);
  await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
  expect(ranked).toBe(1);
});

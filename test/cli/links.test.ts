import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Comparison } from '../../evaluation/compare.js';
import { importLinks } from '../../datasets/links/import-links.js';
import { type EvaluationRecord, evaluationRecord } from '../../src/run/evaluation.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { printed } from '../fixtures/command-line.js';
import { folderWith } from '../fixtures/tiny-release.js';

useSharedHome(() => importLinks({ from: folderWith(tinyLinkFiles), name: 'tiny' }));
let kept = '';

const onTiny = (...words: string[]) =>
  printed(...words, '--dataset', 'tiny', ...(words[0] === 'ask' ? [] : ['--evaluations', kept]));
const evaluateJson = async (...words: string[]) =>
  JSON.parse(await onTiny('evaluate', ...words, '--json')) as EvaluationRecord & {
    saved: string;
    speed: object;
    failures: object[];
  };

beforeEach(() => {
  kept = folderWith({});
});

describe('kgwalk evaluate on links', () => {
  test('prints figures of each direction, what can be reached, and where it is kept', async () => {
    const text = await onTiny('evaluate', '--agent', 'random', '--split', 'test');
    expect(text).toMatch(/^random walk \[knows no relation\] on tiny, graph train · split test · n = 4 · horizon 3\n/);
    for (const direction of [/direction=tail +2 +0\.\d{3} /, /direction=head +2 +0\.\d{3} /, /MRR +0\.\d{3} \[/]) {
      expect(text).toMatch(direction);
    }
    expect(text).toMatch(/metric +k=1 +k=2 +k=3 +k=10\n[^]*reachable@k +0\.000 \[.*\] +1\.000 \[.*\] +1\.000 \[/);
    expect(text).toMatch(/ ms a sample/);
    expect(text).toMatch(/saved: .*random-tiny-test-[0-9a-f]{8}/);
  });

  test('keeps the record and its rows, without a clock: again, the same bytes', async () => {
    const first = await evaluateJson('--agent', 'random');
    const { saved, speed, failures, ...record } = first;
    expect(failures).toEqual([]);
    expect(record).toMatchObject({ agent: 'random', dataset: 'tiny', split: 'valid', n: 4, horizon: 3 });
    expect(record).toMatchObject({ metrics: { mrr: { n: 4 } }, slices: { 'direction=tail': { mrr: { n: 2 } } } });
    expect(speed).toMatchObject({ seconds: expect.any(Number) });
    const bytes = () => ['evaluation.json', 'rows.arrow'].map((file) => readFileSync(join(saved, '..', file)));
    const before = bytes();
    expect(evaluationRecord.parse(JSON.parse(before[0]!.toString()))).toEqual(record);
    await onTiny('evaluate', '--agent', 'random');
    expect(bytes()).toEqual(before);
  });

  test('takes a direction and a seeded sample, kept apart', async () => {
    const tails = await evaluateJson('--agent', 'random', '--direction', 'tail', '--limit', '1');
    expect(tails).toMatchObject({ n: 1, limit: 1, directions: ['tail'], metrics: { mrr: { n: 1 } }, slices: {} });
    const drawn = await onTiny('evaluate', '--agent', 'random', '--limit', '1');
    expect(drawn).toContain('n = 2, a seeded sample of 1, 2 questions each');
    const both = await evaluateJson('--agent', 'random');
    expect(both.saved).not.toBe(tails.saved);
    expect(existsSync(tails.saved)).toBe(true);
  });

  test.each([
    [['evaluate', '--agent', 'random', '--split', 'train'], /valid or test, got train/],
    [['evaluate', '--agent', 'random', '--limit', '0'], /whole number from 1, got "0", at --limit/],
    [['evaluate', '--agent', 'nobody'], /expected an agent, got "nobody"/],
    [
      ['evaluate', '--agent', 'random', '--beam-width', '8'],
      /expected a run that draws walks with --beam-width, got random/,
    ],
    [['evaluate', '--agent', 'random', '--config', 'x'], /expected transe or bilinear with --config/],
    [
      ['evaluate', '--agent', 'random', '--turns', 'all'],
      /expected options of links, got --turns, which is for dialogues/,
    ],
    [['evaluate', '--agent', 'random', '--encoder', 'x'], /expected a run with an encoder with --encoder, got random/],
    [['ask', '--agent', 'random', 'Ada Quill'], /expected a head and a relation on links, got 1 words/],
    [['ask', '--agent', 'random', 'Ada Quil', 'born_in'], /expected an entity of tiny, got "Ada Quil"/],
    [['ask', '--agent', 'random', 'Milton', 'lies_in'], /the name of 2: t1, t2/],
    [['ask', '--agent', 'random', 'p0', 'born'], /expected a relation of tiny/],
    [['ask', '--agent', 'random', 'p0', 'born_in', '--top', 'x'], /got "x", at --top/],
  ])('refuses %j', async (words, message) => {
    await expect(onTiny(...words)).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(message) });
  });

  test('says which data is missing', async () => {
    await expect(printed('evaluate', '--agent', 'bilinear')).rejects.toThrow(/data set of links for agent bilinear/);
    await expect(printed('evaluate', '--agent', 'random', '--dataset', 'none')).rejects.toMatchObject({ code: 'data' });
    const questions = printed('evaluate', '--agent', 'random', '--direction', 'tail');
    await expect(questions).rejects.toThrow(/expected options of dialogues, got --direction, which is for links/);
  });
});

describe('kgwalk ask on links', () => {
  test('ranks entities; names are ids or display names, ~ asks for heads', async () => {
    const text = await onTiny('ask', '--agent', 'random', 'Ada Quill', 'citizen_of', '--top', '3');
    expect(text).toMatch(
      /^question: \(Ada Quill, citizen_of, \?\)\ntopic: Ada Quill\n\nrank +answer +score +known\n( +\d .*\n){3}\nanswered by agent random, /,
    );
    expect(text.trimEnd()).toMatch(/, triples of train of tiny$/);
    const asked = JSON.parse(await onTiny('ask', '--agent', 'random', 'c0', '~citizen_of', '--json')) as {
      head: string;
      answers: { entity: string; id: string; known: boolean; score: number }[];
    };
    expect(asked.head).toBe('Northland');
    expect(asked.answers).toHaveLength(10);
    const known = asked.answers.filter((answer) => answer.known).map(({ id }) => id);
    expect(known.every((id) => ['p0', 'p1', 'p4', 'p5', 'p8', 'p9'].includes(id))).toBe(true);
    expect(known.length).toBeGreaterThan(0);
    const scores = asked.answers.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });
});

describe('rules', () => {
  test('find what they were mined for; ask prints the rule, and omits entities that no rule reaches', async () => {
    const { metrics, details } = await evaluateJson('--agent', 'rules', '--split', 'test', '--direction', 'tail');
    expect(metrics.mrr!.value).toBe(1);
    expect(details.chains).toContainEqual(
      expect.objectContaining({ relation: 'citizen_of', chain: ['born_in', 'lies_in'] }),
    );
    const text = await onTiny('ask', '--agent', 'rules', 'p8', 'citizen_of');
    expect(text).toMatch(/\n   1 +Northland /);
    expect(text).toMatch(/\nwhere from\n   1  0\.55 born_in → lies_in \(6 of 6\); 0\.\d\d /);
    expect(text.match(/^ +\d .*/gm)!.length).toBeLessThan(6);
  });
});

describe('kgwalk compare on links', () => {
  test('takes kept evaluations, and tests each against the last', async () => {
    const { saved } = await evaluateJson('--agent', 'random');
    const folder = join(saved, '..');
    const text = await onTiny('compare', folder, 'random');
    expect(text).toMatch(/2 agents on tiny/);
    expect(text).toMatch(/MRR − random walk/);
    const { comparisons } = JSON.parse(await onTiny('compare', folder, 'random', '--json')) as {
      comparisons: Comparison[];
    };
    expect(Object.keys(comparisons[0]!.slices!)).toEqual(['direction=head', 'direction=tail']);
    for (const differences of Object.values(comparisons[0]!.slices!)) {
      expect(differences.mrr).toMatchObject({ value: 0, pValue: 1 });
    }
    expect(comparisons[0]!.differences.mrr).toMatchObject({ value: 0, pValue: 1 });
  });

  test('refuses other queries', async () => {
    const { saved } = await evaluateJson('--agent', 'random', '--split', 'test');
    await expect(onTiny('compare', join(saved, '..'), 'random')).rejects.toThrow(
      /expected the questions of random, got others, at .+ split valid, n = \d+, and .+ split test, n = /,
    );
  });
});

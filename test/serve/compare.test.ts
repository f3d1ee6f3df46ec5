/** Evaluations that commands left behind, compared as `kgwalk compare` does. */
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Comparison } from '../../evaluation/compare.js';
import { serve, type Serving } from '../../serve/server.js';
import { kgwalkJson } from '../fixtures/command-line.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { importFilms } from '../fixtures/toy-question-training.js';

const runs = folderWith({});
let serving: Serving;
let expected: Comparison[];
let keys: string[];

beforeAll(async () => {
  env.KGWALK_HOME = folderWith({});
  await importFilms();
  const words = ['template-lookup', 'random-chain', '--dataset', 'films', '--evaluations', join(runs, 'evaluations')];
  ({ comparisons: expected } = await kgwalkJson<{ comparisons: Comparison[] }>('compare', ...words));
  serving = await serve({ roots: [runs], port: 0 });
  const { sets } = (await get('results')) as { sets: { rows: { evaluations: string[]; label: string }[] }[] };
  const rows = sets[0]!.rows;
  keys = ['template-lookup', 'random-chain'].map((name) => rows.find(({ label }) => label === name)!.evaluations[0]!);
});
afterAll(async () => {
  await serving.close();
});

const get = async (path: string) => (await fetch(`${serving.url}api/${path}`)).json() as Promise<object>;
const named = (...some: string[]) => some.map((key) => `evaluation=${encodeURIComponent(key)}`).join('&');

test('differences, intervals and p are those of the command', async () => {
  expect(expected[0]!.differences['hit@1']!.n).toBeGreaterThan(1);
  expect(await get(`compare?${named(...keys)}`)).toMatchObject({
    against: { key: keys[1], name: 'random-chain' },
    figures: expect.arrayContaining([expect.objectContaining({ key: 'hit@1', unit: '%' })]),
    comparisons: expected,
  });
});

test('against the other one, differences have the other sign', async () => {
  const { comparisons } = (await get(`compare?${named(...keys)}&against=${encodeURIComponent(keys[0]!)}`)) as {
    comparisons: Comparison[];
  };
  expect(comparisons[0]).toMatchObject({ agent: 'random-chain', against: 'template-lookup' });
  expect(comparisons[0]!.differences['hit@1']!.value).toBe(-expected[0]!.differences['hit@1']!.value);
});

test('one alone, or one that is not served, is refused with what was expected', async () => {
  expect(await get(`compare?${named(keys[0]!)}`)).toMatchObject({ error: { code: 'usage' } });
  expect(await get(`compare?${named(keys[0]!, 'evaluations/none')}`)).toMatchObject({
    error: { message: 'expected a key of one evaluation that is served, got "evaluations/none"' },
  });
});

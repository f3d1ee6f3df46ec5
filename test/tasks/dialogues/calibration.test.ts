/** Calibration and gold parts of a walker, on a toy world, by hand. */
import { describe, expect, test } from '@jest/globals';
import type { Agent } from '../../../agents/agent.js';
import { evaluationSettings } from '../../../trainers/run-settings.js';
import type { Path } from '../../../src/kg/graph.js';
import { seenEntities, goldPartRanks } from '../../../tasks/dialogues/row.js';
import { namedWalk, sampleOf, world } from '../../agents/baselines/toy-world.js';
import { evaluatedDialogues } from '../../fixtures/evaluated.js';
import { finalEntities } from '../../fixtures/final-entities.js';

const director = namedWalk('Heat', 'directed_by', 'Mann');
const other = namedWalk('Heat', 'directed_by', 'Mann', '~directed_by', 'Ali');
const pacino = namedWalk('Heat', 'starred', 'Pacino');
const deNiro = namedWalk('Heat', 'starred', 'De Niro');
const drama = namedWalk('Heat', 'genre', 'Drama');
const goldOf = (path: Path) => sampleOf('gold', path).gold;
/** A walker that always thinks the same. */
const thought: [Path, number][] = [
  [director, 0.4],
  [other, 0.3],
  [pacino, 0.2],
  [deNiro, 0.1],
];
const ranked = thought.map(([path, probability]) => ({ path, logProb: Math.log(probability) }));
const walker: Agent = {
  name: 'walker',
  answer: async (tasks) =>
    tasks.map(({ start }) => ({
      ...{ paths: ranked, answers: finalEntities(ranked, start, world.equalRelation), confidence: 0.5, cost: {} },
    })),
  logProbs: async (given) =>
    given.map(({ paths }) =>
      paths.map((path) => ranked.find((one) => String(one.path) === String(path))?.logProb ?? NaN),
    ),
};

test('what is known of a gold leaves the walks that share it, and the gold’s rank among them', () => {
  expect(goldPartRanks(ranked, goldOf(pacino))).toEqual({
    squares: expect.closeTo(0.16 + 0.09 + 0.04 + 0.01, 12),
    ranks: { hops: 2, relation: 1, relations: 1, edge: 1, target: 1 },
    first: ['hops'],
  });
  expect(goldPartRanks(ranked, goldOf(deNiro)).ranks).toEqual({
    hops: 3,
    relation: 2,
    relations: 2,
    edge: 1,
    target: 1,
  });
  expect(goldPartRanks(ranked, goldOf(other))).toMatchObject({
    ranks: { hops: 1, relation: 2, relations: 1, edge: 2, target: 1 },
    first: ['relation', 'edge'],
  });
  expect(goldPartRanks(ranked, goldOf(drama)).ranks).toEqual({
    ...{ hops: 0, relation: 0, relations: 0, edge: 0, target: 0 },
  });
});

test('of a gold that the graph lacks nothing is right, though the first walk has its relation', () => {
  const { ranks, first, squares } = goldPartRanks(ranked, goldOf(namedWalk('Heat', 'directed_by', 'Smith')));
  expect([Object.values(ranks), first, squares]).toEqual([[0, 0, 0, 0, 0], [], expect.closeTo(0.3, 9)]);
});

describe('an evaluation of a walker', () => {
  const said = { messages: [{ sender: 'user' as const, text: 'Heat?' }] };
  const samples = [sampleOf('a', director, said), sampleOf('b', deNiro, said), sampleOf('c', other)];
  const train = [sampleOf('t', director, said)];
  const evaluated = (agent: Agent, asked = samples) =>
    evaluatedDialogues(agent, asked, {
      ...{
        graph: world,
        train,
        settings: evaluationSettings.parse({ resamples: 20 }),
        seenTargets: seenEntities(train),
      },
      about: { dataset: 'toy', split: 'valid', turns: 'all' },
    });

  test('reports calibration, misses by missing part, and fan-out', async () => {
    const { record } = await evaluated(walker);
    const { calibration, known, fanOut } = record.details as Record<string, never>;
    expect(calibration).toMatchObject({ n: 3, said: expect.closeTo(0.4, 6), right: 1 / 3 });
    expect(known).toEqual([
      { known: 'nothing', right: 1 / 3 },
      { known: 'hops', right: 2 / 3, alone: 2 / 3 },
      { known: 'relation', right: 1 / 3, alone: 2 / 3 },
      { known: 'relations', right: 2 / 3, alone: 1 / 3 },
      { known: 'edge', right: 2 / 3, alone: 2 / 3 },
      { known: 'target', right: 1, alone: 1 / 3 },
    ]);
    expect(fanOut).toEqual([
      { from: 1, to: 1, n: 1, right: 1, known: 1 },
      { from: 2, to: 3, n: 1, right: 0, known: 0 },
    ]);
    expect(record.sections.map(({ title }) => title)).toEqual([
      'What can be answered',
      'Likelihood of the golds',
      'Calibration of the first path',
      'First paths if part of the gold were known',
      'One-hop golds by tails of their start and relation',
    ]);
  });

  test('counts golds that it cannot walk and turns that it fails on as misses, and says over how many turns', async () => {
    const failing: Agent = {
      ...walker,
      answer: async (tasks) => {
        if (tasks.some(({ id }) => id === 'fails')) throw new TypeError('expected an answer, got none');
        return walker.answer(tasks);
      },
    };
    const { record } = await evaluated(failing, [
      ...[sampleOf('a', director, said), sampleOf('cut', drama, said), sampleOf('fails', director, said)],
      sampleOf('absent', namedWalk('Heat', 'directed_by', 'Smith')),
    ]);
    const { calibration, known, fanOut } = record.details as Record<string, never>;
    expect(calibration).toMatchObject({ n: 4, said: expect.closeTo(0.3, 9), right: 1 / 4 });
    expect(known).toEqual([
      { known: 'nothing', right: 1 / 4 },
      { known: 'hops', right: 1 / 4, alone: 2 / 4 },
      ...['relation', 'relations', 'edge', 'target'].map((part) => ({ known: part, right: 1 / 4, alone: 1 / 4 })),
    ]);
    expect(fanOut).toEqual([{ from: 1, to: 1, n: 3, right: 1 / 3, known: 1 / 3 }]);
    const [, , calibrated, table] = record.sections;
    expect(calibrated!.lines![0]).toContain('over 4 turns: given 30.0 % on average, right 25.0 %');
    expect(table!.rows!.map(({ n }) => n)).toEqual(Array(6).fill(4));
  });

  test('says none of it of an agent that only orders walks', async () => {
    const { record } = await evaluated({ name: 'rule', answer: walker.answer });
    expect(record.details).toEqual({ coverage: expect.anything() });
  });
});

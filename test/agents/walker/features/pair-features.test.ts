import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CosineMemo, EntityCosines } from '../../../../agents/walker/features/cosines.js';
import type { FrozenVectors } from '../../../../agents/walker/features/dialogue-scratch.js';
import { edgeFeatureNames } from '../../../../agents/walker/features/edge-features.js';
import { PairFeatures, pairFeatureNames } from '../../../../agents/walker/features/pair-features.js';
import type { WalkSample, WalkTask } from '../../../../datasets/walk-sample.js';
import { type WalkState, applyAction, defaultWalkRules, initialState } from '../../../../envs/dialogue-walk/rules.js';
import { Rng } from '../../../../src/run/seeds.js';
import { checkProperty } from '../../../fixtures/property.js';
import { laterSample, reachableStates, toyFeaturizer } from '../../../fixtures/toy-walker.js';
import { graphOf, sampleOf, toyTwoHop } from '../../../fixtures/toy-walks.js';
import { c, expectFeatures, featuresOf } from './by-hand.js';

const graph = graphOf('films', [
  ['Inception', 'directed_by', 'Nolan'],
  ['Inception', 'released', '2010'],
  ['Inception', 'starring', 'Page'],
  ['Inception', 'starring', 'Caine'],
  ['Nolan', 'directed', 'Inception'],
  ['Nolan', 'directed', 'Tenet'],
  ['Tenet', 'starring', 'Caine'],
  ['Tenet', 'released', '2020'],
]);
// Entities: Inception 0, Nolan 1, 2010 2, Page 3, Caine 4, Tenet 5, 2020 6. Relations: directed_by, released, starring, directed.
// Kinds: Inception starring, Nolan directed, Tenet starring or released (one each: the later in the row of relations), others none.

const directed = ['Inception', 'directed_by', 'Nolan'] as const;
const starring = ['Inception', 'starring', 'Page'] as const;
const tenet = ['Nolan', 'directed', 'Tenet'] as const;
const after = (id: string, earlier: readonly (readonly [string, string, string])[], gold: typeof earlier) =>
  laterSample(graph, id, id, ['one', 'two'], [earlier], gold);
const train = [
  sampleOf(graph, 'one', '', 'Inception', [directed]),
  sampleOf(graph, 'two', '', 'Inception', [directed, tenet]),
  sampleOf(graph, 'three', '', 'Inception', [directed, tenet]),
  sampleOf(graph, 'four', '', 'Inception', [starring]),
  after('five', [tenet], [starring]),
];

/** Unit vectors along axes: a cosine is 1 or 0. */
const axis = (indices: readonly number[], dim: number) =>
  Float32Array.from({ length: indices.length * dim }, (_, i) => Number(indices[Math.floor(i / dim)] === i % dim));
const vectors: FrozenVectors = { dim: 4, entities: axis([0, 1, 2, 3, 0, 0, 2], 4), relations: axis([0, 1, 2, 3], 4) };
const x = (index: number) => axis([index], 4);

function features(
  task: WalkTask,
  state: WalkState,
  {
    counted = train,
    before = [x(0), x(3)],
    wideDegrees,
  }: { counted?: WalkSample[]; before?: Float32Array[]; wideDegrees?: Int32Array } = {},
): Record<string, number[]> {
  const pairs = new PairFeatures({ graph, vectors, horizon: 2, counted, wideDegrees });
  pairs.open(x(2), before);
  return featuresOf(graph, state, pairFeatureNames, (actions, out) =>
    pairs.write(task, state, actions, out, 0, pairFeatureNames.length),
  );
}

const { log, log1p } = Math;
const task = sampleOf(graph, 'asked', 'What of it?', 'Inception', [directed]).task;
const start = initialState(graph, 0, defaultWalkRules);
const atNolan = applyAction(graph, start, 0, defaultWalkRules);

describe('pair features, by hand', () => {
  test('at the start: Nolan, 2010, Page, Caine', () => {
    expectFeatures(features(task, start), {
      // The first step comes after none: 3 of 5 are directed_by, 2 starring.
      'count of the relation after the one before': [c(3), 0, c(2), c(2)],
      'share of the relation after the one before': [3 / 5, 0, 2 / 5, 2 / 5],
      // All walks begin at one thing.
      'count of the relation by kind of the start': [c(3), 0, c(2), c(2)],
      'share of the relation by kind of the start': [3 / 5, 0, 2 / 5, 2 / 5],
      // No path before, as in four walks.
      'count of the relation by that of the last path': [c(3), 0, c(1), c(1)],
      'share of the relation by that of the last path': [3 / 4, 0, 1 / 4, 1 / 4],
      // Three first steps led to what mostly directed, two to what has no edges.
      'count of the kinds of start and tail': [c(3), c(2), c(2), c(2)],
      'cosine of start and tail': [0, 0, 0, 1],
      // Inception is next to Nolan: of 7 entities Nolan has 2 edges.
      'neighbours that start and tail share': [0, 0, 0, 0],
      'tail is a neighbour of the start': [0, 0, 0, 0],
      'tail is a year': [0, 1, 0, 0],
      'year of the tail': [0, 110 / 120, 0, 0],
      'years between start and tail': [0, 0, 0, 0],
      'cosine of last messages and relation': [0, 0, 1, 1],
      'cosine of the message before the last and tail': [0, 0, 0, 1],
      'cosine of the message before the last and relation': [1, 0, 0, 0],
      'cosine of the message before that and tail': [0, 0, 1, 0],
      'cosine of the message before that and relation': [0, 0, 0, 0],
      'log degree of the tail in the wider graph': [0, 0, 0, 0],
      'log ratio of its degrees': [0, 0, 0, 0],
    });
  });

  test('one step on: back to Inception, Tenet, or stay', () => {
    const rarity = log(8 / 3) / 40;
    expectFeatures(features(task, atNolan), {
      // After directed_by two continued by directed, one stayed.
      'count of the relation after the one before': [c(2), c(2), c(1)],
      'share of the relation after the one before': [2 / 3, 2 / 3, 1 / 3],
      // Later steps: two continued, three stayed.
      'count of the relation by kind of the start': [c(2), c(2), c(3)],
      'share of the relation by kind of the start': [2 / 5, 2 / 5, 3 / 5],
      'neighbours that start and tail share': [rarity, rarity, 0],
      'tail is a neighbour of the start': [0, 0, 1],
      'year of the tail': [110 / 120, 1, 0],
      'years between start and tail': [0, 10 / 30, 0],
      'cosine of last messages and relation': [0, 0, 0],
    });
  });

  test('a walk is counted by the relation of the path before it', () => {
    const { task } = after('later', [tenet], [directed]);
    expectFeatures(features(task, start), {
      'count of the relation by that of the last path': [0, 0, c(1), c(1)],
      'share of the relation by that of the last path': [0, 0, 1, 1],
    });
  });

  test('without messages before the last their cosines are 0', () => {
    const names = pairFeatureNames.filter((name) => name.includes('message before'));
    expect(names).toHaveLength(4);
    const one = features(task, start, { before: [x(0)] });
    expect(one['cosine of the message before the last and tail']).toEqual([0, 0, 0, 1]);
    expect(one['cosine of the message before that and tail']).toEqual([0, 0, 0, 0]);
    const none = features(task, start, { before: [] });
    for (const name of names) expect(none[name]).toEqual([0, 0, 0, 0]);
  });

  test('degrees in a wider graph, and their ratio to those in this one', () => {
    const wideDegrees = Int32Array.of(4, 20, 1, 0, 6, 2, 1);
    expectFeatures(features(task, start, { wideDegrees }), {
      'log degree of the tail in the wider graph': [log1p(20) / 8, log1p(1) / 8, 0, log1p(6) / 8],
      'log ratio of its degrees': [(log1p(20) - log1p(2)) / 4, log1p(1) / 4, 0, log1p(6) / 4],
    });
  });

  test('without counted walks the first seven are 0', () => {
    const values = features(task, start, { counted: [] });
    for (const name of pairFeatureNames.slice(0, 7)) expect(values[name]).toEqual([0, 0, 0, 0]);
  });
});

test('a neighbour joined to an entity by several relations is counted once', () => {
  const triples = [
    ['Heat', 'directed_by', 'Mann'],
    ['Mann', 'directed', 'Heat'],
    ['Mann', 'directed', 'Ali'],
    ['Mann', 'produced', 'Heat'],
    ['Mann', 'produced', 'Ali'],
    ['Mann', 'wrote', 'Ali'],
  ] as const;
  const joined = graphOf('joined', triples);
  const dim = 4;
  const pairs = new PairFeatures({
    ...{ graph: joined, horizon: 2, counted: [] },
    vectors: { dim, entities: new Float32Array(joined.numEntities * dim), relations: new Float32Array(4 * dim) },
  });
  pairs.open(x(2), []);
  const { task } = sampleOf(joined, 'asked', '', 'Heat', [triples[0]]);
  const atMann = applyAction(joined, initialState(joined, task.start, defaultWalkRules), 0, defaultWalkRules);
  const actions = Int32Array.from(Array(joined.degree(atMann.current)).keys());
  const width = pairFeatureNames.length;
  const out = new Float32Array(actions.length * width);
  pairs.write(task, atMann, actions, out, 0, width);
  const shared = pairFeatureNames.indexOf('neighbours that start and tail share');
  // Mann has 5 edges, to Heat and Ali of 3 entities.
  const rarity = log(4 / 6) / 40;
  expect(Array.from(actions, (i) => out[i * width + shared]!)).toEqual(Array(5).fill(expect.closeTo(rarity, 7)));
});

test('stand behind the usual features, which they leave as they are', async () => {
  const world = toyTwoHop();
  const states = reachableStates(world);
  const [plain, more] = [await toyFeaturizer(world), await toyFeaturizer(world, { pairFeatures: 'graph' })];
  const [few, many] = [plain.batch(states).edgeFeatures, more.batch(states).edgeFeatures];
  const [width, wide] = [edgeFeatureNames.length, edgeFeatureNames.length + pairFeatureNames.length];
  expect([plain.numEdgeFeatures, more.numEdgeFeatures]).toEqual([width, wide]);
  const usual = many.filter((_, i) => i % wide < width);
  expect(usual).toEqual(few);
  expect(many.filter((value, i) => i % wide >= width && value !== 0).length).toBeGreaterThan(states.length);
  // Independent of requests in between.
  expect(more.batch([...states].reverse()).edgeFeatures).toHaveLength(many.length);
  expect(more.batch(states).edgeFeatures).toEqual(many);
});

const numEntities = 37;

describe.each([2, 6, 7, 384])('cosines over vectors of %i numbers', (dim) => {
  const rng = Rng.named(dim, 'test/cosines');
  const random = (count: number) => Float32Array.from({ length: count }, () => rng.normal());
  const table = random(numEntities * dim);
  const queries = [random(dim), random(dim), random(dim)];

  test('that were prepared are to the bit those that are computed one by one', () => {
    const many = new EntityCosines(table, dim);
    let generation = 0;
    const asked = fc.array(
      fc.record({
        query: fc.nat(1),
        lists: fc.array(fc.array(fc.nat(numEntities - 1), { maxLength: 12 }), { maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 4 },
    );
    checkProperty(
      fc.property(asked, (dialogues) => {
        for (const { query, lists } of dialogues) {
          const [last, window] = [new CosineMemo(table, dim), new CosineMemo(table, dim)];
          last.open(queries[query]!, 1);
          window.open(queries[query + 1]!, 1);
          many.open(queries[query]!, queries[query + 1]!, ++generation);
          for (const list of lists) {
            many.prepare(list);
            // Others than those that were prepared may be asked for, too.
            for (const entity of [...list, (list[0] ?? 0) + 1].map((index) => index % numEntities)) {
              expect(many.last.of(entity)).toBe(last.of(entity));
              expect(many.window.of(entity)).toBe(window.of(entity));
            }
          }
        }
      }),
      { numRuns: 30 },
    );
  });
});

test('more entities than a kernel takes at once are prepared all the same', () => {
  const [dim, count] = [4, 9001];
  const table = Float32Array.from({ length: count * dim }, (_, i) => Math.sin(i));
  const query = Float32Array.of(1, -2, 3, 0.5);
  const cosines = new EntityCosines(table, dim);
  cosines.open(query, query, 1);
  cosines.prepare(Array.from({ length: count }, (_, entity) => entity));
  const alone = new CosineMemo(table, dim);
  alone.open(query, 1);
  const entities = Array.from({ length: count }, (_, entity) => entity);
  expect(entities.map((entity) => cosines.window.of(entity))).toEqual(entities.map((entity) => alone.of(entity)));
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CosineMemo, EntityCosines } from '../../../../agents/dialogue-walker/features/cosines.js';
import {
  DialogueScratch,
  type FrozenVectors,
  NameIndex,
  tokenize,
} from '../../../../agents/dialogue-walker/features/dialogue-scratch.js';
import { edgeFeatureNames } from '../../../../agents/dialogue-walker/features/edge-features.js';
import { PairFeatures, pairFeatureNames } from '../../../../agents/dialogue-walker/features/pair-features.js';
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

describe('features of a dialogue', () => {
  const { graph, samples } = toyTwoHop();
  const names = new NameIndex(graph);
  /** An odd width, so that the last dimension is not forgotten. */
  const dim = 5;
  const rng = Rng.named(1, 'test/scratch');
  const random = (rows: number) => Float32Array.from({ length: rows * dim }, () => rng.normal());
  const vectors: FrozenVectors = { dim, entities: random(graph.numEntities), relations: random(graph.numRelations) };
  const queries = random(12);
  const query = (i: number) => queries.subarray(i * dim, (i + 1) * dim);

  const gold = [['film', 'genre', 'heist']] as const;
  const dialogues: WalkTask[] = [
    ...samples.map(({ task }) => task),
    laterSample(graph, 'a', 'a', ['Nolan of Tenet', 'the film, not London'], [[['page', 'acted_in', 'juno']]], gold)
      .task,
    laterSample(graph, 'b', 'b', ['juno, juno', 'Washington'], [gold, [['nolan', 'born_in', 'london']]], gold).task,
  ];

  /** All that a scratch says of its dialogue. */
  function contents(scratch: DialogueScratch) {
    const entities = graph.entityNames.map((_, entity) => entity);
    return {
      flags: Array.from(scratch.flags),
      nearLast: Array.from(scratch.nearLast),
      nearEarlier: Array.from(scratch.nearEarlier),
      overlapLast: entities.map((entity) => scratch.overlapLast(entity)),
      overlapEarlier: entities.map((entity) => scratch.overlapEarlier(entity)),
      relations: graph.relationNames.map((_, relation) => scratch.cosineLastRelation(relation)),
      last: entities.map((entity) => scratch.cosineLastEntity(entity)),
      window: entities.map((entity) => scratch.cosineWindowEntity(entity)),
    };
  }

  const freshScratch = () => new DialogueScratch(graph, names, vectors);
  const opened = (scratch: DialogueScratch, which: number) => {
    scratch.open(dialogues[which]!, query(which), query(which + 1));
    return contents(scratch);
  };

  describe('the scratch of a dialogue', () => {
    test('does not depend on dialogues opened before', () => {
      const alone = dialogues.map((_, which) => opened(freshScratch(), which));
      checkProperty(
        fc.property(fc.array(fc.nat(dialogues.length - 1), { minLength: 1, maxLength: 8 }), (order) => {
          const scratch = freshScratch();
          for (const which of order) expect(opened(scratch, which)).toEqual(alone[which]);
        }),
        { numRuns: 40 },
      );
    });

    test('is empty for a dialogue that says nothing', () => {
      const scratch = freshScratch();
      opened(scratch, dialogues.length - 1);
      const silent = { ...dialogues[0]!, messages: [], earlierPaths: [] };
      scratch.open(silent, new Float32Array(dim), new Float32Array(dim));
      for (const values of Object.values(contents(scratch))) expect(new Set(values)).toEqual(new Set([0]));
    });

    test('gives dot products with the opened vectors', () => {
      const { relations, last, window } = opened(freshScratch(), 2);
      const dot = (table: Float32Array, row: number, vector: Float32Array) =>
        vector.reduce((sum, value, j) => sum + value * table[row * dim + j]!, 0);
      relations.forEach((value, r) => expect(value).toBeCloseTo(dot(vectors.relations, r, query(2)), 5));
      last.forEach((value, e) => expect(value).toBeCloseTo(dot(vectors.entities, e, query(2)), 5));
      window.forEach((value, e) => expect(value).toBeCloseTo(dot(vectors.entities, e, query(3)), 5));
    });

    test('weighs shared words by how rare they are among names', () => {
      const scratch = freshScratch();
      scratch.open(sampleOf(graph, 'x', 'FILM and Tenet', 'film', gold).task, query(0), query(1));
      // Every name here is one distinct word.
      expect(scratch.overlapLast(graph.entityId('tenet'))).toBe(1);
      expect(scratch.overlapLast(graph.entityId('juno'))).toBe(0);
      expect(scratch.overlapEarlier(graph.entityId('tenet'))).toBe(0);
    });

    test('passes over names of earlier paths that the graph lacks', () => {
      const scratch = freshScratch();
      const task = { ...dialogues[0]!, messages: [], earlierPaths: [[[-1, -1, graph.entityId('juno')]] as const] };
      scratch.open(task, query(0), query(1));
      expect(Array.from(scratch.flags).flatMap((bits, entity) => (bits ? [graph.entityNames[entity]] : []))).toEqual([
        'juno',
      ]);
    });
  });

  function indexOf(...names: string[]) {
    const loops = names.map((name) => [name, 'r', name] as const);
    const graph = graphOf('names', loops);
    const index = new NameIndex(graph);
    const mentions = (text: string) => Array.from(index.read(text).mentions, (entity) => graph.entityNames[entity]);
    return { graph, index, mentions };
  }

  describe('tokens', () => {
    test('are lower-case runs of letters and digits without accents', () => {
      expect(tokenize("Pedro Almodóvar's 8½, (2019)!")).toEqual(['pedro', 'almodovar', 's', '81', '2', '2019']);
      expect(tokenize('…?!')).toEqual([]);
    });

    test('of an ASCII text are the same when an accented word follows', () => {
      checkProperty(
        fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
          expect([...tokenize(text), 'e']).toEqual(tokenize(`${text} é`));
        }),
      );
    });
  });

  describe('mentions in a message', () => {
    test('are whole names in whole words, in any case and with any punctuation between', () => {
      const { mentions } = indexOf('Inception', 'The Dark Knight', 'Dark');
      expect(mentions('I loved the dark-KNIGHT.')).toEqual(['The Dark Knight', 'Dark']);
      expect(mentions('The darkness of conceptions')).toEqual([]);
    });

    test('ignore accents on either side', () => {
      const { mentions } = indexOf('Amélie', 'Penelope Cruz');
      expect(mentions('Have you seen Amelie with Penélope Cruz?')).toEqual(['Amélie', 'Penelope Cruz']);
    });

    test('need not repeat a bracketed ending, but may', () => {
      const { mentions } = indexOf('It (2017 film)', 'Gravity (film)', '(500) Days of Summer');
      expect(mentions('Was gravity good?')).toEqual(['Gravity (film)']);
      expect(mentions('the gravity film')).toEqual(['Gravity (film)']);
      expect(mentions('days of summer')).toEqual([]);
      expect(mentions('500 Days of Summer')).toEqual(['(500) Days of Summer']);
    });

    test('find a long name whose beginning is no name, and one that another begins with', () => {
      const { mentions } = indexOf('Once Upon a Time', 'Once Upon a Time in America', 'Time');
      expect(mentions('once upon a time in america')).toEqual([
        'Once Upon a Time',
        'Once Upon a Time in America',
        'Time',
      ]);
      expect(mentions('once upon a time in paris')).toEqual(['Once Upon a Time', 'Time']);
    });

    test('find every entity of an ambiguous name, each once', () => {
      const { mentions } = indexOf('Gravity', 'Gravity (film)');
      expect(mentions('Gravity, gravity!')).toEqual(['Gravity', 'Gravity (film)']);
    });

    test('go up to names of eight tokens', () => {
      const eight = 'one two three four five six seven eight';
      const { mentions } = indexOf(eight, `${eight} nine`);
      expect(mentions(`so ${eight} nine it is`)).toEqual([eight]);
    });

    test('never find a name without letters or digits', () => {
      const { index, mentions } = indexOf('!!!', 'Inception');
      expect(mentions('!!! Inception')).toEqual(['Inception']);
      expect(index.nameWeight[0]).toBe(0);
    });
  });

  describe('weights of tokens', () => {
    test('are the logarithm of how rare a token is among names, summed over a name', () => {
      const { graph, index } = indexOf('Dark Knight', 'Dark Water', 'Dark Dark');
      const tokensOf = (entity: number) =>
        Array.from(index.tokenIds.subarray(index.tokenOffsets[entity], index.tokenOffsets[entity + 1]));
      const [dark, knight] = tokensOf(0);
      expect(tokensOf(graph.entityId('Dark Dark'))).toEqual([dark]);
      expect(index.numTokens).toBe(3);
      expect(index.inverseFrequency[dark!]).toBeCloseTo(Math.log(4 / 3), 6);
      expect(index.inverseFrequency[knight!]).toBeCloseTo(Math.log(4), 6);
      expect(index.nameWeight[0]).toBeCloseTo(Math.log(4 / 3) + Math.log(4), 6);
    });

    test('are kept for known tokens of a message only, each once', () => {
      const { index } = indexOf('Dark Knight');
      expect(Array.from(index.read('knight of the night, knight').tokens)).toEqual([
        index.tokenIds[1], // 'knight'
      ]);
    });

    test('a message is read once', () => {
      const { index } = indexOf('Dark Knight');
      expect(index.read('dark')).toBe(index.read('dark'));
    });
  });
});

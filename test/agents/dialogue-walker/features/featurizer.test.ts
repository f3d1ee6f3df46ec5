import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { edgeFeatureNames } from '../../../../agents/dialogue-walker/features/edge-features.js';
import { Featurizer, type StateRequest } from '../../../../agents/dialogue-walker/features/featurizer.js';
import { scalarNames, type StateBatch } from '../../../../agents/dialogue-walker/heads/head.js';
import type { WalkSample } from '../../../../datasets/walk-sample.js';
import { defaultWalkRules, initialState, numActions } from '../../../../envs/dialogue-walk/rules.js';
import { unknownId } from '../../../../src/kg/graph.js';
import { laterSample, reachableStates, toyFeaturizer } from '../../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../../fixtures/toy-walks.js';
import { checkProperty } from '../../../fixtures/property.js';

const toy = toyTwoHop();
const { graph } = toy;
const later = laterSample(
  graph,
  'two-hop-1#2',
  'two-hop-1',
  ['another film by its director', 'you mean Tenet?', 'yes, who is in tenet'],
  [
    [
      ['film', 'directed_by', 'nolan'],
      ['nolan', 'directed', 'tenet'],
    ],
  ],
  [['tenet', 'starring', 'washington']],
);
const world = { graph, samples: [...toy.samples, later] };
const states = reachableStates(world);

/** The part of a batch that belongs to state `s`, independent of its neighbours. */
function rowOf(batch: StateBatch, s: number, contextDim: number) {
  const begin = batch.offsets[s]!;
  const end = batch.offsets[s + 1]!;
  const slice = (values: Float32Array | Int32Array, width: number, from: number, to: number) =>
    Array.from(values.subarray(from * width, to * width));
  return {
    context: slice(batch.context, contextDim, s, s + 1),
    ids: [batch.start[s], batch.current[s], batch.lastRelation[s], batch.previousPathRelation[s]],
    scalars: slice(batch.scalars, scalarNames().length, s, s + 1),
    stateOf: [...new Set(batch.stateOf.subarray(begin, end))],
    relations: slice(batch.relations, 1, begin, end),
    tails: slice(batch.tails, 1, begin, end),
    features: slice(batch.edgeFeatures, batch.edgeFeatures.length / batch.tails.length, begin, end),
  };
}

const rowsOf = (featurizer: Featurizer, requests: readonly StateRequest[]) => {
  const batch = featurizer.batch(requests);
  return requests.map((_, s) => ({ ...rowOf(batch, s, featurizer.contextDim), stateOf: undefined }));
};

test('marks states of linked turns, in runs with linked turns only', async () => {
  const plain = await toyFeaturizer(world);
  const marked = new Featurizer({ ...plain.parts, linkedTurns: true });
  const tasks = world.samples.map(({ task }, i) => (i === 1 ? { ...task, linked: true as const } : task));
  plain.texts = marked.texts = { ...plain.texts!, rowOf: new Map(tasks.map(({ id }, i) => [id, i])) };
  const begun = tasks.map((task) => ({ task, state: initialState(graph, task.start, defaultWalkRules) }));
  const [usual, more] = [plain, marked].map((featurizer) => {
    const { scalars } = featurizer.batch(begun);
    return begun.map((_, s) => [...scalars.subarray(s * featurizer.numScalars, (s + 1) * featurizer.numScalars)]);
  });
  expect(more).toEqual(usual!.map((row, s) => [...row, Number(s === 1)]));
});

describe('a batch', () => {
  test('lists every legal action of every state, edges in order and then staying', async () => {
    const featurizer = await toyFeaturizer(world);
    const batch = featurizer.batch(states);
    states.forEach(({ state }, s) => {
      const row = rowOf(batch, s, featurizer.contextDim);
      const degree = graph.degree(state.current);
      const stays = state.hop > 0 ? 1 : 0;
      expect(row.tails).toHaveLength(degree + stays);
      expect(row.stateOf).toEqual([s]);
      const edges = Array.from({ length: degree }, (_, i) => graph.offsets[state.current]! + i);
      expect(row.relations).toEqual([
        ...edges.map((e) => graph.relations[e]),
        ...Array(stays).fill(graph.equalRelation),
      ]);
      expect(row.tails).toEqual([...edges.map((e) => graph.tails[e]), ...Array(stays).fill(state.current)]);
      expect(row.ids.slice(0, 2)).toEqual([state.start, state.current]);
    });
  });

  test('holds the scalars and relations of a later turn by hand', async () => {
    const featurizer = await toyFeaturizer(world);
    const none = graph.numRelations + 1;
    const state = initialState(graph, later.task.start, defaultWalkRules);
    const [first, second] = [world.samples[0]!.task, later.task].map((task) => {
      const start = initialState(graph, task.start, defaultWalkRules);
      return rowOf(featurizer.batch([{ task, state: start }]), 0, featurizer.contextDim);
    });
    // hop, assistant, has an earlier path, it had two hops, its tail is the start, messages / 8.
    expect(first!.scalars).toEqual([0, 1, 0, 0, 0, 0.125]);
    expect(first!.ids.slice(2)).toEqual([none, none]);
    expect(second!.scalars).toEqual([0, 1, 1, 1, 1, 0.375]);
    expect(second!.ids).toEqual([state.start, state.start, none, graph.relationId('directed')]);
  });

  test('reads the vectors of each task', async () => {
    const featurizer = await toyFeaturizer(world);
    const { last, window, rowOf: placeOf } = featurizer.texts!;
    const { task } = later;
    const row = rowOf(featurizer.batch([{ task, state: states.at(-1)!.state }]), 0, featurizer.contextDim);
    const vector = ({ matrix, rows, dim }: typeof last) => {
      const index = rows[placeOf.get(task.id)!]!;
      return Array.from(matrix.subarray(index * dim, (index + 1) * dim));
    };
    expect(row.context).toEqual([...vector(last), ...vector(window)]);
  });

  test('holds the same rows in any order and any batch', async () => {
    const featurizer = await toyFeaturizer(world);
    const alone = states.map((request) => rowsOf(featurizer, [request])[0]);
    checkProperty(
      fc.property(fc.array(fc.nat(states.length - 1), { minLength: 1, maxLength: 9 }), (order) => {
        const rows = rowsOf(
          featurizer,
          order.map((i) => states[i]!),
        );
        expect(rows).toEqual(order.map((i) => alone[i]));
      }),
      { numRuns: 40 },
    );
  });

  test('of chosen actions holds exactly those rows of the full one', async () => {
    const featurizer = await toyFeaturizer(world);
    const full = rowsOf(featurizer, states);
    const width = edgeFeatureNames.length;
    checkProperty(
      fc.property(fc.array(fc.boolean(), { minLength: 64, maxLength: 64 }), (coins) => {
        const chosen = states.map((request, s) => {
          const all = Array.from(full[s]!.tails.keys());
          const some = all.filter((action) => coins[(7 * s + action) % coins.length]);
          return { ...request, actions: Int32Array.from(some.length > 0 ? some : all.slice(-1)) };
        });
        rowsOf(featurizer, chosen).forEach((row, s) => {
          const actions = [...chosen[s]!.actions];
          expect(row).toEqual({
            ...full[s]!,
            relations: actions.map((action) => full[s]!.relations[action]),
            tails: actions.map((action) => full[s]!.tails[action]),
            features: actions.flatMap((action) => full[s]!.features.slice(action * width, (action + 1) * width)),
          });
        });
      }),
      { numRuns: 25 },
    );
  });

  test('may list no actions at all: a critic reads none', async () => {
    const featurizer = await toyFeaturizer(world);
    const batch = featurizer.batch(states.map((request) => ({ ...request, actions: new Int32Array(0) })));
    expect([...batch.offsets]).toEqual(Array(states.length + 1).fill(0));
    expect(batch.edgeFeatures).toHaveLength(0);
  });

  test('has no edge features when they are switched off', async () => {
    const featurizer = await toyFeaturizer(world, { edgeFeatures: false });
    expect(featurizer.numEdgeFeatures).toBe(0);
    expect(featurizer.batch(states).edgeFeatures).toHaveLength(0);
  });

  test('of a start that the graph lacks says only that it stays, where that is legal', async () => {
    const rules = { horizon: 2, equalAtStep1: true };
    const featurizer = await toyFeaturizer(world, { rules });
    const batch = featurizer.batch([{ task: later.task, state: initialState(graph, unknownId, rules) }]);
    expect([...batch.relations, ...batch.tails]).toEqual([graph.equalRelation, unknownId]);
    expect(Array.from(batch.edgeFeatures)).toEqual(edgeFeatureNames.map((name) => Number(name === 'stay')));
  });

  test('is refused for a task whose texts were not encoded', async () => {
    const featurizer = await toyFeaturizer(world);
    const task = { ...later.task, id: 'unheard' };
    expect(() => featurizer.batch([{ task, state: states[0]!.state }])).toThrow(
      /encoded texts of task unheard, got none/,
    );
    featurizer.texts = undefined;
    expect(() => featurizer.batch(states)).toThrow(/encoded texts/);
  });
});

describe('a training row', () => {
  test('does not change with the gold of the same dialogue', async () => {
    const base = await toyFeaturizer(world);
    const golds = world.samples.map(({ gold }) => gold);
    for (const sample of world.samples) {
      const own = states.filter(({ task }) => task === sample.task);
      const expected = rowsOf(base, own);
      for (const gold of golds) {
        const train = world.samples.map((other): WalkSample =>
          other.task.dialogueId === sample.task.dialogueId ? { task: other.task, gold } : other,
        );
        expect(rowsOf(await toyFeaturizer(world, { train }), own)).toEqual(expected);
      }
    }
  });

  test('sees the golds of other dialogues', async () => {
    const [first, ...others] = world.samples;
    const full = await toyFeaturizer(world);
    const lacking = await toyFeaturizer(world, { train: others.filter((sample) => sample !== later) });
    const other = states.filter(({ task }) => task.id === 'two-hop-2');
    expect(rowsOf(full, other)).not.toEqual(rowsOf(lacking, other));
    const own = states.filter(({ task }) => task === first!.task);
    expect(rowsOf(full, own)).toEqual(rowsOf(lacking, own));
  });

  test('of a dialogue outside train reads all counts, and its own gold is not among them', async () => {
    const asked = { ...world.samples[1]!, task: { ...world.samples[1]!.task, id: 'valid-1', dialogueId: 'valid-1' } };
    const valid = { graph, samples: [asked] };
    const state = initialState(graph, asked.task.start, defaultWalkRules);
    const batch = (await toyFeaturizer(valid, { train: toy.samples.slice(2) })).batch([{ task: asked.task, state }]);
    const count = edgeFeatureNames.indexOf('count of the edge');
    const counted = Array.from({ length: numActions(graph, state, defaultWalkRules) }, (_, action) =>
      batch.edgeFeatures[action * edgeFeatureNames.length + count]! > 0 ? graph.entityNames[batch.tails[action]!] : '',
    );
    // film's edges by relation: directed_by, written_by, starring, sequel_of, genre; train walked starring and genre.
    expect(counted).toEqual(['', '', 'page', '', 'heist']);
  });
});

const usual = await toyFeaturizer(world);
const featurizerOf = (featureBytes: number) => {
  const featurizer = new Featurizer({ ...usual.parts, featureBytes });
  featurizer.texts = usual.texts;
  return featurizer;
};
/** States in any order, each with all actions or the even ones of them. */
const orders = fc.array(fc.tuple(fc.nat(states.length - 1), fc.boolean()), { minLength: 1, maxLength: 9 });
const chosen = (order: readonly [number, boolean][], recurs: boolean): StateRequest[] =>
  order.map(([i, sampled]) => {
    const request = { ...states[i]!, recurs };
    if (!sampled) return request;
    const count = usual.batch([states[i]!]).tails.length;
    const actions = Int32Array.from({ length: Math.ceil(count / 2) }, (_, k) => 2 * k);
    return { ...request, actions };
  });

test.each([
  ['all of', 2 ** 20],
  ['a few of', 3000],
  ['none of', 0],
])('batches of states that recur are to the bit those of states that do not, where %s them are kept', (_, bytes) => {
  const featurizer = featurizerOf(bytes);
  checkProperty(
    fc.property(orders, (order) => {
      expect(featurizer.batch(chosen(order, true))).toEqual(usual.batch(chosen(order, false)));
    }),
    { numRuns: 60 },
  );
});

test('what is kept is not made again, and what is kept of other texts is not taken', () => {
  const featurizer = featurizerOf(2 ** 20);
  const recurring = states.map((state) => ({ ...state, recurs: true }));
  const before = featurizer.batch(recurring);
  const { texts } = featurizer;
  const turned = ({ matrix, ...others }: NonNullable<typeof texts>['last']) => ({
    ...others,
    matrix: matrix.map((value) => -value),
  });
  const other = { ...texts!, last: turned(texts!.last), window: turned(texts!.window) };
  // Kept rows do not hear of vectors that change in place.
  const held = texts!.last.matrix.slice();
  texts!.last.matrix.fill(0);
  expect(featurizer.batch(recurring).edgeFeatures).toEqual(before.edgeFeatures);
  texts!.last.matrix.set(held);
  featurizer.texts = other;
  const after = featurizer.batch(recurring);
  expect(after.edgeFeatures).not.toEqual(before.edgeFeatures);
  usual.texts = other;
  expect(after).toEqual(usual.batch(states));
  usual.texts = texts;
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  DialogueScratch,
  type FrozenVectors,
  NameIndex,
} from '../../../../agents/dialogue-walker/features/dialogue-scratch.js';
import {
  edgeFeatureNames,
  edgeStatistics,
  WalkCounts,
  writeEdgeFeatures,
} from '../../../../agents/dialogue-walker/features/edge-features.js';
import { applyAction, defaultWalkRules, initialState, type WalkState } from '../../../../envs/dialogue-walk/rules.js';
import { laterSample } from '../../../fixtures/toy-walker.js';
import { graphOf, graphOfIds, sampleOf, toyTwoHop } from '../../../fixtures/toy-walks.js';
import { c, expectFeatures, featuresOf } from './by-hand.js';
import type { WalkSample } from '../../../../datasets/walk-sample.js';
import { checkProperty } from '../../../fixtures/property.js';

const graph = graphOf('films', [
  ['Inception', 'directed_by', 'Nolan'],
  ['Inception', 'written_by', 'Nolan'],
  ['Inception', 'starring', 'Elliot Page'],
  ['Inception', 'starring', 'Michael Caine'],
  ['Nolan', 'directed', 'Inception'],
  ['Nolan', 'directed', 'Tenet'],
  ['Nolan', 'born_in', 'London'],
  ['Elliot Page', 'acted_in', 'Juno'],
  ['Tenet', 'starring', 'Michael Caine'],
]);
// Entities: Inception 0, Nolan 1, Elliot Page 2, Michael Caine 3, Tenet 4, London 5, Juno 6; degrees 4 3 1 0 1 0 0.
// Relations: directed_by 0, written_by 1, starring 2, directed 3, born_in 4, acted_in 5.

const directedByNolan = ['Inception', 'directed_by', 'Nolan'] as const;
const starringPage = ['Inception', 'starring', 'Elliot Page'] as const;
const thenTenet = ['Nolan', 'directed', 'Tenet'] as const;
const train = [
  sampleOf(graph, 'one', '', 'Inception', [directedByNolan]),
  sampleOf(graph, 'two', '', 'Inception', [directedByNolan, thenTenet]),
  sampleOf(graph, 'three', '', 'Inception', [directedByNolan, thenTenet]),
  sampleOf(graph, 'four', '', 'Inception', [starringPage]),
];
const { task } = laterSample(
  graph,
  'asked',
  'asked',
  ['Michael was in Tenet.', 'Tell me about Inception by Nolan'],
  [[['Elliot Page', 'acted_in', 'Juno']], [['Tenet', 'starring', 'Michael Caine']]],
  [directedByNolan],
);

/** Cosines with the last message are the first coordinates, those with the last messages the second. */
const vectors: FrozenVectors = {
  dim: 2,
  entities: Float32Array.from({ length: 14 }, (_, i) => (i % 2 === 0 ? 0.1 * (i >> 1) : 0.5 - 0.1 * (i >> 1))),
  relations: Float32Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 0.2 * (i >> 1) - 0.3 : 0.9)),
};

function features(state: WalkState, counts: WalkCounts | undefined): Record<string, number[]> {
  const scratch = new DialogueScratch(graph, new NameIndex(graph), vectors);
  scratch.open(task, Float32Array.from([1, 0]), Float32Array.from([0, 1]));
  const sources = { graph, statistics: edgeStatistics(graph), scratch, counts };
  return featuresOf(graph, state, edgeFeatureNames, (actions, out) =>
    writeEdgeFeatures(sources, task, state, actions, out, 0),
  );
}

const { log } = Math;
const start = initialState(graph, 0, defaultWalkRules);
const atNolan = applyAction(graph, start, 0, defaultWalkRules);
const atPage = applyAction(graph, start, 2, defaultWalkRules);

describe('features of edges, by hand', () => {
  const counts = new WalkCounts(graph, train);

  test('at the start: Nolan by two relations, Page, Caine', () => {
    const expected = {
      'tail named in the last message': [1, 1, 0, 0],
      'tail named earlier': [0, 0, 0, 0],
      'name overlap with the last message': [1, 1, 0, 0],
      'name overlap with earlier messages': [0, 0, 0, 0.5],
      'tail on an earlier path': [0, 0, 1, 1],
      'tail on the last path': [0, 0, 0, 1],
      'tail is the start': [0, 0, 0, 0],
      'tail is the node before': [0, 0, 0, 0],
      'log degree of the tail': [log(4) / 8, log(4) / 8, log(2) / 8, 0],
      'log fan-out of head and relation': [0, 0, log(2) / 8, log(2) / 8],
      'log parallel edges': [log(2), log(2), 0, 0],
      'log fan-out of the first hop': [0, 0, 0, 0],
      'cosine of last message and relation': [-0.3, -0.1, 0.1, 0.1],
      'cosine of last message and tail': [0.1, 0.1, 0.2, 0.3],
      'cosine of last messages and tail': [0.4, 0.4, 0.3, 0.2],
      stay: [0, 0, 0, 0],
      // Inception, named last, has 4 of 7 + 1; Tenet, named earlier and visited, has 1.
      'tail is near entities of the last message': Array(4).fill(log(8 / 5) / 10),
      'tail is near entities named earlier or visited': [0, 0, 0, log(8 / 2) / 10],
      'same relation as the last path': [0, 0, 1, 1],
      'count of the edge': [c(3), 0, c(1), 0],
      'count of the edge as first hop': [c(3), 0, c(1), 0],
      'count of head and relation': [c(3), 0, c(1), c(1)],
      'count of start and tail as ends': [c(1), c(1), c(1), 0],
      'count of this edge after the first': [0, 0, 0, 0],
      'count of stopping after the first edge': [0, 0, 0, 0],
      'count of going on after the first edge': [0, 0, 0, 0],
    };
    expect(Object.keys(expected)).toEqual([...edgeFeatureNames]);
    expectFeatures(features(start, counts), expected);
  });

  test('after the first hop: back to Inception, Tenet, London, staying with Nolan', () => {
    expectFeatures(features(atNolan, counts), {
      'tail named in the last message': [1, 0, 0, 1],
      'tail named earlier': [0, 1, 0, 0],
      'name overlap with the last message': [1, 0, 0, 1],
      'name overlap with earlier messages': [0, 1, 0, 0],
      'tail on an earlier path': [0, 1, 0, 0],
      'tail on the last path': [0, 1, 0, 0],
      'tail is the start': [1, 0, 0, 0],
      'tail is the node before': [1, 0, 0, 0],
      'log degree of the tail': [log(5) / 8, log(2) / 8, 0, log(4) / 8],
      'log fan-out of head and relation': [log(2) / 8, log(2) / 8, 0, 0],
      'log parallel edges': [0, 0, 0, 0],
      'log fan-out of the first hop': [0, 0, 0, 0],
      'cosine of last message and relation': [0.3, 0.3, 0.5, 0],
      'cosine of last message and tail': [0, 0.4, 0.5, 0.1],
      'cosine of last messages and tail': [0.5, 0.1, 0, 0.4],
      stay: [0, 0, 0, 1],
      'tail is near entities of the last message': [log(2) / 10, log(2) / 10, log(2) / 10, log(8 / 5) / 10],
      'tail is near entities named earlier or visited': [0, 0, 0, 0],
      'same relation as the last path': [0, 0, 0, 0],
      'count of the edge': [0, c(2), 0, 0],
      'count of the edge as first hop': [0, 0, 0, 0],
      'count of head and relation': [c(2), c(2), 0, 0],
      'count of start and tail as ends': [0, c(2), 0, c(1)],
      'count of this edge after the first': [0, c(2), 0, 0],
      'count of stopping after the first edge': [0, 0, 0, c(1)],
      'count of going on after the first edge': [c(2), c(2), c(2), c(2)],
    });
  });

  test('after a first hop with a sibling: Juno, staying with Page', () => {
    expectFeatures(features(atPage, counts), {
      'log fan-out of the first hop': [log(2) / 8, log(2) / 8],
      'tail is near entities named earlier or visited': [log(8 / 2) / 10, 0],
      'count of stopping after the first edge': [0, c(1)],
      'count of going on after the first edge': [0, 0],
    });
  });

  test('without train counts are the same but for the counts, which are zero', () => {
    for (const state of [start, atNolan, atPage]) {
      const { ...expected } = features(state, counts);
      for (const name of edgeFeatureNames.slice(-7)) expected[name] = expected[name]!.map(() => 0);
      expectFeatures(features(state, undefined), expected);
    }
  });
});

describe('statistics of edges', () => {
  test('are those by hand', () => {
    const graph = graphOf('by-hand', [
      ['a', 'r', 'b'],
      ['a', 'r', 'c'],
      ['a', 'r', 'd'],
      ['a', 's', 'b'],
      ['b', 's', 'b'],
    ]);
    const { logDegree, logFanOut, logParallel } = edgeStatistics(graph);
    const near = (actual: Float32Array, expected: number[]) =>
      expect(Array.from(actual, Math.exp)).toEqual(expected.map((value) => expect.closeTo(value, 5)));
    near(logDegree, [5, 2, 1, 1]);
    near(logFanOut, [3, 3, 3, 1, 1]);
    near(logParallel, [2, 1, 1, 2, 1]);
  });

  test('agree with counting edge by edge on random multigraphs', () => {
    const triples = fc.array(fc.tuple(fc.nat(4), fc.nat(2), fc.nat(4)), { maxLength: 30 });
    checkProperty(
      fc.property(triples, (list) => {
        const names = ['a', 'b', 'c', 'd', 'e'];
        const graph = graphOfIds(names, ['r', 's', 't'], list);
        const { logFanOut, logParallel } = edgeStatistics(graph);
        const edges = names.flatMap((_, head) =>
          Array.from({ length: graph.degree(head) }, (_value, i) => graph.offsets[head]! + i).map((edge) => ({
            head,
            relation: graph.relations[edge]!,
            tail: graph.tails[edge]!,
          })),
        );
        edges.forEach(({ head, relation, tail }, edge) => {
          const fanOut = edges.filter((other) => other.head === head && other.relation === relation).length;
          const parallel = edges.filter((other) => other.head === head && other.tail === tail).length;
          expect(Math.exp(logFanOut[edge]!)).toBeCloseTo(fanOut, 4);
          expect(Math.exp(logParallel[edge]!)).toBeCloseTo(parallel, 4);
        });
      }),
    );
  });
});

const toy = toyTwoHop();
const { samples } = toy;

/** Everything that counts can be asked. */
function contents(counts: WalkCounts) {
  const nonZero = (map: ReadonlyMap<number, number> | undefined) =>
    [...(map ?? [])].filter(([, count]) => count !== 0).sort(([a], [b]) => a - b);
  const entities = toy.graph.entityNames.map((_, entity) => entity);
  return {
    edge: Array.from(counts.edge),
    firstEdge: Array.from(counts.firstEdge),
    stopped: Array.from(counts.stopped),
    continued: Array.from(counts.continued),
    headRelation: entities.map((head) => toy.graph.relationNames.map((_, r) => counts.headRelation(head, r))),
    endsFrom: entities.map((start) => nonZero(counts.endsFrom(start))),
    edgesAfter: Array.from(toy.graph.tails.keys(), (edge) => nonZero(counts.edgesAfter(edge))),
  };
}

/** Train sets drawn from the toy golds, several samples a dialogue. */
const trainSet = fc.array(fc.tuple(fc.nat(samples.length - 1), fc.nat(3)), { maxLength: 12 }).map((draws) =>
  draws.map(([which, dialogue], i): WalkSample => {
    const { task, gold } = samples[which]!;
    return { task: { ...task, id: `${dialogue}#${i}`, dialogueId: `d${dialogue}` }, gold };
  }),
);

describe('counts of train walks', () => {
  test('are those by hand', () => {
    const counts = new WalkCounts(toy.graph, samples);
    const id = (name: string) => toy.graph.entityId(name);
    const edge = (head: string, relation: string, tail: string) =>
      toy.graph.edgeIndex(id(head), toy.graph.relationId(relation), id(tail));
    const directedBy = edge('film', 'directed_by', 'nolan');
    const genre = edge('film', 'genre', 'heist');
    const tenet = edge('nolan', 'directed', 'tenet');
    expect([counts.edge[directedBy], counts.firstEdge[directedBy]]).toEqual([1, 1]);
    expect([counts.stopped[directedBy], counts.continued[directedBy]]).toEqual([0, 1]);
    expect([counts.stopped[genre], counts.continued[genre]]).toEqual([1, 0]);
    expect([counts.edge[tenet], counts.firstEdge[tenet]]).toEqual([1, 0]);
    expect(counts.edgesAfter(directedBy)).toEqual(new Map([[tenet, 1]]));
    expect(counts.edgesAfter(genre)).toBeUndefined();
    expect(counts.headRelation(id('film'), toy.graph.relationId('starring'))).toBe(1);
    expect(counts.headRelation(id('tenet'), toy.graph.relationId('starring'))).toBe(0);
    expect(counts.endsFrom(id('film'))).toEqual(new Map(['tenet', 'nolan', 'halifax', 'heist'].map((e) => [id(e), 1])));
    expect(counts.endsFrom(id('nolan'))).toBeUndefined();
  });

  test('leave out golds that are not in the graph', () => {
    const outside = { ...samples[0]!, gold: { path: [[0, 0, -1]] as const, target: -1, inGraph: false } };
    expect(contents(new WalkCounts(toy.graph, [outside, samples[3]!]))).toEqual(
      contents(new WalkCounts(toy.graph, [samples[3]!])),
    );
  });

  test('without a dialogue are those of a train set that lacks it, and afterwards they are back', () => {
    checkProperty(
      fc.property(trainSet, fc.nat(4), (train, dialogue) => {
        const counts = new WalkCounts(toy.graph, train);
        const before = contents(counts);
        const others = train.filter(({ task }) => task.dialogueId !== `d${dialogue}`);
        expect(counts.without(`d${dialogue}`, () => contents(counts))).toEqual(
          contents(new WalkCounts(toy.graph, others)),
        );
        expect(contents(counts)).toEqual(before);
      }),
      { numRuns: 60 },
    );
  });

  test('are back after a body that throws', () => {
    const counts = new WalkCounts(toy.graph, samples);
    const before = contents(counts);
    const body = () => {
      throw new Error('in between');
    };
    expect(() => counts.without(samples[0]!.task.dialogueId, body)).toThrow('in between');
    expect(contents(counts)).toEqual(before);
  });

  test('do not change for a dialogue that is not in train', () => {
    const counts = new WalkCounts(toy.graph, samples);
    expect(counts.without('valid-1', () => contents(counts))).toEqual(contents(counts));
  });
});

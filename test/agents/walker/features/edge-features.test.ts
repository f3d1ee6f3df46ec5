import { describe, expect, test } from '@jest/globals';
import { DialogueScratch, type FrozenVectors, NameIndex } from '../../../../agents/walker/features/dialogue-scratch.js';
import {
  edgeFeatureNames,
  edgeStatistics,
  WalkCounts,
  writeEdgeFeatures,
} from '../../../../agents/walker/features/edge-features.js';
import { applyAction, defaultWalkRules, initialState, type WalkState } from '../../../../envs/dialogue-walk/rules.js';
import { laterSample } from '../../../fixtures/toy-walker.js';
import { graphOf, sampleOf } from '../../../fixtures/toy-walks.js';
import { c, expectFeatures, featuresOf } from './by-hand.js';

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

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { WalkCounts } from '../../../../agents/walker/features/edge-features.js';
import type { WalkSample } from '../../../../datasets/walk-sample.js';
import { toyTwoHop } from '../../../fixtures/toy-walks.js';

const { graph, samples } = toyTwoHop();

/** Everything that counts can be asked. */
function contents(counts: WalkCounts) {
  const nonZero = (map: ReadonlyMap<number, number> | undefined) =>
    [...(map ?? [])].filter(([, count]) => count !== 0).sort(([a], [b]) => a - b);
  const entities = graph.entityNames.map((_, entity) => entity);
  return {
    edge: Array.from(counts.edge),
    firstEdge: Array.from(counts.firstEdge),
    stopped: Array.from(counts.stopped),
    continued: Array.from(counts.continued),
    headRelation: entities.map((head) => graph.relationNames.map((_, r) => counts.headRelation(head, r))),
    endsFrom: entities.map((start) => nonZero(counts.endsFrom(start))),
    edgesAfter: Array.from(graph.tails.keys(), (edge) => nonZero(counts.edgesAfter(edge))),
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
    const counts = new WalkCounts(graph, samples);
    const id = (name: string) => graph.entityId(name);
    const edge = (head: string, relation: string, tail: string) =>
      graph.edgeIndex(id(head), graph.relationId(relation), id(tail));
    const directedBy = edge('film', 'directed_by', 'nolan');
    const genre = edge('film', 'genre', 'heist');
    const tenet = edge('nolan', 'directed', 'tenet');
    expect([counts.edge[directedBy], counts.firstEdge[directedBy]]).toEqual([1, 1]);
    expect([counts.stopped[directedBy], counts.continued[directedBy]]).toEqual([0, 1]);
    expect([counts.stopped[genre], counts.continued[genre]]).toEqual([1, 0]);
    expect([counts.edge[tenet], counts.firstEdge[tenet]]).toEqual([1, 0]);
    expect(counts.edgesAfter(directedBy)).toEqual(new Map([[tenet, 1]]));
    expect(counts.edgesAfter(genre)).toBeUndefined();
    expect(counts.headRelation(id('film'), graph.relationId('starring'))).toBe(1);
    expect(counts.headRelation(id('tenet'), graph.relationId('starring'))).toBe(0);
    expect(counts.endsFrom(id('film'))).toEqual(new Map(['tenet', 'nolan', 'halifax', 'heist'].map((e) => [id(e), 1])));
    expect(counts.endsFrom(id('nolan'))).toBeUndefined();
  });

  test('leave out golds that are not in the graph', () => {
    const outside = { ...samples[0]!, gold: { path: [[0, 0, -1]] as const, target: -1, inGraph: false } };
    expect(contents(new WalkCounts(graph, [outside, samples[3]!]))).toEqual(
      contents(new WalkCounts(graph, [samples[3]!])),
    );
  });

  test('without a dialogue are those of a train set that lacks it, and afterwards they are back', () => {
    fc.assert(
      fc.property(trainSet, fc.nat(4), (train, dialogue) => {
        const counts = new WalkCounts(graph, train);
        const before = contents(counts);
        const others = train.filter(({ task }) => task.dialogueId !== `d${dialogue}`);
        expect(counts.without(`d${dialogue}`, () => contents(counts))).toEqual(contents(new WalkCounts(graph, others)));
        expect(contents(counts)).toEqual(before);
      }),
      { numRuns: 60 },
    );
  });

  test('are back after a body that throws', () => {
    const counts = new WalkCounts(graph, samples);
    const before = contents(counts);
    const body = () => {
      throw new Error('in between');
    };
    expect(() => counts.without(samples[0]!.task.dialogueId, body)).toThrow('in between');
    expect(contents(counts)).toEqual(before);
  });

  test('do not change for a dialogue that is not in train', () => {
    const counts = new WalkCounts(graph, samples);
    expect(counts.without('valid-1', () => contents(counts))).toEqual(contents(counts));
  });
});

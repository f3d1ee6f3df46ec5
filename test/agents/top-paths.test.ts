import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rankAllWalks, walkCollector } from '../../agents/top-paths.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { Graph, unknownId } from '../../src/kg/graph.js';
import { finalEntities } from '../fixtures/final-entities.js';
import { checkProperty } from '../fixtures/property.js';

/** 0 -0-> 1, 0 -0-> 2, 1 -1-> 3, 2 -1-> 3, 3 -0-> 0; entity 4 has no edges. */
const triples = [
  [0, 0, 1],
  [0, 0, 2],
  [1, 1, 3],
  [2, 1, 3],
  [3, 0, 0],
] as const;
const graph = new Graph('toy', ['a', 'b', 'c', 'd', 'e'], ['r', 's'], {
  heads: Int32Array.from(triples, ([head]) => head),
  relations: Int32Array.from(triples, ([, relation]) => relation),
  tails: Int32Array.from(triples, ([, , tail]) => tail),
});
const task = (start: number, id = 't'): WalkTask => ({
  id,
  dialogueId: 'd',
  messages: [],
  sender: 'user',
  start,
  startName: '',
  earlierPaths: [],
});
/** Over b: 0.3 to stop, 0.4 to continue; over c: 0.1 and 0.2. */
const scores = {
  oneHop: (edge: number) => Math.log(graph.tails[edge] === 1 ? 0.3 : 0.1),
  twoHops: (first: number) => () => Math.log(graph.tails[first] === 1 ? 0.4 : 0.2),
};

describe('ranking all walks of a start', () => {
  test('lists complete walks, and finals by best and by sum', () => {
    const { paths, answers, confidence } = rankAllWalks(graph, task(0), scores, walkCollector(graph, { beamWidth: 4 }));
    expect(paths.map(({ path, logProb }) => [path.map(([, , tail]) => tail), Math.exp(logProb).toFixed(2)])).toEqual([
      [[1, 3], '0.40'],
      [[1], '0.30'],
      [[2, 3], '0.20'],
      [[2], '0.10'],
    ]);
    expect(answers[0]!.entity).toBe(3);
    expect(answers[0]!.logProb).toBeCloseTo(Math.log(0.4), 12);
    expect(answers[0]!.summedLogProb).toBeCloseTo(Math.log(0.6), 12);
    expect(confidence).toBeCloseTo(0.6, 12);
  });

  test('sums walks that the beam does not keep', () => {
    const { paths, answers } = rankAllWalks(graph, task(0), scores, walkCollector(graph, { beamWidth: 1 }));
    expect(paths).toHaveLength(1);
    expect(answers).toHaveLength(1);
    expect(answers[0]!.summedLogProb).toBeCloseTo(Math.log(0.6), 12);
  });

  test('shows an entity that only its sum lifts', () => {
    const collector = walkCollector(graph, { beamWidth: 1 });
    collector.begin(task(0));
    collector.add(-1, 0, Math.log(0.4));
    collector.add(0, 2, Math.log(0.3));
    collector.add(1, 3, Math.log(0.3));
    const { answers } = collector.finish();
    expect(answers.map(({ entity }) => entity)).toEqual([1, 3]);
  });

  test('a bonus lifts two-hop walks and leaves their log-probability', () => {
    const collector = walkCollector(graph, { beamWidth: 9, twoHopBonus: 0.5 });
    collector.begin(task(0));
    collector.add(-1, 0, -1);
    collector.add(0, 2, -1.4);
    const { paths, answers } = collector.finish();
    expect(paths.map(({ path, logProb }) => [path.length, logProb])).toEqual([
      [2, -1.4],
      [1, -1],
    ]);
    expect(answers.map(({ entity }) => entity)).toEqual([3, 1]);
  });

  test('a start without edges, or unknown, has no walks', () => {
    const collector = walkCollector(graph, { beamWidth: 3 });
    for (const start of [4, -1]) {
      expect(rankAllWalks(graph, task(start), scores, collector)).toEqual({ paths: [], answers: [], confidence: 0 });
    }
  });
});

test('staying at a start that the graph lacks ends there', () => {
  const collector = walkCollector(graph, { beamWidth: 3 });
  for (const [start, mean] of [
    [unknownId, -0.5],
    [2, -0.25],
  ] as const) {
    collector.begin(task(start));
    collector.add(-1, -1, mean);
    const { paths, answers, confidence } = collector.finish();
    expect(paths).toEqual([{ path: [], logProb: mean }]);
    expect(answers).toEqual([{ entity: start, logProb: mean, summedLogProb: mean }]);
    expect(confidence).toBe(1);
  }
});

test('equal scores of all entities, the last one too, are ordered by task, every order about as often, and the same again', () => {
  const star = new Graph('star', ['a', 'b', 'c', 'd'], ['r'], {
    heads: Int32Array.of(0, 0, 0),
    relations: Int32Array.of(0, 0, 0),
    tails: Int32Array.of(1, 2, 3),
  });
  const collector = walkCollector(star, { beamWidth: 3 });
  const orderOf = (id: string) => {
    collector.begin(task(0, id));
    for (let edge = 0; edge < 3; edge++) collector.add(-1, edge, -1);
    const { paths, answers } = collector.finish();
    expect(answers.map(({ entity }) => entity)).toEqual(paths.map(({ path }) => path[0]![2]));
    return answers.map(({ entity }) => entity).join('');
  };
  const ordersOf = () => Array.from({ length: 600 }, (_, i) => orderOf(`task ${i}`));
  const orders = ordersOf();
  const counts = [...new Set(orders)].map((order) => orders.filter((other) => other === order).length);
  expect(counts).toHaveLength(6);
  expect(Math.max(...counts.map((count) => Math.abs(count - 100)))).toBeLessThan(40);
  expect(ordersOf()).toEqual(orders);
});

test('a narrow beam is the head of the full ranking', () => {
  const offers = fc.array(
    fc.tuple(fc.integer({ min: -1, max: 8 }), fc.constantFrom(0, 1, 2, 4), fc.integer({ min: -6, max: -1 })),
    {
      maxLength: 60,
    },
  );
  checkProperty(
    fc.property(offers, fc.integer({ min: 1, max: 8 }), (list, beamWidth) => {
      const distinct = [...new Map(list.map((offer) => [`${offer[0]}/${offer[1]}`, offer])).values()];
      const run = (width: number) => {
        const collector = walkCollector(graph, { beamWidth: width });
        collector.begin(task(0));
        for (const [prefix, last, logProb] of distinct) collector.add(prefix, last, logProb);
        return collector.finish((prefix) => [[0, prefix, prefix]]);
      };
      const full = run(1000);
      expect(run(beamWidth).paths).toEqual(full.paths.slice(0, beamWidth));
      const oracle = finalEntities(full.paths, 0, graph.equalRelation);
      expect(full.answers.map(({ entity }) => entity)).toEqual(oracle.map(({ entity }) => entity));
      full.answers.forEach(({ summedLogProb }, i) => expect(summedLogProb).toBeCloseTo(oracle[i]!.summedLogProb, 9));
    }),
  );
});

/** Hit counting of LLM-ARK's published code on hand-made beams: each difference from strict counting. */
import { describe, expect, test } from '@jest/globals';
import {
  arkBeamWidth,
  arkRanks,
  padEntity,
  type ArkBeam,
  hitAtK,
  pathRanks,
  targetRanks,
  filteredRank,
  hitsAtK,
  mrr,
  realisticRank,
  spreadOf,
} from '../../../src/metrics/ranks.js';
import type { Path, Triple } from '../../../src/kg/graph.js';
import { finalEntities } from '../../fixtures/final-entities.js';

const equal = 99;
const start = 0;

/** `walk(1, 10, 2, 20)` is start -1-> 10 -2-> 20; one step is followed by a stay. */
function walk(relation: number, middle: number, second = equal, end = middle): Path {
  return [
    [start, relation, middle],
    [middle, second, end],
  ];
}

/** A beam with as many slots as there are walks or entities, the larger number. */
function beamOf(afterFirst: readonly number[], walks: readonly Path[]): ArkBeam {
  const width = Math.max(afterFirst.length, walks.length);
  const slots = Array.from({ length: width }, (_, slot) => slot);
  return { start, afterFirst: slots.map((i) => afterFirst[i] ?? padEntity), walks: slots.map((i) => walks[i]) };
}

/** The strict ranks of the same walks. */
function strictRanks(walks: readonly Path[], gold: Path) {
  const ranked = walks.map((path, i) => ({ path, logProb: -1 - i }));
  const { path } = pathRanks(ranked, gold, equal);
  return { path, target: targetRanks(finalEntities(ranked, start, equal), gold.at(-1)![2]).target };
}

const oneHop = (relation: number, end: number): Path => [[start, relation, end] as Triple];

describe('LLM-ARK’s countings of a hand-made beam', () => {
  test('B-ARK-9: hits of both steps are joined by slot, although the second step re-sorts the walks', () => {
    // After the first step entity 10 is in slot 0; after the second its walk is last, and slot 0 has another.
    const walks = [walk(2, 11, 5, 21), walk(2, 11, 5, 22), walk(1, 10, 4, 23), walk(1, 10)];
    const beam = beamOf([10, 11, 12, 13], walks);
    expect(arkRanks(beam, oneHop(1, 10), equal)).toEqual({ path: 4, target: 1, anyTarget: 1 });
    expect(strictRanks(walks, oneHop(1, 10))).toEqual({ path: 4, target: 4 });
    // Visited only after the first step: counts as a hit although no walk ends there.
    expect(arkRanks(beam, oneHop(1, 12), equal)).toEqual({ path: 0, target: 3, anyTarget: 3 });
    expect(strictRanks(walks, oneHop(1, 12))).toEqual({ path: 0, target: 0 });
    // The earlier slot of both steps counts.
    expect(arkRanks(beam, oneHop(1, 11), equal).target).toBe(2);
    expect(arkRanks(beamOf([10, 12, 11], [walk(1, 10), walk(2, 11)]), oneHop(2, 11), equal).target).toBe(2);
  });

  test('B-ARK-9: slots that were pads after the first step are missing from the walks after the second', () => {
    const walks = [walk(1, 10, 4, 20), walk(2, 11), walk(1, 10, 4, 21), walk(1, 10)];
    const beam = beamOf([10, 11], walks);
    expect(arkRanks(beam, walks[1]!, equal).path).toBe(2);
    expect(arkRanks(beam, walks[2]!, equal).path).toBe(0);
    expect(strictRanks(walks, walks[2]!).path).toBe(3);
    // Their entities still count as targets.
    expect(arkRanks(beam, walks[2]!, equal).anyTarget).toBe(3);
    expect(arkRanks(beamOf([10, 11, 12], walks), walks[2]!, equal).path).toBe(3);
    expect(arkRanks(beamOf([10, 11, 12], walks), walks[3]!, equal).path).toBe(0);
  });

  test('B-ARK-9: an entity in several slots is counted in each, so that wrong ones push the target down', () => {
    const walks = [walk(1, 10, 4, 20), walk(2, 11, 4, 20), walk(3, 12, 4, 20), walk(1, 10, 5, 30)];
    const beam = beamOf([10, 11, 12, 13], walks);
    expect(arkRanks(beam, walk(1, 10, 5, 30), equal).anyTarget).toBe(4);
    expect(strictRanks(walks, walk(1, 10, 5, 30)).target).toBe(2);
  });

  test('B-ARK-9: there are 20 slots, so what stands 21st is no hit at 25', () => {
    expect(arkBeamWidth).toBe(20);
    const many = Array.from({ length: 25 }, (_, i) => walk(1, 10, 4, 100 + i));
    const kept = many.slice(0, arkBeamWidth);
    const beam = beamOf(
      kept.map((_, i) => 40 + i),
      kept,
    );
    const [inside, outside] = [many[19]!, many[20]!];
    expect(hitAtK(arkRanks(beam, inside, equal).path, 25)).toBe(1);
    expect(hitAtK(arkRanks(beam, inside, equal).anyTarget, 25)).toBe(1);
    expect(hitAtK(arkRanks(beam, outside, equal).path, 25)).toBe(0);
    expect(hitAtK(arkRanks(beam, outside, equal).anyTarget, 25)).toBe(0);
    expect(hitAtK(strictRanks(many, outside).path, 25)).toBe(1);
    expect(hitAtK(strictRanks(many, outside).target, 25)).toBe(1);
  });

  test('a gold of one hop ends in a stay: the right edge and then another one is a wrong path with the right target', () => {
    const walks = [walk(1, 10, 4, 20), walk(2, 11)];
    const beam = beamOf([10, 11], walks);
    expect(arkRanks(beam, oneHop(1, 10), equal)).toEqual({ path: 0, target: 1, anyTarget: 1 });
    expect(arkRanks(beam, oneHop(2, 11), equal)).toEqual({ path: 2, target: 2, anyTarget: 2 });
    // A gold with an explicit stay is the same gold.
    expect(arkRanks(beam, walk(2, 11), equal)).toEqual(arkRanks(beam, oneHop(2, 11), equal));
    // Another relation to the same entity is another path.
    expect(arkRanks(beam, oneHop(3, 11), equal).path).toBe(0);
  });

  test('B-ARK-4: the target of a gold of two hops is the end of its first hop', () => {
    const gold = walk(1, 10, 4, 20);
    const walks = [walk(2, 11, 5, 30), walk(1, 10), gold];
    const beam = beamOf([11, 10, 12], walks);
    expect(arkRanks(beam, gold, equal)).toEqual({ path: 3, target: 2, anyTarget: 3 });
    expect(strictRanks(walks, gold)).toEqual({ path: 3, target: 3 });
  });

  test('a target where the walk begins is hit at once', () => {
    const loop = oneHop(1, start);
    const walks = [walk(2, 11), walk(3, 12)];
    expect(arkRanks(beamOf([11, 12], walks), loop, equal)).toEqual({ path: 0, target: 1, anyTarget: 1 });
    const back = walk(2, 11, 5, start);
    expect(arkRanks(beamOf([12, 11], [walk(3, 12), walk(2, 11)]), back, equal)).toEqual({
      path: 0,
      target: 2,
      anyTarget: 1,
    });
    expect(strictRanks(walks, loop)).toEqual({ path: 0, target: 0 });
  });

  test('pads are nothing: no path, no target, not even an unknown one', () => {
    const empty = beamOf([padEntity, padEntity], []);
    expect(arkRanks(empty, oneHop(1, 10), equal)).toEqual({ path: 0, target: 0, anyTarget: 0 });
    expect(arkRanks(empty, oneHop(1, padEntity), equal)).toEqual({ path: 0, target: 0, anyTarget: 0 });
    expect(arkRanks(beamOf([10], [walk(1, 10)]), [...walk(1, 10, 4, 20), [20, 5, 30]], equal).path).toBe(0);
  });
});

describe('ranks of links', () => {
  /** Rank of an answer from float64 scores. */
  const rankOf = (scores: readonly number[], answer: number, known: readonly number[] = []) =>
    filteredRank(Float64Array.from(scores), answer, Int32Array.from(known));

  describe('realistic ranks', () => {
    test.each<[string, number[], number, number[], number]>([
      ['the best candidate alone is first', [0.1, 0.9, 0.3], 1, [], 1],
      // Ranks 2, 3 and 4 are taken by the three candidates with 0.5.
      ['ties share the mean of the ranks they take', [0.9, 0.5, 0.5, 0.5, 0.1], 2, [], 3],
      ['a model that scores everything alike gets the middle', Array<number>(101).fill(0), 7, [], 51],
      ['of two that tie, the mean', [3, 2, 2, 1], 1, [], 2.5],
      ['excluded candidates do not count: better', [3, 2, 2, 1], 1, [0], 1.5],
      ['excluded candidates do not count: better and level', [3, 2, 2, 1], 1, [0, 2], 1],
      ['excluded candidates do not count: worse', [3, 2, 2, 1], 1, [3], 2.5],
      ['the answer counts even where it is among the excluded', [1, 2], 0, [0, 1], 1],
      ['NaN is last', [NaN, 1, 2], 0, [], 3],
      ['NaN is behind every number', [NaN, 1], 1, [], 2],
    ])('%s', (_, scores, answer, known, rank) => expect(rankOf(scores, answer, known)).toBe(rank));

    test('one better and two level ones give the mean of ranks 2, 3 and 4', () => expect(realisticRank(1, 2)).toBe(3));
  });

  describe('figures made of ranks', () => {
    test('by hand; no ranks give 0', () => {
      const ranks = [1, 2, 4, 2.5];
      expect(mrr(ranks)).toBeCloseTo((1 + 1 / 2 + 1 / 4 + 1 / 2.5) / 4);
      expect([1, 2, 10].map((k) => hitsAtK(ranks, k))).toEqual([1 / 4, 2 / 4, 1]);
      expect([mrr([]), hitsAtK([], 10)]).toEqual([0, 0]);
    });
  });

  test('percentiles are values of the set, by nearest rank', () => {
    expect(spreadOf([4, 1, 3, 2])).toEqual({ mean: 2.5, median: 2, p95: 4, max: 4 });
    expect(spreadOf([7])).toEqual({ mean: 7, median: 7, p95: 7, max: 7 });
    const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
    expect(spreadOf(hundred)).toEqual({ mean: 50.5, median: 50, p95: 95, max: 100 });
    expect(spreadOf([])).toEqual({ mean: 0, median: 0, p95: 0, max: 0 });
  });
});

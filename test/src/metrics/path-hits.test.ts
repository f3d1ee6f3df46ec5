import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Path, Triple } from '../../../src/kg/graph.js';
import { distinctPaths, hitAtK, pathRanks, reciprocalRank, targetRanks } from '../../../src/metrics/ranks.js';
import { finalEntities } from '../../fixtures/final-entities.js';
import { checkProperty } from '../../fixtures/property.js';

const equal = 99;
/** `walk(0, 1, 10, 2, 20)` is 0 -1-> 10 -2-> 20. */
function walk(start: number, ...steps: number[]): Path {
  const path: Triple[] = [];
  for (let i = 0, head = start; i < steps.length; i += 2) {
    path.push([head, steps[i]!, steps[i + 1]!]);
    head = steps[i + 1]!;
  }
  return path;
}
const beam = (...paths: Path[]) => paths.map((path, i) => ({ path, logProb: -1 - i }));

describe('path ranks of a hand-made beam', () => {
  test('B-CRUSE-1: the strict rank asks for the same triples, the loose ones for the same entities or relations', () => {
    const ranked = beam(walk(0, 5, 11), walk(0, 1, 12), walk(0, 6, 10), walk(0, 1, 10));
    expect(pathRanks(ranked, walk(0, 1, 10), equal)).toEqual({ path: 4, entityPath: 3, relationPath: 2 });
  });

  test('B-ARK-9: a gold edge that is passed on the way to another entity is no hit', () => {
    const ranked = beam(walk(0, 1, 10, 2, 20));
    expect(pathRanks(ranked, walk(0, 1, 10), equal)).toEqual({ path: 0, entityPath: 0, relationPath: 0 });
  });

  test('staying at the end is the same walk, and counts once', () => {
    const ranked = beam(walk(0, 3, 13), walk(0, 3, 13, equal, 13), walk(0, 1, 10, equal, 10));
    expect(pathRanks(ranked, walk(0, 1, 10), equal).path).toBe(2);
    expect(pathRanks(ranked, walk(0, 1, 10, equal, 10), equal).path).toBe(2);
  });

  test('walks with other middle entities are other walks', () => {
    const ranked = beam(walk(0, 1, 11, 2, 20), walk(0, 1, 10, 2, 20));
    expect(pathRanks(ranked, walk(0, 1, 10, 2, 20), equal)).toEqual({ path: 2, entityPath: 2, relationPath: 1 });
  });
});

describe('target ranks of a hand-made beam', () => {
  test('wrong walks to one entity push the target down once, not once each', () => {
    const ranked = beam(walk(0, 1, 11), walk(0, 2, 11), walk(0, 3, 11), walk(0, 1, 10));
    expect(pathRanks(ranked, walk(0, 1, 10), equal).path).toBe(4);
    expect(targetRanks(finalEntities(ranked, 0, equal), 10).target).toBe(2);
  });

  test('two likely walks to one entity win by their sum', () => {
    const ranked = [
      { path: walk(0, 1, 11), logProb: Math.log(0.4) },
      { path: walk(0, 1, 10), logProb: Math.log(0.3) },
      { path: walk(0, 2, 10), logProb: Math.log(0.2) },
    ];
    const finals = finalEntities(ranked, 0, equal);
    expect(finals[1]!.summedLogProb).toBeCloseTo(Math.log(0.5), 12);
    expect(targetRanks(finals, 10)).toEqual({ target: 2, summedTarget: 1 });
    expect(targetRanks(finals, 11)).toEqual({ target: 1, summedTarget: 2 });
  });

  test('B-ARK-9: only the last entity of a complete walk is a final', () => {
    const ranked = beam(walk(0, 1, 10, 2, 20));
    expect(targetRanks(finalEntities(ranked, 0, equal), 10)).toEqual({ target: 0, summedTarget: 0 });
  });

  test('an empty walk ends at the start', () => {
    expect(finalEntities(beam([]), 7, equal)).toEqual([{ entity: 7, logProb: -1, summedLogProb: -1 }]);
  });
});

test('hits and reciprocal ranks of an absent gold are 0', () => {
  expect([hitAtK(0, 25), hitAtK(25, 25), hitAtK(26, 25)]).toEqual([0, 1, 0]);
  expect([reciprocalRank(0), reciprocalRank(4)]).toEqual([0, 0.25]);
});

test('a looser count never ranks the gold lower than the strict one', () => {
  const paths = fc
    .tuple(
      fc.integer({ min: 0, max: 2 }),
      fc.integer({ min: 10, max: 12 }),
      fc.integer({ min: 0, max: 2 }),
      fc.boolean(),
    )
    .map(([r1, mid, r2, two]) => (two ? walk(0, r1, mid, r2, 20 + r2) : walk(0, r1, mid)));
  checkProperty(
    fc.property(fc.array(paths, { minLength: 1, maxLength: 12 }), fc.nat(), (list, pick) => {
      const ranked = beam(...list);
      const gold = list[pick % list.length]!;
      const { path, entityPath, relationPath } = pathRanks(ranked, gold, equal);
      const { target } = targetRanks(finalEntities(ranked, 0, equal), gold.at(-1)![2]);
      expect(path).toBeGreaterThan(0);
      expect(path).toBeLessThanOrEqual(distinctPaths(ranked, equal).length);
      for (const loose of [entityPath, relationPath, target]) expect(loose).toBeLessThanOrEqual(path);
    }),
  );
});

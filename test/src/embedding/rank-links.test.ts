import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type EmbeddingTable,
  linkQuery,
  meanEntityNorm,
  normalisedTable,
  plainRank,
  scoreTriple,
} from '../../../src/embedding/transe.js';
import { knownAnswers, withInverses } from '../../../src/embedding/known-answers.js';
import { linkMetrics, linkRanks, rankShare } from '../../../src/embedding/rank-links.js';
import { Rng } from '../../../src/run/seeds.js';
import { checkProperty } from '../../fixtures/property.js';
import { rankOf } from '../../fixtures/rank-of.js';
import { columnsOf, type Ids, idsOf } from '../../fixtures/triple-columns.js';

/** Small whole numbers: sums are exact and ties are many. */
function integerTable(rng: Rng, norm: 1 | 2, dim: number, numEntities: number, numRelations: number): EmbeddingTable {
  const draw = (rows: number) => Float32Array.from({ length: rows * dim }, () => rng.integer(3) - 1);
  const [entities, relations] = [draw(numEntities), draw(numRelations)];
  return { model: 'transe', norm, dim, numEntities, numRelations, entities, relations };
}

/** `count` random triples. */
const drawn = (rng: Rng, count: number, numEntities: number, numRelations: number) =>
  Array.from({ length: count }, (): Ids => [
    rng.integer(numEntities),
    rng.integer(numRelations),
    rng.integer(numEntities),
  ]);

function slowRank(table: EmbeddingTable, known: Ids[], [head, relation, tail]: Ids, tailSide: boolean): number {
  const { entities, relations, dim } = table;
  const scores = Array.from({ length: table.numEntities }, (_, other) => {
    const [from, to] = tailSide ? [head, other] : [other, tail];
    let sum = 0;
    for (let k = 0; k < dim; k++) {
      const x = entities[from * dim + k]! + relations[relation * dim + k]! - entities[to * dim + k]!;
      sum += table.norm === 1 ? Math.abs(x) : x * x;
    }
    return -sum;
  });
  return rankOf(scores, tailSide ? tail : head, (other) =>
    known.some(([h, r, t]) => r === relation && (tailSide ? h === head && t === other : t === tail && h === other)),
  );
}

describe('ranking links', () => {
  test('agrees with a slow ranking, ties and filter included', () => {
    const cases = fc.record({
      seed: fc.integer(),
      norm: fc.constantFrom(1 as const, 2 as const),
      dim: fc.integer({ min: 1, max: 60 }),
      numEntities: fc.integer({ min: 1, max: 40 }),
      numTriples: fc.integer({ min: 1, max: 50 }),
    });
    checkProperty(
      fc.property(cases, ({ seed, norm, dim, numEntities, numTriples }) => {
        const rng = new Rng(seed);
        const table = integerTable(rng, norm, dim, numEntities, 3);
        const triples = drawn(rng, numTriples, numEntities, 3);
        const ranks = linkRanks(table, columnsOf(triples), knownAnswers([columnsOf(triples)]));
        triples.forEach((triple, i) => {
          expect(ranks[2 * i]).toBe(slowRank(table, triples, triple, true));
          expect(ranks[2 * i + 1]).toBe(slowRank(table, triples, triple, false));
        });
      }),
      { numRuns: 60 },
    );
  });

  test('is the same in shares, and with a filter that knows only what is asked', () => {
    const rng = new Rng(6);
    const table = integerTable(rng, 1, 6, 90, 2);
    const [asked, others] = [columnsOf(drawn(rng, 150, 90, 2)), columnsOf(drawn(rng, 150, 90, 2))];
    const shared = new Float64Array(300);
    const known = knownAnswers([others, asked], asked);
    for (const share of [2, 0, 1]) rankShare(table, asked, known, shared, share, 3);
    expect(shared).toEqual(linkRanks(table, asked, knownAnswers([asked, others])));
  });

  test('a broken vector ranks last', () => {
    const table = integerTable(new Rng(1), 1, 4, 5, 1);
    table.entities[0] = NaN;
    expect([...linkRanks(table, columnsOf([[1, 0, 0]]), knownAnswers([]))].at(0)).toBe(5);
  });

  test('an entity with NaN is before every answer', () => {
    const table = integerTable(new Rng(2), 1, 4, 5, 1);
    table.entities.set([0, 0, 0, 0, 0, 0, 0, 0]);
    table.relations.fill(0);
    table.entities[16] = NaN;
    const [tailRank] = linkRanks(table, columnsOf([[0, 0, 1]]), knownAnswers([columnsOf([[0, 0, 2]])]));
    expect(tailRank).toBeGreaterThanOrEqual(2);
    expect(tailRank).toBe(
      plainRank(table, linkQuery(table, columnsOf([[0, 0, 1]]), knownAnswers([columnsOf([[0, 0, 2]])]), 0)),
    );
  });

  test('kernels give the ranks of the plain loop, for any numbers', () => {
    const cases = fc.record({
      seed: fc.integer(),
      norm: fc.constantFrom(1 as const, 2 as const),
      dim: fc.oneof(fc.constantFrom(1, 4, 8, 100, 104), fc.integer({ min: 1, max: 130 })),
      numEntities: fc.constantFrom(1, 2, 31, 511, 600, 1100),
      // Of all values, and of single ones, which leave the others a coarse rounding.
      size: fc.constantFrom(1, 0, 1e-44, 1e-20, 1e18, 3e37),
      outlier: fc.constantFrom(1, 1000, 1e7),
      copies: fc.constantFrom(0, 0.1, 0.9),
    });
    checkProperty(
      fc.property(cases, ({ seed, norm, dim, numEntities, size, outlier, copies }) => {
        const rng = new Rng(seed);
        const table = integerTable(rng, norm, dim, numEntities, 3);
        const most = Math.fround(3e38 / 3);
        const draw = () => Math.max(-most, Math.min(most, rng.normal() * size * (rng.uniform() < 0.01 ? outlier : 1)));
        for (const rows of [table.entities, table.relations]) rows.forEach((_, k) => (rows[k] = draw()));
        for (let entity = 1; entity < numEntities; entity++) {
          const other = rng.integer(entity);
          if (rng.uniform() < copies) table.entities.copyWithin(entity * dim, other * dim, (other + 1) * dim);
        }
        const triples = columnsOf(drawn(rng, 10, numEntities, 3));
        const others = columnsOf(drawn(rng, 400, numEntities, 3));
        const known = knownAnswers([triples, others]);
        const plain = Array.from({ length: 20 }, (_, index) =>
          plainRank(table, linkQuery(table, triples, known, index)),
        );
        expect([...linkRanks(table, triples, known)]).toEqual(plain);
      }),
      { numRuns: 60 },
    );
  });

  test('ranks more queries than are rounded at once', () => {
    const rng = new Rng(8);
    const table = integerTable(rng, 2, 3, 20, 2);
    const triples = columnsOf(drawn(rng, 2500, 20, 2));
    const known = knownAnswers([triples]);
    const plain = Array.from({ length: 5000 }, (_, index) => plainRank(table, linkQuery(table, triples, known, index)));
    expect([...linkRanks(table, triples, known)]).toEqual(plain);
  });

  test('gives fractions over both sides', () => {
    const table: EmbeddingTable = {
      ...integerTable(new Rng(1), 1, 1, 4, 1),
      entities: Float32Array.of(0, 1, 2, 3),
      relations: Float32Array.of(1),
    };
    // (0, 2): 0 + 1 = 1 is nearest to 1; 0 and 2 tie → rank 2.5. 2 − 1 = 1 likewise for the head 0.
    const metrics = linkMetrics(linkRanks(table, columnsOf([[0, 0, 2]]), knownAnswers([])));
    expect(metrics).toEqual({ mrr: 1 / 2.5, 'hits@1': 0, 'hits@3': 1, 'hits@10': 1, n: 2 });
  });
});

describe('an embedding table', () => {
  const table: EmbeddingTable = {
    ...{ model: 'transe', norm: 1, dim: 2, numEntities: 3, numRelations: 1 },
    ...{ entities: Float32Array.of(0, 3, 4, 0, 3, 4), relations: Float32Array.of(1, -1) },
  };

  test('measures head + relation − tail in L1 and L2', () => {
    // (0, 3) + (1, −1) − (4, 0) = (−3, 2)
    expect(scoreTriple(table, 0, 0, 1)).toBe(-5);
    expect(scoreTriple({ ...table, norm: 2 }, 0, 0, 1)).toBeCloseTo(-Math.sqrt(13));
  });

  test('is normalised to entities of mean norm 1 by one factor, which keeps the order of distances', () => {
    expect(meanEntityNorm(table)).toBe(4);
    const { table: scaled, scale } = normalisedTable(table);
    expect(scale).toBe(1 / 4);
    expect(meanEntityNorm(scaled)).toBeCloseTo(1);
    expect(scoreTriple(scaled, 0, 0, 1)).toBeCloseTo(-5 / 4);
    expect(table.entities[1]).toBe(3);
  });
});

describe('answers that are known', () => {
  const triple = fc.tuple(fc.nat(6), fc.nat(3), fc.nat(6));
  const part = fc.array(triple, { maxLength: 30 });
  const unique = (ids: number[]) => [...new Set(ids)].sort((a, b) => a - b);

  describe('known answers', () => {
    test('are every answer of every part, ascending and once, and none for unknown queries', () => {
      checkProperty(
        fc.property(part, part, (one, two) => {
          const known = knownAnswers([columnsOf(one), columnsOf(two)]);
          const all = [...one, ...two];
          const pairs = Array.from({ length: 9 * 5 }, (_, i) => [i % 9, Math.floor(i / 9)] as const);
          const found = pairs.map(([entity, relation]) =>
            [known.tailsOf(entity, relation), known.headsOf(relation, entity)].map((ids) => [...ids]),
          );
          const expected = pairs.map(([entity, relation]) => [
            unique(all.filter(([h, r]) => h === entity && r === relation).map(([, , t]) => t)),
            unique(all.filter(([, r, t]) => t === entity && r === relation).map(([h]) => h)),
          ]);
          expect(found).toEqual(expected);
        }),
      );
    });

    test('of what is asked are the same, the others left out', () => {
      checkProperty(
        fc.property(part, part, (asked, others) => {
          const all = knownAnswers([columnsOf(asked), columnsOf(others)]);
          const some = knownAnswers([columnsOf(others)], columnsOf(asked));
          for (const [head, relation, tail] of asked) {
            expect(some.tailsOf(head, relation)).toEqual(all.tailsOf(head, relation));
            expect(some.headsOf(relation, tail)).toEqual(all.headsOf(relation, tail));
          }
          for (const [head, relation] of others) {
            if (!asked.some(([h, r]) => h === head && r === relation)) {
              expect(some.tailsOf(head, relation)).toHaveLength(0);
            }
          }
        }),
      );
    });
  });

  test('an inverse relation asks for the other side', () => {
    const known = knownAnswers([columnsOf(idsOf('0 0 1, 2 0 1, 1 1 3, 4 1 3'))]);
    const both = withInverses(known, 2);
    for (const relation of [0, 1]) {
      for (let entity = 0; entity < 5; entity++) {
        expect(both.tailsOf(entity, relation)).toEqual(known.tailsOf(entity, relation));
        expect(both.headsOf(relation, entity)).toEqual(known.headsOf(relation, entity));
        expect(both.tailsOf(entity, relation + 2)).toEqual(known.headsOf(relation, entity));
        expect(both.headsOf(relation + 2, entity)).toEqual(known.tailsOf(entity, relation));
      }
    }
  });
});

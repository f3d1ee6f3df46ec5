import { describe, expect, test } from '@jest/globals';
import { GraphBuilder } from '../../../../src/kg/build-graph.js';
import type { Triple, TripleColumns } from '../../../../src/kg/graph.js';
import { Rng } from '../../../../src/run/seeds.js';
import { graphFacts, holdOutTriples, tailCorruptionChance } from '../../../../agents/embeddings/transe/triples.js';
import { columnsOf, idsOf } from '../../../fixtures/triple-columns.js';

/** 40 entities, 3 relations with inverses, and `next`, which has none. */
function world() {
  const rng = new Rng(7);
  const builder = new GraphBuilder();
  for (let i = 0; i < 300; i++) {
    const [head, relation, tail] = [`e${rng.integer(40)}`, `r${rng.integer(3)}`, `e${rng.integer(40)}`];
    builder.add(head, relation, tail);
    builder.add(tail, `~${relation}`, head);
  }
  builder.add('e0', '~r0', 'lonely');
  for (let i = 0; i < 39; i++) builder.add(`e${i}`, 'next', `e${i + 1}`);
  return builder.build('toy');
}

const listed = ({ heads, relations, tails }: TripleColumns) =>
  [...heads].map((head, i): Triple => [head, relations[i]!, tails[i]!]);
const key = (triple: Triple) => triple.join(',');

const graph = world();
const facts = listed(graphFacts(graph));

describe('facts of a graph', () => {
  test('are listed once, in forward direction, for any directions of the graph', () => {
    expect(new Set(facts.map(key)).size).toBe(facts.length);
    for (const [, relation] of facts) expect(graph.relationNames[relation]).not.toMatch(/^~/);
    const listedFacts = new Set(facts.map(key));
    for (let head = 0; head < graph.numEntities; head++) {
      for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
        const [relation, tail] = [graph.relations[edge]!, graph.tails[edge]!];
        const backwards = key([tail, graph.inverseOf[relation]!, head]);
        expect(listedFacts.has(key([head, relation, tail])) !== listedFacts.has(backwards)).toBe(true);
      }
    }
  });

  test('include one that the graph has backwards only', () => {
    const fact = [graph.entityId('lonely'), graph.relationId('r0'), graph.entityId('e0')] as const;
    expect(facts.map(key)).toContain(key(fact));
  });
});

describe('held-out facts', () => {
  test('are in train in neither direction, and nothing is lost', () => {
    const { train, valid } = holdOutTriples(graph, { share: 0.1, seed: 1 });
    expect(valid.heads.length).toBe(Math.round(facts.length * 0.1));
    const listedFacts = new Set(listed(train).map(key));
    for (const [head, relation, tail] of listed(valid)) {
      expect(listedFacts.has(key([head, relation, tail]))).toBe(false);
      expect(listedFacts.has(key([tail, graph.inverseOf[relation]!, head]))).toBe(false);
    }
    expect(listed(train).length + listed(valid).length).toBe(facts.length);
  });

  test('are on no excluded triple, in either direction', () => {
    const kept = facts.slice(0, 150);
    const exclude = kept.map(([head, relation, tail], i): Triple => {
      const inverse = graph.inverseOf[relation]!;
      return i % 2 && inverse >= 0 ? [tail, inverse, head] : [head, relation, tail];
    });
    const stray: Triple[] = [...idsOf('-1 -1 -1'), [0, graph.equalRelation, 0]];
    const { valid } = holdOutTriples(graph, { share: 0.2, exclude: [...exclude, ...stray], seed: 2 });
    const keys = new Set(kept.map(key));
    expect(valid.heads.length).toBeGreaterThan(0);
    for (const triple of listed(valid)) expect(keys.has(key(triple))).toBe(false);
  });

  test('leave every entity and relation a fact in train', () => {
    const { train, valid } = holdOutTriples(graph, { share: 0.5, seed: 3 });
    const trained = new Set([...train.heads, ...train.tails]);
    for (const entity of [...valid.heads, ...valid.tails]) expect(trained.has(entity)).toBe(true);
    for (const relation of valid.relations) expect(train.relations.includes(relation)).toBe(true);
  });

  test('depend on the seed alone', () => {
    const valid = (seed: number) => holdOutTriples(graph, { share: 0.1, seed }).valid;
    expect(valid(4)).toEqual(valid(4));
    expect(valid(4)).not.toEqual(valid(5));
  });
});

test('the side with more answers is corrupted less', () => {
  // One head with three tails: a random tail may be true, a random head hardly.
  expect([...tailCorruptionChance(columnsOf(idsOf('0 0 1, 0 0 2, 0 0 3')), 2)]).toEqual([1 / 4, 0.5]);
});

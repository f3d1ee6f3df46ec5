import { describe, expect, test } from '@jest/globals';
import { ChainCounts, chainOf } from '../../../evaluation/links/chain-table.js';
import { verbalisePath } from '../../../evaluation/links/verbalise-path.js';
import { tinyLinkNames, tinyLinkWorld } from '../../fixtures/tiny-links.js';

const { graph } = tinyLinkWorld();
const stay = graph.numRelations;
const relation = (name: string) => graph.relationId(name);
const [born, lives, lies, citizen] = ['born_in', 'lives_in', 'lies_in', 'citizen_of'].map(relation) as [
  number,
  number,
  number,
  number,
];
const entity = (name: string) => graph.entityId(name);

describe('the chains that queries are answered by', () => {
  test('are counted by query relation without their stays, the most used first', () => {
    const counts = new ChainCounts();
    const [p0, t0, c0] = [entity('p0'), entity('t0'), entity('c0')];
    counts.add(citizen, chainOf([born, t0, lies, c0, stay, c0], stay), true);
    counts.add(citizen, chainOf([born, t0, stay, t0, lies, c0], stay), false);
    counts.add(citizen, chainOf([lives, t0, lies, c0], stay), true);
    counts.add(born, chainOf([stay, p0, stay, p0], stay), false);
    expect(counts.rows(graph, 5)).toEqual([
      { relation: 'born_in', chain: [], uses: 1, right: 0, precision: 0 },
      { relation: 'citizen_of', chain: ['born_in', 'lies_in'], uses: 2, right: 1, precision: 0.5 },
      { relation: 'citizen_of', chain: ['lives_in', 'lies_in'], uses: 1, right: 1, precision: 1 },
    ]);
    expect(counts.rows(graph, 1).map(({ uses }) => uses)).toEqual([1, 2]);
  });

  test('of equal use stand in the order of their relations, a beginning before what it begins', () => {
    const counts = new ChainCounts();
    for (const chain of [[lives], [born, lies], [born], []]) {
      counts.add(citizen, chain, true);
    }
    expect(counts.rows(graph, 9).map(({ chain }) => chain)).toEqual([
      [],
      ['born_in'],
      ['born_in', 'lies_in'],
      ['lives_in'],
    ]);
  });

  test('leave out every stay', () => {
    expect(chainOf([stay, 1, 2, 5, stay, 5, 0, 3], stay)).toEqual([2, 0]);
  });
});

describe('a walk in words', () => {
  const labels = graph.entityNames.map((id) => tinyLinkNames[id] ?? id);

  test('names entities and relations, inverse ones by an arrow that points back', () => {
    const path = Int32Array.of(born, entity('t0'), stay, entity('t0'), graph.inverseOf[born]!, entity('p4'));
    expect(verbalisePath(graph, labels, entity('p0'), path)).toBe(
      'Ada Quill -[born_in]-> Glass Harbor <-[born_in]- Eli Thorn',
    );
  });

  test('that stays is its head', () => {
    const p9 = entity('p9');
    expect(verbalisePath(graph, labels, p9, [stay, p9, stay, p9])).toBe('p9');
  });
});

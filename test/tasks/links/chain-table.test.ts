import { describe, expect, test } from '@jest/globals';
import { type LinkRow, verbalisePath } from '../../../tasks/links/row.js';
import { chainOf, type ChainRecord, linkScorer } from '../../../tasks/links/score.js';
import { tinyLinkNames, tinyLinkWorld } from '../../fixtures/tiny-links.js';

const tiny = tinyLinkWorld();
const { graph } = tiny;
const stay = graph.numRelations;
const relation = (name: string) => graph.relationId(name);
const [born, lives, lies, citizen] = ['born_in', 'lives_in', 'lies_in', 'citizen_of'].map(relation) as [
  number,
  number,
  number,
  number,
];
const entity = (name: string) => graph.entityId(name);

/** Rows of walks from separate heads, with their table. */
function chainsOf(...used: [relation: number, chain: number[], right: boolean][]) {
  const world = { graph, labels: graph.entityNames, known: tiny.known, trainKnown: tiny.known };
  const rows = used.map(([relation, chain, chainRight], head): LinkRow => {
    const query = { id: `tail/${head}`, direction: 'tail', head, relation, answer: 0, distance: 1 } as const;
    return { ...query, rank: 1, chain, chainRight };
  });
  return linkScorer(world, 3).summary!(rows).details.chains as ChainRecord[];
}

describe('the chains that queries are answered by', () => {
  test('are counted by query relation without their stays, the most used first', () => {
    const [p0, t0, c0] = [entity('p0'), entity('t0'), entity('c0')];
    const chains = chainsOf(
      [citizen, chainOf([born, t0, lies, c0, stay, c0], stay), true],
      [citizen, chainOf([born, t0, stay, t0, lies, c0], stay), false],
      [citizen, chainOf([lives, t0, lies, c0], stay), true],
      [born, chainOf([stay, p0, stay, p0], stay), false],
    );
    expect(chains).toEqual([
      { relation: 'born_in', chain: [], uses: 1, right: 0, precision: 0 },
      { relation: 'citizen_of', chain: ['born_in', 'lies_in'], uses: 2, right: 1, precision: 0.5 },
      { relation: 'citizen_of', chain: ['lives_in', 'lies_in'], uses: 1, right: 1, precision: 1 },
    ]);
  });

  test('are five of a relation at most', () => {
    const many = Array.from({ length: 7 }, (_, i): [number, number[], boolean] => [
      citizen,
      i === 6 ? [lives] : Array<number>(i).fill(born),
      true,
    ]);
    const chains = chainsOf(...many, [citizen, [lives], true]);
    expect(chains.map(({ chain, uses }) => [chain.join(), uses])).toEqual([
      ['lives_in', 2],
      ['', 1],
      ['born_in', 1],
      ['born_in,born_in', 1],
      ['born_in,born_in,born_in', 1],
    ]);
  });

  test('of equal use stand in the order of their relations, a beginning before what it begins', () => {
    const chains = chainsOf(
      [citizen, [lives], true],
      [citizen, [born, lies], true],
      [citizen, [born], true],
      [citizen, [], true],
    );
    expect(chains.map(({ chain }) => chain)).toEqual([[], ['born_in'], ['born_in', 'lies_in'], ['lives_in']]);
  });

  test('of a question asked by several queries count once', () => {
    const world = { graph, labels: graph.entityNames, known: tiny.known, trainKnown: tiny.known };
    const query = { direction: 'tail', head: 0, relation: citizen, distance: 1, rank: 1, chain: [born] } as const;
    const rows = [0, 1].map((answer): LinkRow => ({
      ...query,
      chain: [born],
      id: `tail/${answer}`,
      answer,
      chainRight: true,
    }));
    expect(linkScorer(world, 3).summary!(rows).details.chains).toMatchObject([{ chain: ['born_in'], uses: 1 }]);
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

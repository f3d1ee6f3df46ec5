import { expect, test } from '@jest/globals';
import { decodeChains as decode } from '../../../agents/relation-walker/relation-walker-agent.js';
import {
  defaultRelationRules,
  frontierTrie,
  initialRelationState,
  type RelationWalkState,
} from '../../../envs/index.js';
import { filmGraph } from '../../fixtures/toy-questions.js';

const graph = filmGraph();
const stop = graph.numRelations;
const from = (name: string, hops?: number) =>
  initialRelationState(
    frontierTrie(graph).root([graph.entityId(name)]),
    hops === undefined ? defaultRelationRules : { horizon: 3, hops: 'given' },
    hops,
  );
const decodeChains = (initial: RelationWalkState, scored: (relations: Int32Array) => Float32Array, width: number) =>
  decode(initial, scored, width, () => Promise.resolve());
const names = (relations: Int32Array) => Array.from(relations, (relation) => graph.relationNames[relation]).join(' ');

/** Scores that prefer named actions behind a prefix; everything else gets 0. */
const scores = (table: Record<string, Record<string, number>>) => (relations: Int32Array) => {
  const row = new Float32Array(stop + 1);
  for (const [name, score] of Object.entries(table[names(relations)] ?? {})) {
    row[name === 'stop' ? stop : graph.relationId(name)] = score;
  }
  return row;
};

test('greedy follows the best legal action until STOP or the horizon', async () => {
  const table = scores({
    '': { '~year': 50, directed_by: 5 },
    directed_by: { '~directed_by': 5 },
    'directed_by ~directed_by': { stop: 9 },
  });
  const [best, ...others] = await decodeChains(from('tenet'), table, 1);
  expect(others).toEqual([]);
  expect(names(best!.node.relations)).toBe('directed_by ~directed_by');
  expect(best!.stopped).toBe(true);
  // Legal at the start: three relations. Behind the first: one and STOP. Behind the second: three and STOP.
  const logProb = 5 - Math.log(Math.exp(5) + 2) + 5 - Math.log(Math.exp(5) + 1) + 9 - Math.log(Math.exp(9) + 3);
  expect(best!.logProb).toBeCloseTo(logProb, 5);
  const long = await decodeChains(
    from('tenet'),
    scores({ '': { directed_by: 5 }, directed_by: { '~directed_by': 5 }, 'directed_by ~directed_by': { year: 1 } }),
    1,
  );
  expect(names(long[0]!.node.relations)).toBe('directed_by ~directed_by year');
  expect(long[0]!.stopped).toBe(false);
});

test('a beam finds what greedy passes by', async () => {
  // Greedy takes `starring` (0.5) and then spreads; `year` then STOP for certain is likelier as a whole.
  const table = scores({ '': { starring: 0.2, year: 0.1, directed_by: -9 }, year: { stop: 20 } });
  expect(names((await decodeChains(from('juno'), table, 1))[0]!.node.relations)).toMatch(/^starring/);
  const beam = await decodeChains(from('juno'), table, 4);
  expect(names(beam[0]!.node.relations)).toBe('year');
  for (let i = 1; i < beam.length; i++) expect(beam[i]!.logProb).toBeLessThanOrEqual(beam[i - 1]!.logProb);
});

test('a wide beam finds every walk, and their probabilities add up to one', async () => {
  const all = await decodeChains(from('tenet'), scores({ '': { year: 1 } }), 10_000);
  expect(new Set(all.map(({ node, stopped }) => `${names(node.relations)} ${stopped}`)).size).toBe(all.length);
  expect(all.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0)).toBeCloseTo(1, 5);
});

test('with given hops it stops nowhere else', async () => {
  const [best] = await decodeChains(from('tenet', 2), scores({ '': { directed_by: 3 }, directed_by: { stop: 50 } }), 1);
  expect(names(best!.node.relations)).toBe('directed_by ~directed_by');
});

test('nothing comes out of a topic without edges', async () => {
  const nowhere = initialRelationState(frontierTrie(graph).root([-1]), defaultRelationRules);
  expect(await decodeChains(nowhere, scores({}), 3)).toEqual([]);
});

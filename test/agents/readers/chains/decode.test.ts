import { describe, expect, test } from '@jest/globals';
import { bestChain } from '../../../../agents/readers/chains/decode.js';
import type { ChainScores } from '../../../../agents/readers/chains/network.js';
import type { FrontierNode } from '../../../../envs/relation-walk/frontier-trie.js';
import { Rng } from '../../../../src/run/seeds.js';

/** A node from which every relation leads on, without end. */
function endless(numRelations: number, relations: number[] = []): FrontierNode {
  const choices = new Uint8Array(numRelations + 1).fill(1);
  return {
    relations: Int32Array.from(relations),
    choices: () => choices,
    follow: (relation: number) => endless(numRelations, [...relations, relation]),
  } as unknown as FrontierNode;
}

/** Scores in steps of one, so that many chains are equally probable. */
function coarse(seed: number, numRelations: number): ChainScores {
  const rng = Rng.named(seed, 'test/coarse');
  const logs = Array.from({ length: 3 }, () => Float64Array.from({ length: numRelations }, () => -rng.integer(3)));
  const ends = Float64Array.from({ length: 3 }, () => -rng.integer(4));
  return {
    relations: ({ length }) => logs[length]!,
    end: ({ length }) => ends[length - 1]!,
    mostEnd: (length) => Math.max(...ends.subarray(length - 1)),
  };
}

/** The same search over a list that is scanned from its beginning each time: what stands first of equal ones was added first. */
function scanned(root: FrontierNode, scores: ChainScores): number[] {
  const open = [{ node: root, log: 0, bound: 0, whole: false }];
  for (;;) {
    const best = Math.max(...open.map(({ bound }) => bound));
    const at = open.findIndex(({ bound }) => bound === best);
    const [{ node, log, whole }] = open.splice(at, 1) as [(typeof open)[number]];
    const chain = node.relations;
    if (whole) return [...chain];
    if (chain.length > 0) open.push({ node, log, bound: log + scores.end(chain), whole: true });
    if (chain.length === 3) continue;
    for (let relation = 0; relation + 1 < node.choices().length; relation++) {
      const sum = log + scores.relations(chain, 3)[relation]!;
      const bound = sum + scores.mostEnd(chain.length + 1);
      open.push({ node: node.follow(relation), log: sum, bound, whole: false });
    }
  }
}

describe('the search for the best chain', () => {
  test('takes of equally probable chains the one that it found first', () => {
    const found = Array.from({ length: 60 }, (_, seed) => {
      const scores = coarse(seed, 5);
      const chain = [...bestChain(endless(5), scores, { horizon: 3 }).found!.node.relations];
      expect(chain).toEqual(scanned(endless(5), scores));
      return chain.join();
    });
    expect(new Set(found).size).toBeGreaterThan(10);
  });

  test('gives up soon, however much is open', () => {
    const flat = new Float64Array(40);
    const never: ChainScores = { relations: () => flat, end: () => -1, mostEnd: () => 0 };
    const begin = performance.now();
    expect(bestChain(endless(40), never, { horizon: 9 })).toEqual({ found: undefined, tried: 20_000 });
    // About a second as a heap; a list that is scanned for its best takes time by the square of what it holds.
    expect(performance.now() - begin).toBeLessThan(20_000);
  });
});

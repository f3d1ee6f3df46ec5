import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ChainFollower, type ChainRule, mineRules, ruleScorer } from '../../agents/link-rules.js';
import { knownAnswers, withInverses } from '../../src/embedding/known-answers.js';
import { Graph } from '../../src/kg/graph.js';
import { pathsBetween } from '../../src/kg/paths-between.js';
import { tinyLinkWorld } from '../fixtures/tiny-links.js';
import { checkProperty } from '../fixtures/property.js';

const names = (letter: string, count: number) => Array.from({ length: count }, (_, i) => `${letter}${i}`);

describe('where a chain leads', () => {
  const problem = fc.integer({ min: 2, max: 7 }).chain((numEntities) => {
    const entity = fc.nat(numEntities - 1);
    const chain = fc.array(fc.nat(2), { maxLength: 3 });
    return fc.record({
      numEntities: fc.constant(numEntities),
      triples: fc.array(fc.tuple(entity, fc.nat(2), entity), { maxLength: 24 }),
      asked: fc.array(fc.tuple(entity, chain), { minLength: 1, maxLength: 12 }),
    });
  });

  test('equals the ends of simple paths of its relations, independently of earlier calls', () => {
    checkProperty(
      fc.property(problem, ({ numEntities, triples, asked }) => {
        const column = (place: 0 | 1 | 2) => Int32Array.from(triples, (triple) => triple[place]);
        const columns = { heads: column(0), relations: column(1), tails: column(2) };
        const graph = new Graph('chains', names('e', numEntities), names('r', 3), columns);
        const follower = new ChainFollower(graph);
        for (const [head, chain] of asked) {
          const expected = Array.from({ length: numEntities }, (_, tail) => tail).filter((tail) => {
            const { paths } = pathsBetween(graph, head, tail, { kind: 'simple', horizon: 3, most: 1e6 });
            return paths.some((path) => String(path.filter((_, i) => i % 2 === 0)) === String(chain));
          });
          expect([...follower.follow(head, chain)].sort()).toEqual(expected);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('an entity that several walks enter', () => {
  test('may be left to where one of them came from, by the others', () => {
    // From 0 to 1 and 2, from both to 3, and from there back to 1: only the walk through 2 may go there.
    const graph = new Graph('two ways', names('e', 4), ['r'], {
      heads: Int32Array.of(0, 0, 1, 2, 3),
      relations: Int32Array.of(0, 0, 0, 0, 0),
      tails: Int32Array.of(1, 2, 3, 3, 1),
    });
    expect([...new ChainFollower(graph).follow(0, [0, 0, 0])]).toEqual([1]);
  });
});

describe('rules', () => {
  const { graph, train, valid } = tinyLinkWorld();
  const trainKnown = withInverses(knownAnswers([train]), graph.numRelations / 2);
  const id = (name: string) => graph.relationId(name);
  const [born, lives, lies, citizen] = [id('born_in'), id('lives_in'), id('lies_in'), id('citizen_of')];
  const ruleOf = (rules: readonly ChainRule[], ...chain: number[]) =>
    rules.find((rule) => String(rule.chain) === String(chain));

  test('count on train what a chain reaches, without the edge that is asked for', async () => {
    const rules = (await mineRules(graph, train, trainKnown, { smoothing: 4 }))[citizen]!;
    // Six citizens in train, each born in a town of the country.
    expect(ruleOf(rules, born, lies)).toEqual({
      chain: [born, lies],
      support: 6,
      reached: 6,
      right: 6,
      precision: 0.6,
    });
    // Three of the six live in the country, too.
    const lived = { chain: [lives, lies], support: 3, reached: 6, right: 3, precision: 0.3 };
    expect(ruleOf(rules, lives, lies)).toEqual(lived);
    // The relation itself would be the edge that is asked for.
    expect(ruleOf(rules, citizen)).toBeUndefined();
  });

  test('are found for heads as well, and for every relation of the graph', async () => {
    const table = await mineRules(graph, train, trainKnown);
    expect(table).toHaveLength(graph.numRelations);
    const back = (relation: number) => graph.inverseOf[relation]!;
    expect(ruleOf(table[back(citizen)]!, back(lies), back(born))).toMatchObject({ support: 6, right: 6 });
  });

  test('keep short chains for any number of long ones, and none beyond the horizon', async () => {
    const lengths = async (options: object) =>
      (await mineRules(graph, train, trainKnown, options))[citizen]!.map(({ chain }) => chain.length);
    expect(new Set(await lengths({ chains: 1 }))).toEqual(new Set([2, 3]));
    expect(await lengths({ chains: 1 })).toHaveLength(2);
    expect(Math.max(...(await lengths({ horizon: 2 })))).toBe(2);
  });

  test('know an answer that is the head itself', async () => {
    const selves = { heads: Int32Array.of(0, 1, 2), relations: Int32Array.of(0, 0, 0), tails: Int32Array.of(0, 1, 2) };
    const loops = new Graph('loops', names('e', 3), ['r', '~r'], {
      heads: Int32Array.of(0, 1, 2, 0, 1, 2),
      relations: Int32Array.of(0, 0, 0, 1, 1, 1),
      tails: Int32Array.of(0, 1, 2, 0, 1, 2),
    });
    const table = await mineRules(loops, selves, withInverses(knownAnswers([selves]), 1));
    expect(table[0]).toEqual([{ chain: [], support: 3, reached: 3, right: 3, precision: 3 / 8 }]);
  });

  test('are drawn by the seed where there are more triples than are looked at', async () => {
    const mine = (seed: number) => mineRules(graph, train, trainKnown, { seed, triples: 2, heads: 2 });
    expect(await mine(1)).toEqual(await mine(1));
    expect(await mine(1)).not.toEqual(await mine(2));
  });

  test('are refused for chains that cannot be followed, and stop when asked to', async () => {
    await expect(mineRules(graph, train, trainKnown, { horizon: 4 })).rejects.toThrow(
      /chains of 1 to 3 relations, got 4/,
    );
    const signal = AbortSignal.abort();
    await expect(mineRules(graph, train, trainKnown, { signal })).rejects.toMatchObject({ code: 'stopped' });
  });

  test('rank the answer first, and say by which chain', async () => {
    const scorer = ruleScorer(graph, await mineRules(graph, train, trainKnown), 'best');
    const scores = new Float64Array(graph.numEntities);
    valid.heads.forEach((head, i) => {
      scorer.scoreTails(head, valid.relations[i]!, scores);
      expect(scores.indexOf(Math.max(...scores))).toBe(valid.tails[i]);
      expect(scorer.chainTo(valid.tails[i]!)).toEqual([born, lies]);
    });
  });

  describe('that lead to one entity', () => {
    // Relation 3 is asked for. From 0, chain [0] leads to 1 and 2, chain [1] to 1, chain [2] to 2 and 3; 4 is out of reach.
    const edges = [
      [0, 0, 1],
      [0, 0, 2],
      [0, 1, 1],
      [0, 2, 2],
      [0, 2, 3],
    ];
    const column = (index: number) => Int32Array.from(edges, (edge) => edge[index]!);
    const small = new Graph('small', names('e', 5), names('r', 4), {
      heads: column(0),
      relations: column(1),
      tails: column(2),
    });
    const rule = (relation: number, precision: number) => ({
      ...{ chain: [relation], support: 1, reached: 1, right: 1, precision },
    });
    const rules = [[], [], [], [rule(0, 0.5), rule(1, 0.25), rule(2, 0.375)]];
    const scoresOf = (ranking: 'best' | 'noisy-or') => {
      const scores = new Float64Array(5);
      ruleScorer(small, rules, ranking).scoreTails(0, 3, scores);
      return [...scores];
    };

    test('are compared one after another by the best first', () => {
      const scores = scoresOf('best');
      const one = 2 ** -16;
      expect(scores).toEqual([-Infinity, 0.5 + 0.25 * one, 0.5 + 0.375 * one, 0.375, -Infinity]);
    });

    test('are taken together by noisy-or', () => {
      expect(scoresOf('noisy-or')).toEqual([-Infinity, 1 - 0.5 * 0.75, 1 - 0.5 * 0.625, 0.375, -Infinity]);
    });
  });
});

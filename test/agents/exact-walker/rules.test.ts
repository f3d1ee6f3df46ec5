import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LinkRanker } from '../../../agents/link-ranker.js';
import { ensembleRanker, fitEnsemble, meanRanker } from '../../../agents/link-ensemble.js';
import { ChainFollower, type ChainRule, mineRules, ruleScorer } from '../../../agents/exact-walker/chains/rules.js';
import { knownAnswers, withInverses } from '../../../src/embedding/known-answers.js';
import { Graph } from '../../../src/kg/graph.js';
import { pathsBetween } from '../../../src/kg/paths-between.js';
import { Rng } from '../../../src/run/seeds.js';
import { checkProperty } from '../../fixtures/property.js';
import { tinyLinkWorld } from '../../fixtures/tiny-links.js';

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

// Several rankers of links as one.

/** Ranks by a function of the question. */
const ranking = (scores: (head: number, relation: number) => Float64Array): LinkRanker => ({
  ...{ name: 'some', rankings: ['score'], batchSize: 1 },
  rank: (questions, take) =>
    questions.forEach(({ head, relation }, i) => take(i, { scores: [scores(head, relation)] })),
});

const logs = [
  [0.5, 0.25, 0.25, 0],
  [0.1, 0.1, 0.8, 0],
].map((shares) => shares.map(Math.log));
const first = ranking(() => Float64Array.from(logs[0]!, (log) => log + 3));
const second = ranking(() => Float64Array.from(logs[1]!));

async function scoresOf(ranker: LinkRanker, relation = 0): Promise<number[]> {
  let taken: number[] = [];
  await ranker.rank([{ head: 0, relation }], (_, { scores }) => (taken = [...scores[0]!]));
  return taken;
}

test('scores, which may be anything up to a sum, are averaged as log-probabilities', async () => {
  const wanted = logs[0]!.map((one, i) => expect.closeTo((one + logs[1]![i]!) / 2, 12) as unknown);
  expect(await scoresOf(meanRanker([first, second]))).toEqual([...wanted.slice(0, 3), -Infinity]);
});

test('weights are of a relation, and a member without any says nothing', async () => {
  const ensemble = ensembleRanker([first, second], (relation) => (relation === 0 ? [2, 0.5] : [0, 1]));
  const weighed = logs[0]!.map((one, i) => expect.closeTo(2 * one + 0.5 * logs[1]![i]!, 12) as unknown);
  expect((await scoresOf(ensemble)).slice(0, 3)).toEqual(weighed.slice(0, 3));
  expect(await scoresOf(ensemble, 1)).toEqual(
    logs[1]!.map((log) => (log === -Infinity ? log : expect.closeTo(log, 12))),
  );
});

describe('fitted weights', () => {
  /** Answers drawn from the product of what two members say to the powers 1.5 and 0.5; the third says nothing about them. */
  const [entities, count] = [20, 1000];
  const powers = [1.5, 0.5, 0];
  const rng = new Rng(1);
  const logs = powers.map(() =>
    Array.from({ length: count }, () => Float64Array.from({ length: entities }, () => rng.normal())),
  );
  const members = logs.map((own) => ranking((head) => own[head]!.slice()));
  const drawn = Int32Array.from({ length: count }, (_, head) => {
    const chances = Array.from({ length: entities }, (_, entity) =>
      Math.exp(powers.reduce((sum, power, k) => sum + power * logs[k]![head]![entity]!, 0)),
    );
    let left = rng.uniform() * chances.reduce((sum, chance) => sum + chance, 0);
    return Math.max(
      0,
      chances.findIndex((chance) => (left -= chance) < 0),
    );
  });
  const queries = { heads: Int32Array.from(drawn.keys()), relations: new Int32Array(count), tails: drawn };

  test('are those that the answers were drawn by', async () => {
    const weights = await fitEnsemble(members, queries, () => []);
    powers.forEach((power, k) => expect(Math.abs(weights[k]! - power)).toBeLessThan(0.15));
    expect([...weights].every((weight) => weight >= 0)).toBe(true);
  });

  test('depend on candidates alone: other known answers are excluded', async () => {
    // The first member's top entity is also an answer: as a candidate it would lower that member's weight.
    const best = logs[0]!.map((scores, head) => {
      const others = [...scores.keys()].filter((entity) => entity !== drawn[head]);
      return others.sort((a, b) => scores[b]! - scores[a]!).slice(0, 10);
    });
    const left = await fitEnsemble(members, queries, (head) => best[head]!);
    const kept = await fitEnsemble(members, queries, () => []);
    expect(left[0]!).toBeGreaterThan(kept[0]! + 0.5);
  });

  test('bear an answer that a member cannot rank, and members that say the same', async () => {
    const blind = ranking((head) =>
      logs[0]![head]!.map((score, entity) => (entity === drawn[head] ? -Infinity : score)),
    );
    const weights = await fitEnsemble([members[0]!, members[0]!, blind], queries, () => []);
    const [alone] = await fitEnsemble([members[0]!], queries, () => []);
    expect(weights[0]! + weights[1]!).toBeCloseTo(alone!, 4);
    expect(weights[2]!).toBe(0);
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { FoundRule, LinkRanker, RankedQuestion } from '../../../agents/link-ranker.js';
import { ensembleCases, ensembleRanker, fitEnsemble, meanRanker } from '../../../agents/link-ensemble.js';
import { ChainFollower } from '../../../agents/rules/chain-follower.js';
import type { ConstantUse } from '../../../agents/rules/found-rule.js';
import { KeptRules, type RuleRanking } from '../../../agents/rules/kept-rules.js';
import { type ChainRule, mineRules, type Rules } from '../../../agents/rules/mine-rules.js';
import { ruleRanker } from '../../../agents/rules/rule-ranker.js';
import { knownAnswers, withInverses } from '../../../src/embedding/known-answers.js';
import { Graph, inverseName } from '../../../src/kg/graph.js';
import { relationRows } from '../../../src/kg/relation-rows.js';
import { pathsBetween } from '../../../src/kg/paths-between.js';
import { Rng } from '../../../src/run/seeds.js';
import { checkProperty } from '../../fixtures/property.js';
import { columnsOf, type Ids } from '../../fixtures/triple-columns.js';
import { tinyLinkWorld } from '../../fixtures/tiny-links.js';

const names = (letter: string, count: number) => Array.from({ length: count }, (_, i) => `${letter}${i}`);

describe('where a chain leads', () => {
  const problem = fc.integer({ min: 2, max: 7 }).chain((numEntities) => {
    const entity = fc.nat(numEntities - 1);
    const chain = fc.array(fc.nat(2), { maxLength: 5 });
    return fc.record({
      numEntities: fc.constant(numEntities),
      triples: fc.array(fc.tuple(entity, fc.nat(2), entity), { maxLength: 24 }),
      asked: fc.array(fc.tuple(entity, chain), { minLength: 1, maxLength: 12 }),
    });
  });

  test('equals the ends of simple paths of its relations, independently of earlier calls; of more than three it lacks none', () => {
    checkProperty(
      fc.property(problem, ({ numEntities, triples, asked }) => {
        const column = (place: 0 | 1 | 2) => Int32Array.from(triples, (triple) => triple[place]);
        const columns = { heads: column(0), relations: column(1), tails: column(2) };
        const graph = new Graph('chains', names('e', numEntities), names('r', 3), columns);
        const follower = new ChainFollower(relationRows(graph), numEntities);
        for (const [head, chain] of asked) {
          const expected = Array.from({ length: numEntities }, (_, tail) => tail).filter((tail) => {
            const { paths } = pathsBetween(graph, head, tail, { kind: 'simple', horizon: 5, most: 1e6 });
            return paths.some((path) => String(path.filter((_, i) => i % 2 === 0)) === String(chain));
          });
          const ends = [...follower.follow(head, chain)].sort();
          // Longer chains may come back to an entity, but never by the edge between head and end.
          if (chain.length <= 3) expect(ends).toEqual(expected);
          else expect(expected.filter((end) => !ends.includes(end))).toEqual([]);
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
    expect([...new ChainFollower(relationRows(graph), 4).follow(0, [0, 0, 0])]).toEqual([1]);
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
    const rules = (await mineRules(graph, train, trainKnown)).chains[citizen]!;
    // Six citizens in train, each born in a town of the country.
    expect(ruleOf(rules, born, lies)).toEqual({
      chain: [born, lies],
      support: 6,
      reached: 6,
      right: 6,
      precision: 6 / 11,
    });
    // Three of the six live in the country, too.
    const lived = { chain: [lives, lies], support: 3, reached: 6, right: 3, precision: 3 / 11 };
    expect(ruleOf(rules, lives, lies)).toEqual(lived);
    // The relation itself would be the edge that is asked for.
    expect(ruleOf(rules, citizen)).toBeUndefined();
  });

  test('are found for heads as well, and for every relation of the graph', async () => {
    const table = (await mineRules(graph, train, trainKnown)).chains;
    expect(table).toHaveLength(graph.numRelations);
    const back = (relation: number) => graph.inverseOf[relation]!;
    expect(ruleOf(table[back(citizen)]!, back(lies), back(born))).toMatchObject({ support: 6, right: 6 });
  });

  test('keep short chains for any number of long ones, and none beyond the horizon', async () => {
    const lengths = async (options: object) =>
      (await mineRules(graph, train, trainKnown, options)).chains[citizen]!.map(({ chain }) => chain.length);
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
    const { chains } = await mineRules(loops, selves, withInverses(knownAnswers([selves]), 1));
    expect(chains[0]).toEqual([{ chain: [], support: 3, reached: 3, right: 3, precision: 3 / 8 }]);
  });

  test('are drawn by the seed where there are more triples than are looked at', async () => {
    const mine = (seed: number) => mineRules(graph, train, trainKnown, { seed, triples: 2, heads: 2 });
    expect(await mine(1)).toEqual(await mine(1));
    expect(await mine(1)).not.toEqual(await mine(2));
  });

  test('are refused for chains that cannot be followed, and stop when asked to', async () => {
    await expect(mineRules(graph, train, trainKnown, { horizon: 6 })).rejects.toThrow(
      /chains of 1 to 5 relations, got 6/,
    );
    const signal = AbortSignal.abort();
    await expect(mineRules(graph, train, trainKnown, { signal })).rejects.toMatchObject({ code: 'stopped' });
  });

  test('rank the answer first, and say by which chain', async () => {
    const rules = await mineRules(graph, train, trainKnown);
    for (const [i, head] of valid.heads.entries()) {
      const { scores, rulesTo } = await ranked(graph, rules, 'best', 'none', head, valid.relations[i]!);
      expect(scores.indexOf(Math.max(...scores))).toBe(valid.tails[i]);
      expect(rulesTo(valid.tails[i]!)[0]).toEqual({
        kind: 'chain',
        chain: [born, lies],
        of: 6,
        right: 6,
        precision: 6 / 11,
      });
    }
  });

  test('of edges between the two ends are left out where these are hidden', async () => {
    // Four pairs, linked by r and s alike.
    const both = [0, 1, 2, 3].flatMap((i) => [edge(i, 0, i + 4), edge(i, 1, i + 4)]);
    const pairs = world(8, 2, both);
    const known = withInverses(knownAnswers([pairs.train]), 2);
    const chainsOf = async (hidden: boolean) =>
      (await mineRules(pairs.graph, pairs.train, known, { pairs: hidden })).chains[0]!.map(({ chain }) => chain);
    expect(await chainsOf(false)).toEqual([[1]]);
    expect(await chainsOf(true)).toEqual([]);
  });
});

describe('rules with constants', () => {
  // Persons 0 to 4; nation (relation 0) is 5 or 6, tongue (relation 1) is 7, 8 or 9. Of four persons of nation 5 three have tongue 7.
  const { graph, train } = world(10, 2, [
    ...[0, 1, 2, 3].map((person) => edge(person, 0, 5)),
    edge(4, 0, 6),
    ...[0, 1, 2].map((person) => edge(person, 1, 7)),
    edge(3, 1, 8),
    edge(4, 1, 9),
    edge(2, 1, 8),
  ]);
  const mined = (options: object = {}) =>
    mineRules(graph, train, withInverses(knownAnswers([train]), 2), { ...options, chains: 0 });
  const [nation, tongue] = [0, 1];

  test('lead from what two heads have to what two of these are answered by', async () => {
    const { rulesTo } = await ranked(graph, await mined(), 'best', 'head', 3, tongue);
    expect(rulesTo(7)).toEqual([
      { kind: 'head', feature: { relation: nation, entity: 5 }, of: 4, right: 3, precision: 3 / 9 },
      { kind: 'prior', of: 5, right: 3, precision: 3 / 10 },
      { kind: 'head', feature: { relation: nation, entity: -1 }, of: 5, right: 3, precision: 3 / 10 },
    ]);
    // One head alone has this answer.
    expect(rulesTo(9)).toEqual([{ kind: 'prior', of: 5, right: 1, precision: 1 / 10 }]);
    expect((await ranked(graph, await mined(), 'best', 'none', 3, tongue)).rulesTo(7)).toEqual([]);
  });

  test('no answer is a reason for itself, by the relation that is asked for or by any where pairs are hidden', async () => {
    const { constants } = await mined();
    expect([...constants[tongue]!.answers]).not.toEqual([]);
    const spoken = world(
      6,
      2,
      [0, 1, 2].flatMap((person) => [edge(person, 0, 4), edge(person, 1, 4)]),
    );
    const known = withInverses(knownAnswers([spoken.train]), 2);
    const answersOf = async (pairs: boolean) =>
      [...(await mineRules(spoken.graph, spoken.train, known, { pairs })).constants[0]!.features].length;
    // Relation 1 to entity 4, and relation 1 to any.
    expect(await answersOf(false)).toBe(2);
    expect(await answersOf(true)).toBe(1);
  });

  test('of the known answers lead to all answers of the relation that share what they have', async () => {
    // Head 0 is answered by 2 and 3, which have edge 1 to 6, as 4 does, an answer of head 1; 5 has it too but answers nothing.
    const shared = world(7, 2, [
      ...[edge(0, 0, 2), edge(0, 0, 3), edge(1, 0, 4)],
      ...[2, 3, 4, 5].map((entity) => edge(entity, 1, 6)),
    ]);
    const known = withInverses(knownAnswers([shared.train]), 2);
    const rules = await mineRules(shared.graph, shared.train, known);
    const { rulesTo } = await ranked(shared.graph, rules, 'noisy-or of 5', 'answers', 0, 0);
    const counts = { right: 2, of: 3, precision: 2 / 6 };
    expect(rulesTo(4).filter(({ kind }) => kind === 'answers')).toEqual([
      { kind: 'answers', feature: { relation: 1, entity: 6 }, ...counts },
      { kind: 'answers', feature: { relation: 1, entity: -1 }, ...counts },
    ]);
    expect(rulesTo(5).map(({ kind }) => kind)).not.toContain('answers');
  });
});

describe('rules that lead to one entity', () => {
  const kept = new KeptRules(5);
  const offered: readonly (readonly number[])[] = [[], [0.25, 0.5], [0.5, 0.375, 0.125], [0.375], [0.375]];
  offered.forEach((own, entity) => own.forEach((precision, rule) => kept.offer(entity, precision, rule)));
  const scoresOf = (ranking: RuleRanking, priorOf = (_entity: number) => 0) => {
    const scores = new Float64Array(5);
    kept.scores(ranking, priorOf, scores);
    return [...scores];
  };

  test('are kept by precision', () => {
    expect([1, 2].map((entity) => [...kept.rulesOf(entity)])).toEqual([
      [1, 0],
      [0, 1, 2],
    ]);
  });

  test('are compared one after another by the best first, then by the prior', () => {
    const step = 2 ** -15;
    expect(scoresOf('best')).toEqual([-Infinity, 0.5 + 0.25 * step, 0.5 + 0.375 * step, 0.375, 0.375]);
    const [, , , third, fourth] = scoresOf('best', (entity) => entity);
    expect(fourth).toBeGreaterThan(third!);
  });

  test('are compared to the tenth, and more are forgotten', () => {
    const ten = new KeptRules(3);
    for (let k = 0; k < 10; k++) for (const entity of [0, 1, 2]) ten.offer(entity, 0.5, k);
    ten.offer(1, 0.25, 10);
    ten.offer(2, 0.75, 11);
    const scores = new Float64Array(3);
    ten.scores('best', () => 0, scores);
    expect(scores[0]).toBe(scores[1]);
    expect(scores[2]).toBeGreaterThan(scores[0]!);
    expect([...ten.rulesOf(2)]).toEqual([11, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    ten.clear();
    ten.scores('best', () => 0, scores);
    expect([...scores]).toEqual([-Infinity, -Infinity, -Infinity]);
  });

  test('are taken together by noisy-or, fading or not', () => {
    const or = (...failures: number[]) => 1 - failures.reduce((all, one) => all * one, 1);
    expect(scoresOf('noisy-or of 5')).toEqual([-Infinity, or(0.5, 0.75), or(0.5, 0.625, 0.875), 0.375, 0.375]);
    const [, faded] = scoresOf('fading noisy-or');
    expect(faded).toBeCloseTo(or(0.5, 0.75 ** 0.8), 12);
  });
});

function edge(head: number, relation: number, tail: number): Ids {
  return [head, relation, tail];
}

/** Triples with their inverses. */
function world(numEntities: number, plain: number, triples: readonly Ids[]) {
  const both = [...triples, ...triples.map(([h, r, t]): Ids => [t, r + plain, h])];
  const relations = names('r', plain);
  const all = [...relations, ...relations.map(inverseName)];
  return { graph: new Graph('small', names('e', numEntities), all, columnsOf(both)), train: columnsOf(triples) };
}

/** Scores of a question, and the rules of an entity. */
async function ranked(
  graph: Graph,
  rules: Rules,
  ranking: RuleRanking,
  constants: ConstantUse,
  head: number,
  relation: number,
) {
  let taken: { scores: Float64Array; rulesTo: (entity: number) => readonly FoundRule[] } | undefined;
  await ruleRanker(graph, rules, { rankings: [ranking], constants }).rank(
    [{ head, relation }],
    (_, { scores, rulesTo }) => {
      taken = { scores: scores[0]!, rulesTo: rulesTo! };
    },
  );
  return taken!;
}

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

test('reasons of a member and rules of another are those of both together', async () => {
  const speaking = (own: object): LinkRanker => ({
    ...first,
    rank: (questions, take) => first.rank(questions, (i, ranked) => take(i, { ...ranked, ...own })),
  });
  const [reasons, rulesTo] = [() => [], () => []];
  let taken: RankedQuestion | undefined;
  const both = meanRanker([speaking({ reasons }), speaking({ rulesTo })]);
  await both.rank([{ head: 0, relation: 0 }], (_, ranked) => (taken = ranked));
  expect(taken).toMatchObject({ reasons, rulesTo });
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
    const weights = fitEnsemble(await ensembleCases(members, queries, () => []), members.length);
    powers.forEach((power, k) => expect(Math.abs(weights[k]! - power)).toBeLessThan(0.15));
    expect([...weights].every((weight) => weight >= 0)).toBe(true);
  });

  test('depend on candidates alone: other known answers are excluded', async () => {
    // The first member's top entity is also an answer: as a candidate it would lower that member's weight.
    const best = logs[0]!.map((scores, head) => {
      const others = [...scores.keys()].filter((entity) => entity !== drawn[head]);
      return others.sort((a, b) => scores[b]! - scores[a]!).slice(0, 10);
    });
    const left = fitEnsemble(await ensembleCases(members, queries, (head) => best[head]!), members.length);
    const kept = fitEnsemble(await ensembleCases(members, queries, () => []), members.length);
    expect(left[0]!).toBeGreaterThan(kept[0]! + 0.5);
  });

  test('of few answers are drawn to others, the stronger the nearer', async () => {
    const cases = await ensembleCases(members, queries, () => []);
    const weights = Float64Array.from(members, () => 3);
    const far = (strength: number) =>
      fitEnsemble(cases.slice(0, 20), members.length, { weights, strength }).reduce(
        (sum, own) => sum + (own - 3) ** 2,
        0,
      );
    expect(far(1e6)).toBeLessThan(1e-3);
    expect(far(100)).toBeGreaterThan(1e-3);
    expect(far(1)).toBeGreaterThan(far(100));
    expect([...fitEnsemble([], 2)]).toEqual([0.5, 0.5]);
  });

  test('bear an answer that a member cannot rank, and members that say the same', async () => {
    const blind = ranking((head) =>
      logs[0]![head]!.map((score, entity) => (entity === drawn[head] ? -Infinity : score)),
    );
    const weights = fitEnsemble(await ensembleCases([members[0]!, members[0]!, blind], queries, () => []), 3);
    const [alone] = fitEnsemble(await ensembleCases([members[0]!], queries, () => []), 1);
    expect(weights[0]! + weights[1]!).toBeCloseTo(alone!, 4);
    expect(weights[2]!).toBe(0);
  });
});

/** Chain mixture against brute force: all walks enumerated on a small graph. */
import { describe, expect, test } from '@jest/globals';
import { ChainCounts } from '../../../agents/exact-walker/chains/chain-counts.js';
import {
  ChainWalk,
  endMarks,
  type HiddenEdges,
  mostHops,
  noRelation,
  nothingHidden,
} from '../../../agents/exact-walker/chains/chain-walk.js';
import {
  chainWork,
  type LearnedRelation,
  relationTrainer,
} from '../../../agents/exact-walker/chains/learn-relation.js';
import {
  fitMixture,
  type MixtureOptions,
  meanLoss,
  mixtureLoss,
  mixtureOf,
  type MixtureTable,
} from '../../../agents/exact-walker/chains/mixture.js';
import { mineChains } from '../../../agents/exact-walker/chains/mine-chains.js';
import { exactWalkerKind } from '../../../agents/exact-walker/agent.js';
import { exactWalkerSettings } from '../../../agents/exact-walker/settings.js';
import { byIds, Graph } from '../../../src/kg/graph.js';
import { relationRows } from '../../../src/kg/relation-rows.js';
import { Rng } from '../../../src/run/seeds.js';
import { randomWorld } from '../../fixtures/exact-trainer.js';
import { isLong, often } from '../../fixtures/long-tests.js';
import { type Ids, idsOf, numberedGraph } from '../../fixtures/triple-columns.js';

const numEntities = 12;
const names = ['a', 'b', 'c'];

/** Forty triples, among them pairs with several relations in both directions, and one of an entity with itself. */
const { graph, queries } = randomWorld(5, numEntities, names, 44, ['0 0 0', '1 0 2', '2 1 1', '1 2 2']);
const rows = relationRows(graph);
const inverseOf = (relation: number) => graph.inverseOf[relation]!;

/** End probability of each entity, walk by walk. */
function chancesOf(head: number, chain: readonly number[], hidden: HiddenEdges): Float64Array {
  const chances = new Float64Array(numEntities);
  eachWalk(head, chain, hidden, (steps, chance) => (chances[steps.at(-1)!]! += chance));
  return chances;
}

/** Every walk with its probability: relation and entity of each step. */
function eachWalk(
  head: number,
  chain: readonly number[],
  hidden: HiddenEdges,
  take: (steps: readonly number[], chance: number) => void,
): void {
  const isHidden = (from: number, relation: number, to: number) => {
    const { tail } = hidden;
    if (from === head && to === tail) return hidden.pairs || relation === hidden.relation;
    if (from === tail && to === head) return hidden.pairs || relation === hidden.inverse;
    return false;
  };
  const go = (at: number, steps: readonly number[], chance: number): void => {
    const hop = steps.length / 2;
    if (hop === chain.length) return take(steps, chance);
    const ends: number[] = [];
    for (let edge = graph.offsets[at]!; edge < graph.offsets[at + 1]!; edge++) {
      const [relation, to] = [graph.relations[edge]!, graph.tails[edge]!];
      if (relation === chain[hop] && !(hidden.tail >= 0 && isHidden(at, relation, to))) ends.push(to);
    }
    for (const to of ends) if (to !== head) go(to, [...steps, chain[hop]!, to], chance / ends.length);
  };
  go(head, [], 1);
}

/** Every chain of one and two relations and some of three and four. */
const all = Array.from({ length: 6 }, (_, relation) => relation);
const chains = [
  ...all.map((a) => [a]),
  ...all.flatMap((a) => all.map((b) => [a, b])),
  ...all.flatMap((a) => all.map((b) => [a, b, (2 * a + b) % 6])),
  ...all.flatMap((a) => all.map((b) => [a, b, (2 * a + b) % 6, (a + b + 1) % 6])),
].sort(byIds);
const flat = new Int32Array(chains.length * mostHops).fill(noRelation);
chains.forEach((chain, i) => flat.set(chain, i * mostHops));

describe.each([
  ['with nothing hidden', false, false],
  ['with the own edge hidden', true, false],
  ['with every edge between head and answer hidden', true, true],
])('walks along chains %s', (_, hides, pairs) => {
  test('end where all walks one by one do, and with the mass that is free there', () => {
    const walk = new ChainWalk(rows, numEntities);
    const marks = new Int32Array(numEntities).fill(endMarks.free);
    let [compared, farthest] = [0, 0];
    // Half a million single expects would take half a minute.
    const far = (got: number, wanted: number) => (farthest = Math.max(farthest, Math.abs(got - wanted)));
    queries.heads.forEach((head, i) => {
      const [relation, tail] = [queries.relations[i]!, queries.tails[i]!];
      const hidden = hides ? { tail, relation, inverse: inverseOf(relation), pairs } : nothingHidden;
      const out = (tail + 5) % numEntities;
      marks[out] = endMarks.out;
      marks[tail] = endMarks.answer;
      marks[head] = endMarks.out;
      walk.begin(head, hidden);
      const seen = new Set<number>();
      walk.each(flat, (chain, hops, last) => {
        seen.add(chain);
        const wanted = chancesOf(head, chains[chain]!, hidden);
        const ends = new Float64Array(2);
        walk.ends(hops, last, marks, ends);
        const free = wanted.reduce((sum, own, entity) => sum + (marks[entity] === endMarks.out ? 0 : own), 0);
        far(ends[0]!, head === tail ? 0 : wanted[tail]!);
        far(ends[1]!, free);
        const reached = new Float64Array(numEntities);
        walk.reached(hops, last, (entity, chance) => (reached[entity] = chance));
        reached.forEach((own, entity) => far(own, wanted[entity]!));
        if (!hides) {
          const spread = new Float64Array(numEntities);
          walk.spread(hops, last, 0.5, spread);
          spread[head] = 0;
          spread.forEach((own, entity) => far(own, wanted[entity]! / 2));
        }
        compared++;
      });
      chains.forEach((chain, c) => {
        if (!seen.has(c)) far(Math.max(...chancesOf(head, chain, hidden)), 0);
      });
      marks.fill(endMarks.free);
    });
    expect(compared).toBeGreaterThan(3000);
    expect(farthest).toBeLessThan(1e-12);
  });
});

test('the gradient of the loss is its gradient', async () => {
  const rng = new Rng(2);
  const [count, columns] = [3, 5];
  const free = Float32Array.from({ length: count * columns }, () => rng.uniform());
  const table: MixtureTable = { queries: count, columns, free, answer: free.map((mass) => mass * rng.uniform()) };
  // No chain leads to the answer of the last one.
  table.answer.fill(0, 2 * columns);
  const theta = Float64Array.from({ length: columns }, () => rng.normal());
  const lossAt = (query: number, at: Float64Array) => {
    const pi = new Float64Array(columns);
    mixtureOf(at, pi);
    return mixtureLoss(table, query, pi);
  };
  for (let query = 0; query < count; query++) {
    const [pi, grad] = [new Float64Array(columns), new Float64Array(columns)];
    mixtureOf(theta, pi);
    mixtureLoss(table, query, pi, grad);
    grad.forEach((own, p) => {
      const moved = (by: number) => theta.map((value, i) => (i === p ? value + by : value));
      expect(own).toBeCloseTo((lossAt(query, moved(1e-5)) - lossAt(query, moved(-1e-5))) / 2e-5, 6);
    });
  }
  const before = meanLoss(table, theta);
  await fitMixture(table, theta, { ...courseOf('likelihood'), steps: 50, batchSize: 2 }, new Rng(1), async () => {});
  expect(meanLoss(table, theta)).toBeLessThan(before);
});

const courseOf = (objective: MixtureOptions['objective']): MixtureOptions => ({
  ...{ objective, steps: 400, batchSize: 16, learningRate: 0.05, walks: 8, epochs: 4, clipRange: 0.2 },
});

describe('a policy fitted to sampled walks', () => {
  /** Four chains: one always right for half of the queries, one sometimes right for all, two never right. */
  const answer = Float32Array.from({ length: 32 }, (_, i) => [i % 8 < 4 ? 1 : 0, 0.3, 0, 0][i % 4]!);
  const table: MixtureTable = { queries: 8, columns: 4, answer, free: answer.map(() => 1) };
  const rewardOf = (theta: Float64Array) => {
    const pi = new Float64Array(4);
    mixtureOf(theta, pi);
    return answer.reduce((sum, own, i) => sum + (own * pi[i % 4]!) / 8, 0);
  };

  test.each(['expected-reward', 'reinforce', 'ppo'] as const)(
    '%s finds the chain that pays most',
    async (objective) => {
      const theta = new Float64Array(4);
      await fitMixture(table, theta, courseOf(objective), new Rng(4), async () => {});
      expect(rewardOf(theta)).toBeGreaterThan(0.47);
      expect([...theta.keys()].sort((a, b) => theta[b]! - theta[a]!)[0]).toBe(0);
    },
  );

  test('sampled gradients are the exact one on average', async () => {
    // One small Adam step depends only on the sign of the gradient: many sampled walks give the exact one's.
    const start = Float64Array.of(0.3, -0.2, 0.1, -0.4);
    const stepped = async (objective: MixtureOptions['objective']) => {
      const theta = start.slice();
      const course = { ...courseOf(objective), steps: 1, epochs: 1, batchSize: 8, walks: 4096, learningRate: 1e-3 };
      await fitMixture(table, theta, course, new Rng(5), async () => {});
      return [...theta].map((value, i) => Math.sign(value - start[i]!));
    };
    const exact = await stepped('expected-reward');
    expect(exact).not.toContain(0);
    expect(await stepped('reinforce')).toEqual(exact);
    expect(await stepped('ppo')).toEqual(exact);
  });

  test('only the likelihood keeps what solves the other half', async () => {
    const [byLikelihood, byReward] = [new Float64Array(4), new Float64Array(4)];
    await fitMixture(table, byLikelihood, { ...courseOf('likelihood'), steps: 1600 }, new Rng(6), async () => {});
    await fitMixture(table, byReward, { ...courseOf('expected-reward'), steps: 1600 }, new Rng(6), async () => {});
    const share = (theta: Float64Array) => Math.exp(theta[1]! - theta[0]!);
    expect(share(byReward)).toBeLessThan(0.05);
    expect(share(byLikelihood)).toBeGreaterThan(0.3);
  });
});

test('chains are counted once per triple, most frequent of each length first, while the table grows', () => {
  const counts = new ChainCounts(500, 4);
  const rng = new Rng(3);
  const known = new Map<string, Set<number>>();
  for (let triple = 0; triple < 10; triple++) {
    counts.nextTriple();
    for (let i = 0; i < 400; i++) {
      const length = 1 + rng.integer(4);
      const chain = Array.from({ length }, () => rng.integer(500) % (triple % 2 === 0 ? 500 : 4));
      counts.add(chain.reduce((key, relation, hops) => counts.longer(key, hops, relation), 0));
      known.set(chain.join(), (known.get(chain.join()) ?? new Set()).add(triple));
    }
  }
  const wanted = [1, 2, 3, 4].flatMap((length) =>
    [...known]
      .map(([key, triples]) => ({ chain: key.split(',').map(Number), count: triples.size }))
      .filter(({ chain }) => chain.length === length)
      .sort((a, b) => b.count - a.count || byIds(a.chain, b.chain))
      .slice(0, [3, 30, 200, 300][length - 1]),
  );
  expect(counts.most([3, 30, 200, 300], 4)).toEqual(wanted);
});

test('chains that are mined are those of all walks between heads and answers, and fewer where edges are drawn', async () => {
  const hops = 4;
  const every = { minedTriples: 1000, minedEdges: 1e6, candidates: [2000], measuredTriples: 1000, chains: 1e5 };
  const mined = async (minedEdges: number) => {
    const world = {
      ...{ graph, hops, settings: { ...every, minedEdges } },
      walk: new ChainWalk(rows, numEntities),
      marks: new Int32Array(numEntities).fill(endMarks.free),
    };
    const [head, tail] = [2, 1];
    const own = { heads: Int32Array.of(head), tails: Int32Array.of(tail) };
    const hide = () => ({ tail, relation: 1, inverse: inverseOf(1), pairs: true });
    const found = await mineChains(
      world,
      own,
      hide,
      () => {},
      new Rng(1),
      async () => {},
    );
    return Array.from({ length: found.confidence.length }, (_, i) =>
      found.chains
        .subarray(i * mostHops, (i + 1) * mostHops)
        .filter((relation) => relation >= 0)
        .join(),
    );
  };
  const wanted = new Set<string>();
  const go = (at: number, chain: readonly number[]): void => {
    for (let edge = graph.offsets[at]!; edge < graph.offsets[at + 1]!; edge++) {
      const [relation, to] = [graph.relations[edge]!, graph.tails[edge]!];
      if ((at === 2 && to === 1) || to === 2) continue;
      if (to === 1) wanted.add([...chain, relation].join());
      // Walks stop at the answer.
      else if (chain.length < hops - 1) go(to, [...chain, relation]);
    }
  };
  go(2, []);
  const all = await mined(1e6);
  expect(all.filter((chain) => chain.length === 7).length).toBeGreaterThan(20);
  expect(new Set(all)).toEqual(wanted);
  const some = await mined(20);
  expect(some.length).toBeLessThan(all.length);
  expect(some.every((chain) => wanted.has(chain))).toBe(true);
  expect(some.some((chain) => chain.length === 7)).toBe(true);
});

test('chains are mined without the own edge and not through the answer, and other known answers do not count against them', async () => {
  // Head 0, answer 1, another answer 2: only relation s leads there, and s s ~s through the answer and back.
  const triples = idsOf('0 0 1, 0 1 1, 0 1 2, 1 1 3');
  const small = numberedGraph(
    4,
    ['r', 's', '~r', '~s'],
    [...triples, ...triples.map(([h, r, t]): Ids => [t, r + 2, h])],
  );
  const marks = new Int32Array(4).fill(endMarks.free);
  const found = await mineChains(
    {
      ...{ graph: small, hops: 3, walk: new ChainWalk(relationRows(small), 4), marks },
      settings: { minedTriples: 1, minedEdges: 1e6, candidates: [1, 9, 9], measuredTriples: 1, chains: 9 },
    },
    { heads: Int32Array.of(0), tails: Int32Array.of(1) },
    () => ({ tail: 1, relation: 0, inverse: 2, pairs: false }),
    (_head, _tail, on) => void (marks[2] = on ? endMarks.out : endMarks.free),
    new Rng(1),
    async () => {},
  );
  expect([...found.chains]).toEqual([1, noRelation, noRelation, noRelation]);
  expect([...found.confidence]).toEqual([1 / (1 + 5)]);
});

test('chains of four are refused before training if the graph has too many relations for exact keys', () => {
  const relationNames = Array.from({ length: 9742 }, (_, i) => (i < 4871 ? `r${i}` : `~r${i - 4871}`));
  const none = new Int32Array(0);
  const empty = { heads: none, relations: none, tails: none };
  const many = new Graph('many', ['a', 'b'], relationNames, empty);
  const { chains: settings } = exactWalkerSettings.parse({});
  const work = (hops: number) => chainWork(many, empty, { settings, seed: 1, hops, pairs: false });
  expect(() => work(4)).toThrow(
    'expected at most 9740 relations, inverses included, for chains of 4, got 9742 at graph many',
  );
  expect(work(3).hops).toBe(3);
});

describe.each(isLong ? [3, 4] : [3])('a relation, with chains of up to %i', (hops) => {
  const settings = exactWalkerSettings.parse({ chains: { chains: 40, candidates: [6, 36, 60], steps: 60 } });
  const work = chainWork(graph, queries, { settings: settings.chains, seed: 1, hops, pairs: true });

  test('learns the same, independent of earlier relations', async () => {
    const inTurn = async (relations: number[]) => {
      const learn = relationTrainer(work);
      const learned: LearnedRelation[] = [];
      for (const relation of relations) learned.push(await learn(relation));
      return learned;
    };
    const inOrder = await inTurn(all);
    expect((await inTurn([...all].reverse())).reverse()).toEqual(inOrder);
    for (const { loss, firstLoss, chains: own } of inOrder) {
      expect(own.length).toBeGreaterThan(0);
      expect(loss).toBeLessThan(firstLoss);
    }
  });

  test('is stopped in its middle: one of a large graph takes seconds', async () => {
    const endless = exactWalkerSettings.parse({ chains: { ...settings.chains, steps: 1_000_000 } });
    const walker = exactWalkerKind('chains').create({ graph, settings: endless, hops, seed: 1 });
    const signal = AbortSignal.timeout(1);
    const trainer = walker.trainer({ queries, pairs: true, threads: 1, signal });
    await expect(trainer.step(0)).rejects.toMatchObject({ code: 'stopped' });
    expect((await walker.state()).steps).toBe(0);
  });

  test('ranks by walk probability, and reports the shares of chains', async () => {
    const walker = exactWalkerKind('chains').create({ graph, settings, hops, seed: 1 });
    const trainer = walker.trainer({ queries, pairs: true, threads: 1 });
    for (let at = 0; at < trainer.steps; at++) await trainer.step(at);
    const { tensors } = await walker.state();
    const again = exactWalkerKind('chains').create({ graph, settings, hops, seed: 7 });
    again.restore(tensors);
    const learned = await relationTrainer(work)(4);
    const pi = new Float64Array(learned.theta.length);
    mixtureOf(Float64Array.from(learned.theta), pi);
    const count = pi.length - 1;
    const triples = queries.relations.filter((relation) => relation === 4).length;
    await again.ranker('again').rank([{ head: 3, relation: 4 }], (_, { scores, reasons }) => {
      for (let entity = 0; entity < numEntities; entity++) {
        const answers = queries.tails.filter((tail, i) => tail === entity && queries.relations[i] === 4).length;
        const parts = Array.from({ length: count }, (_, p) => {
          const chain = [...learned.chains.subarray(p * mostHops, (p + 1) * mostHops)].filter((one) => one >= 0);
          return { chain, share: pi[p]! * chancesOf(3, chain, nothingHidden)[entity]! };
        });
        const prior = (pi[count]! * (answers + 1e-4 * graph.degree(entity))) / triples;
        const sum = parts.reduce((all, { share }) => all + share, prior);
        expect(scores[0]![entity]).toBeCloseTo(Math.log(sum), 10);
        const shown = reasons!(entity);
        expect(shown.reduce((all, { share }) => all + share, 0)).toBeCloseTo(1, 12);
        const most = parts.reduce((best, one) => (one.share > best.share ? one : best), {
          share: prior,
          chain: undefined! as number[],
        });
        expect(shown[0]).toEqual({ chain: most.chain, share: expect.closeTo(most.share / sum, 10) });
      }
    });
  });

  test.each([true, false])('draws walks by their share in the answer, pairs hidden: %s', async (pairs) => {
    const walker = exactWalkerKind('chains').create({ graph, settings, hops, seed: 1 });
    const trainer = walker.trainer({ queries, pairs, threads: 1 });
    for (let at = 0; at < trainer.steps; at++) await trainer.step(at);
    const find = walker.walks!(pairs);
    const rng = new Rng(9);
    const draws = often(300, 1000);
    let asked = 0;
    for (const relation of [1, 4]) {
      const learned = await relationTrainer({ ...work, pairs })(relation);
      const pi = new Float64Array(learned.theta.length);
      mixtureOf(Float64Array.from(learned.theta), pi);
      for (const [i, head] of queries.heads.entries()) {
        const tail = queries.tails[i]!;
        if (queries.relations[i] !== relation || head === tail) continue;
        const hidden = { tail, relation, inverse: inverseOf(relation), pairs };
        const shares = new Map<string, number>();
        for (let p = 0; p < pi.length - 1; p++) {
          const chain = [...learned.chains.subarray(p * mostHops, (p + 1) * mostHops)].filter((one) => one >= 0);
          eachWalk(head, chain, hidden, (steps, chance) => {
            if (steps.at(-1) === tail) shares.set(steps.join(), pi[p]! * chance);
          });
        }
        const sum = [...shares.values()].reduce((all, share) => all + share, 0);
        const query = { head, relation, tail, hidden: true };
        if (sum === 0) {
          expect(find(query, 3, rng)).toEqual([]);
          continue;
        }
        asked++;
        const counts = new Map<string, number>();
        for (let draw = 0; draw < draws; draw++) {
          const key = find(query, 1, rng)[0]!.join();
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
        expect([...counts.keys()].every((key) => shares.has(key))).toBe(true);
        for (const [key, share] of shares) {
          const chance = share / sum;
          const deviation = Math.sqrt(draws * chance * (1 - chance));
          expect(Math.abs((counts.get(key) ?? 0) - draws * chance)).toBeLessThan(5 * deviation + 3);
        }
        const several = find(query, 50, rng).map(String);
        expect(new Set(several).size).toBe(several.length);
      }
    }
    expect(asked).toBeGreaterThan(5);
    expect(find({ head: 0, relation: 0, tail: 0, hidden: true }, 3, rng)).toEqual([new Int32Array(0)]);
  });

  test('has weights that are refused where they are of another graph', async () => {
    const walker = exactWalkerKind('chains').create({ graph, settings, hops, seed: 1 });
    const { tensors } = await walker.state();
    expect(() => walker.restore({ ...tensors, 'chains.counts': { shape: [5], data: new Int32Array(5) } })).toThrow(
      'expected chains of 6 relations, got 5 relations',
    );
    expect(() => walker.restore({})).toThrow('expected Int32Array at chains.counts, got none');
  });
});

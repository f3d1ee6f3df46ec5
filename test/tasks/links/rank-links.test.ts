import { describe, expect, test } from '@jest/globals';
import { type LinkRanker, scorerRanker, walkRanker, type WalkRankerOptions } from '../../../agents/link-ranker.js';
import type { LinkDataset } from '../../../datasets/links/link-dataset.js';
import { rankerAsker } from '../../../tasks/links/data.js';
import { queriesOf, questionsOf, rankLinks, rankOnValid, type RankOptions } from '../../../agents/link-ranks.js';
import { filteredRank, sampledHit } from '../../../src/metrics/ranks.js';
import { withInverses } from '../../../src/embedding/known-answers.js';
import { silentProgress } from '../../../src/run/progress.js';
import { Rng } from '../../../src/run/seeds.js';
import type { Session } from '../../../trainers/session.js';
import { followsChain } from '../../fixtures/scripted-link-actor.js';
import { tinyLinkWorld } from '../../fixtures/tiny-links.js';
import { rankOf } from '../../fixtures/rank-of.js';

const tiny = tinyLinkWorld();
const { graph, test: asked } = tiny;
const world = { graph, known: withInverses(tiny.known, graph.numRelations / 2) };

/** Each entity asked by each relation. */
const pairs = Int32Array.from({ length: graph.numEntities * graph.numRelations }, (_, i) => i);
const everything = {
  heads: pairs.map((i) => i % graph.numEntities),
  relations: pairs.map((i) => Math.floor(i / graph.numEntities)),
  tails: pairs.map((i) => i % graph.numEntities),
};

const follows = (...chain: string[]) => followsChain(graph, ...chain);

describe('sampledHit', () => {
  test('is the share of draws that leave the answer within the first', () => {
    const rng = Rng.named(1, 'test/sampled-hit');
    for (const [rank, candidates] of [
      [8.5, 20],
      [40, 150],
      [3, 12],
    ] as const) {
      let hits = 0;
      for (let draw = 0; draw < 4000; draw++) {
        let before = 0;
        for (let i = 0; i < 49; i++) before += Number(rng.uniform() * (candidates - 1) < rank - 1);
        hits += Number(before < 10);
      }
      expect(Math.abs(sampledHit(rank, candidates) - hits / 4000)).toBeLessThan(0.03);
    }
    expect([sampledHit(1, 100), sampledHit(1, 1), sampledHit(100, 100)]).toEqual([1, 1, 0]);
  });
});

describe('filteredRank', () => {
  test('is the rank over dense scores with the known answers left out, ties and NaN too', () => {
    const rng = Rng.named(1, 'test/filtered');
    for (let round = 0; round < 300; round++) {
      const scores = Float64Array.from({ length: 9 }, () => [-Infinity, 0, 1, 2, NaN][rng.integer(5)]!);
      const known = Int32Array.from(scores.keys()).filter(() => rng.integer(3) === 0);
      for (let answer = 0; answer < scores.length; answer++) {
        const wanted = rankOf(scores, answer, (entity) => known.includes(entity));
        expect(filteredRank(scores, answer, known)).toBe(wanted);
      }
    }
  });

  test('an answer that was not reached is behind all that were, level with the rest', () => {
    const scores = Float64Array.of(-3, -Infinity, -5, -Infinity, -Infinity, -1);
    // Entities 0 and 2 are before it (5 is known), 3 and 4 level with it.
    expect(filteredRank(scores, 1, Int32Array.of(1, 5))).toBe(4);
  });
});

describe('queries', () => {
  test('heads are asked by the inverse relation', () => {
    const heads = queriesOf(graph, asked, 'head');
    expect([...heads.heads]).toEqual([...asked.tails]);
    expect([...heads.tails]).toEqual([...asked.heads]);
    expect(graph.relationNames[heads.relations[0]!]).toBe('~citizen_of');
  });

  test('one question stands for all queries that ask it', () => {
    const questions = questionsOf(queriesOf(graph, asked, 'head'), graph.numRelations);
    expect(questions.map(({ queries }) => queries)).toEqual([[0, 1]]);
  });
});

test('a curve has the MRR of both directions, and that of the tails alone', async () => {
  // Tails are always first; among heads nothing is preferred.
  const ranker: LinkRanker = {
    ...{ name: 'tails', rankings: ['score'], batchSize: 4 },
    async rank(questions, take) {
      for (const [i, { head, relation }] of questions.entries()) {
        const scores = new Float64Array(graph.numEntities);
        if (relation < graph.numRelations / 2) for (const tail of world.known.tailsOf(head, relation)) scores[tail] = 1;
        take(i, { scores: [scores] });
      }
    },
  };
  const session = { settings: { linkWalk: { bothDirections: true }, evaluation: {} }, progress: silentProgress };
  const figures = await rankOnValid(session as unknown as Session, { dataset: world }, ranker, asked);
  expect(figures['eval/tail_mrr']).toBe(1);
  expect(figures['eval/mrr']).toBeLessThan(1);
});

describe('ranks of walks', () => {
  const options = { beamWidth: 8, horizon: 2 };
  const rankWalks = async (
    actor: ReturnType<typeof follows>,
    queries: typeof asked,
    by: WalkRankerOptions & RankOptions,
  ) => {
    const { ranks, reached } = await rankLinks(walkRanker(actor, graph, by), world, queries, by);
    return { max: ranks.max!, sum: ranks.sum!, reached };
  };

  test('the walk by birth answers who is a citizen of what, the one by residence does not', async () => {
    const right = await rankWalks(follows('born_in', 'lies_in'), asked, options);
    expect([...right.max]).toEqual([1, 1]);
    expect([...right.sum]).toEqual([1, 1]);
    expect([...right.reached]).toEqual([1, 1]);
    const wrong = await rankWalks(follows('lives_in', 'lies_in'), asked, options);
    expect(wrong.max[0]! > 1 || wrong.max[1]! > 1).toBe(true);
  });

  test('other right answers are not in the way', async () => {
    const heads = queriesOf(graph, asked, 'head');
    const { max } = await rankWalks(follows('~lies_in', '~born_in'), heads, { beamWidth: 64, horizon: 2 });
    // Five persons were born in the two towns and are citizens; only the sixth, the answer, is ranked.
    expect([...max]).toEqual([1, 1]);
  });

  test('what no walk reaches ranks behind all that is reached', async () => {
    const { max, reached } = await rankWalks(follows('born_in'), asked, { beamWidth: 8, horizon: 1 });
    expect([...reached]).toEqual([0, 0]);
    for (const [query, rank] of max.entries()) {
      const head = asked.heads[query]!;
      const near = new Set([head, ...graph.tails.subarray(graph.offsets[head], graph.offsets[head + 1])]).size;
      expect(rank).toBe(1 + near + (graph.numEntities - near - 1) / 2);
    }
  });

  test('reports progress, shows each question, and stops on demand', async () => {
    const done: number[] = [];
    await rankWalks(follows('born_in', 'lies_in'), asked, {
      ...options,
      batchSize: 1,
      onProgress: (count) => done.push(count),
    });
    expect(done).toEqual([1, 2]);
    const stopped = rankWalks(follows(), asked, { ...options, signal: AbortSignal.abort() });
    await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
  });
});

describe('scorerRanker', () => {
  test('ranks by scores; an entity that train lacks is last, and gives no answers', async () => {
    const offsets = Int32Array.of(0, 1, 2, 2);
    const scorer = {
      name: 'identity',
      numEntities: 3,
      scoreTails: (head: number, _: number, out: Float64Array) => out.set([head, 5, 9]),
    };
    const ranked: number[][] = [];
    await scorerRanker(scorer, { offsets }).rank(
      [
        { head: 0, relation: 0 },
        { head: 2, relation: 0 },
      ],
      (_, { scores }) => ranked.push([...scores[0]!]),
    );
    expect(ranked).toEqual([
      [0, 5, -Infinity],
      [-Infinity, -Infinity, -Infinity],
    ]);
    const ranks = await rankLinks(
      scorerRanker({ ...scorer, numEntities: graph.numEntities, scoreTails: (_h, _r, out) => out.fill(0) }, graph),
      world,
      asked,
    );
    // Fifteen candidates with the answer, all equal.
    expect([...ranks.ranks.score!]).toEqual([8.5, 8.5]);
  });
});

describe('while entities are ranked slowly', () => {
  /** A question keeps the processor for 20 ms; there are enough of them for seconds. */
  const slow = () => {
    const asked = { questions: 0 };
    const scoreTails = (_h: number, _r: number, out: Float64Array) => {
      asked.questions++;
      for (const until = performance.now() + 20; performance.now() < until;);
      out.fill(0);
    };
    return { asked, ranker: scorerRanker({ name: 'slow', numEntities: graph.numEntities, scoreTails }, graph) };
  };
  const head = asked.heads[0]!;
  const many = Array.from({ length: 500 }, (_, relation) => ({ head, relation }));

  test('timers and signals get their turn within a batch', async () => {
    const { ranker, asked } = slow();
    let seen = Infinity;
    setTimeout(() => (seen = asked.questions), 100);
    await ranker.rank(many.slice(0, 40), () => {});
    expect(seen).toBeLessThan(40);
  });

  test.each([
    [
      'ranks',
      (ranker: LinkRanker, signal: AbortSignal) =>
        rankLinks({ ...ranker, batchSize: 1 }, world, everything, { signal }),
    ],
    [
      'answers',
      (ranker: LinkRanker, signal: AbortSignal) =>
        rankerAsker({ ...ranker, batchSize: 1 }, { graph } as LinkDataset).ask(
          many.map((task, i) => ({ ...task, id: String(i) })),
          () => {},
          { signal } as never,
        ),
    ],
  ])('an interrupt ends it after the batch that is under way: %s', async (_, work) => {
    const { ranker, asked } = slow();
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 60);
    await expect(work(ranker, stop.signal)).rejects.toMatchObject({ code: 'stopped' });
    expect(asked.questions).toBeLessThan(40);
  });
});

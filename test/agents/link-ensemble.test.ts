/** Several rankers of links as one. */
import { describe, expect, test } from '@jest/globals';
import type { LinkRanker } from '../../agents/link-agents.js';
import { ensembleRanker, fitEnsemble, meanRanker } from '../../agents/link-ensemble.js';
import { Rng } from '../../src/run/seeds.js';

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

import { expect, test } from '@jest/globals';
import { calibratedProbability } from '../../../src/embedding/calibrated-probability.js';
import { knownAnswers } from '../../../src/embedding/known-answers.js';
import type { LinkScorer } from '../../../src/embedding/scorers.js';
import { Rng } from '../../../src/run/seeds.js';
import { columnsOf } from '../../fixtures/triple-columns.js';

const numEntities = 40;

/** Every triple has a separate score, drawn once. */
function scorerOf(score: LinkScorer['score']): LinkScorer {
  return {
    name: 'transe',
    numEntities,
    numRelations: 4,
    score,
    ranks: () => new Float64Array(),
    scoreTails(head, relation, out) {
      for (let tail = 0; tail < numEntities; tail++) out[tail] = score(head, relation, tail);
    },
  };
}

const rng = Rng.named(1, 'triples');
const draw = (n: number) => Int32Array.from({ length: 150 }, () => rng.integer(n));
const triples = { heads: draw(numEntities), relations: draw(2), tails: draw(numEntities) };
const known = knownAnswers([triples]);
const holds = (head: number, relation: number, tail: number) =>
  (relation < 2 ? known.tailsOf(head, relation) : known.headsOf(relation - 2, head)).includes(tail);

test('finds the sigmoid that scores were made with', () => {
  // Normal scores of variance 1 around 1 and, a hundred times as many, around −1: the log-odds at x are 2x − log 100.
  const scores = new Map<string, number>();
  const noise = Rng.named(2, 'noise');
  const scorer = scorerOf((head, relation, tail) => {
    const key = `${head} ${relation} ${tail}`;
    const score = scores.get(key) ?? noise.normal() + (holds(head, relation, tail) ? 1 : -1);
    scores.set(key, score);
    return score;
  });
  const probability = calibratedProbability(scorer, triples, known, 5);
  const logit = (p: number) => Math.log(p / (1 - p));
  const [h, r, t] = [triples.heads[0]!, triples.relations[0]!, triples.tails[0]!];
  for (const score of [-1, 0, 1.5]) {
    scores.set(`${h} ${r} ${t}`, score);
    expect(Math.abs(logit(probability(h, r, t)) - (2 * score - Math.log(100)))).toBeLessThan(0.5);
  }
});

test('is the same for the same seed, and not for another', () => {
  const scorer = scorerOf((h, r, t) => Math.sin(h + 7 * r + 3 * t) + (holds(h, r, t) ? 0.5 : 0));
  const of = (seed: number) => calibratedProbability(scorer, triples, known, seed)(1, 2, 3);
  expect(of(1)).toBe(of(1));
  expect(of(1)).not.toBe(of(2));
});

test('stays below certainty where scores separate true from corrupted without exception, in any unit', () => {
  for (const unit of [1e-6, 1, 1e6]) {
    const scorer = scorerOf((...triple) => unit * (holds(...triple) ? 1 : -1));
    const probability = calibratedProbability(scorer, triples, known, 0);
    const right = probability(triples.heads[3]!, triples.relations[3]!, triples.tails[3]!);
    expect(right).toBeGreaterThan(0.99);
    expect(right).toBeLessThan(1);
    const wrong = Array.from({ length: numEntities }, (_, tail) => tail).find((tail) => !holds(1, 0, tail))!;
    expect(probability(1, 0, wrong)).toBeLessThan(0.01);
    expect(probability(1, 0, wrong)).toBeGreaterThan(0);
  }
});

test('gives the share of true triples where scores carry no information', () => {
  const scorer = scorerOf(() => 3);
  expect(calibratedProbability(scorer, triples, known, 0)(0, 0, 0)).toBeCloseTo(1 / 101, 4);
});

test('answers of the triples themselves are no corruptions, with any other known answers', () => {
  const scorer = scorerOf((...triple) => (holds(...triple) ? 1 : -1));
  const nothing = knownAnswers([columnsOf([])]);
  const [some, all] = [nothing, known].map((answers) => calibratedProbability(scorer, triples, answers, 0)(0, 1, 2));
  expect(some).toBe(all);
});

test('is not made from nothing', () => {
  const calibrated = () =>
    calibratedProbability(
      scorerOf(() => 0),
      columnsOf([]),
      known,
      0,
    );
  expect(calibrated).toThrow('expected triples to calibrate scores by, got none');
});

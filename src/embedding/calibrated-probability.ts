/** From scores, which mean something within a query alone, to probabilities that triples are true. */
import type { TripleColumns } from '../kg/graph.js';
import { WorkbenchError } from '../run/errors.js';
import { Rng } from '../run/seeds.js';
import { knownAnswers, type KnownAnswers } from './known-answers.js';
import type { LinkScorer } from './link-scorer.js';

/** False triples drawn for each true one, by replacing its tail; fewer where the graph has fewer entities. */
const falseOnes = 100;

/** How often the fit is improved: far more than it takes. */
const newtonSteps = 50;

/** Probability in (0, 1) that a triple is true, by ids of the graph. */
export type TripleProbability = (head: number, relation: number, tail: number) => number;

/**
 * Platt scaling: a logistic curve over how many standard deviations a score lies above the mean of its query's scores over all
 * entities, fitted on true triples and ones whose tail was replaced. Mean and deviation of a query are kept: its first
 * triple costs O(numEntities · dim), every other one O(dim).
 * @param triples true, best ones that the scorer was not trained on; asked in both directions
 * @param known answers that no false triple may have, inverse relations included
 * @throws WorkbenchError `data` without triples
 * @source Platt 1999, "Probabilistic outputs for support vector machines", section 2.1
 */
export function calibratedProbability(
  scorer: LinkScorer,
  triples: TripleColumns,
  known: Pick<KnownAnswers, 'tailsOf'>,
  seed: number,
): TripleProbability {
  const place = placesOf(scorer);
  const { places, truths } = examples(scorer, place, triples, known, Rng.named(seed, 'embedding/calibrate'));
  const { slope, intercept } = fitLogistic(places, truths);
  return (head, relation, tail) => sigmoid(slope * place(head, relation, tail) + intercept);
}

/** Standard deviations above the mean of a query's scores. */
function placesOf(scorer: LinkScorer): TripleProbability {
  const scores = new Float64Array(scorer.numEntities);
  const spreads = new Map<number, { mean: number; deviation: number }>();
  const spreadOf = (head: number, relation: number) => {
    const key = head * scorer.numRelations + relation;
    let spread = spreads.get(key);
    if (!spread) {
      scorer.scoreTails(head, relation, scores);
      const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      const square = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length;
      // Where all scores are level there is nothing to tell entities apart by.
      spreads.set(key, (spread = { mean, deviation: Math.sqrt(square) || 1 }));
    }
    return spread;
  };
  return (head, relation, tail) => {
    const { mean, deviation } = spreadOf(head, relation);
    return (scorer.score(head, relation, tail) - mean) / deviation;
  };
}

function examples(
  { numEntities, numRelations }: LinkScorer,
  place: TripleProbability,
  { heads, relations, tails }: TripleColumns,
  known: Pick<KnownAnswers, 'tailsOf'>,
  rng: Rng,
) {
  if (heads.length === 0) {
    throw new WorkbenchError('data', 'expected valid triples to calibrate a scorer on, got none', {
      hint: 'Import the data with some in valid, or train without shaping: linkWalk.shaping=none.',
    });
  }
  const places: number[] = [];
  const truths: number[] = [];
  const ask = (head: number, relation: number, answer: number) => {
    places.push(place(head, relation, answer));
    truths.push(1);
    const right = new Set(known.tailsOf(head, relation)).add(answer);
    for (let i = 0; i < Math.min(falseOnes, numEntities - 1); i++) {
      const tail = rng.integer(numEntities);
      if (right.has(tail)) continue;
      places.push(place(head, relation, tail));
      truths.push(0);
    }
  };
  for (let i = 0; i < heads.length; i++) {
    ask(heads[i]!, relations[i]!, tails[i]!);
    ask(tails[i]!, relations[i]! + numRelations / 2, heads[i]!);
  }
  return { places, truths };
}

/** Maximum likelihood by Newton's method, with a little pull to 0 that keeps separable examples finite. */
function fitLogistic(xs: readonly number[], truths: readonly number[]): { slope: number; intercept: number } {
  const pull = 1e-3;
  let slope = 0;
  let intercept = 0;
  for (let step = 0; step < newtonSteps; step++) {
    let [bySlope, byIntercept, ss, si, ii] = [pull * slope, pull * intercept, pull, 0, pull];
    for (let k = 0; k < xs.length; k++) {
      const x = xs[k]!;
      const p = sigmoid(slope * x + intercept);
      const error = p - truths[k]!;
      const weight = p * (1 - p);
      bySlope += error * x;
      byIntercept += error;
      ss += weight * x * x;
      si += weight * x;
      ii += weight;
    }
    const determinant = ss * ii - si * si;
    slope -= (ii * bySlope - si * byIntercept) / determinant;
    intercept -= (ss * byIntercept - si * bySlope) / determinant;
  }
  return { slope, intercept };
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

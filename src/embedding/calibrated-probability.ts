/** Probabilities from scores, by Platt scaling. */
import type { TripleColumns } from '../kg/graph.js';
import { WorkbenchError } from '../run/errors.js';
import { Rng } from '../run/seeds.js';
import { knownAnswers, type KnownAnswers } from './known-answers.js';
import type { LinkScorer } from './scorers.js';

/** Corrupted triples for each side of a true one: true ones are the exception among the entities of a graph. */
const corruptions = 100;
/** Triples that two parameters are fitted to; of more, every n-th is taken. */
const mostTriples = 10_000;
/** Draws before a corruption is given up because nearly every entity is a true answer. */
const mostDraws = 1000;

/** Probability in 0..1 that a triple is true, by ids of the graph. */
export type TripleProbability = (head: number, relation: number, tail: number) => number;

type Labelled = { scores: Float64Array; isTrue: Uint8Array };

/**
 * Fits σ(gradient · score + offset) to true triples and to ones with an end drawn by chance, a hundred a side: the share of true
 * ones among such a mixture, in both directions.
 * @param triples that the scorer was not trained on, of plain relations, such as valid: on train it is surer than elsewhere
 * @param known answers that are not taken as corruptions, in addition to those of the triples themselves
 * @returns the probability of a triple, 0..1, relations with their inverses; a call costs one score. NaN where the score is
 * @throws WorkbenchError `data` without triples
 * @source Platt 1999, "Probabilistic outputs for support vector machines", with its regularised targets
 */
export function calibratedProbability(
  scorer: LinkScorer,
  triples: TripleColumns,
  known: KnownAnswers,
  seed: number,
): TripleProbability {
  if (triples.heads.length === 0) {
    throw new WorkbenchError('data', 'expected triples to calibrate scores by, got none', {
      hint: 'Import the data with some in valid, or train without shaping.',
    });
  }
  const { grad, offset } = fitSigmoid(labelled(scorer, triples, known, seed));
  return (head, relation, tail) => sigmoid(grad * scorer.score(head, relation, tail) + offset);
}

function labelled(scorer: LinkScorer, triples: TripleColumns, known: KnownAnswers, seed: number): Labelled {
  const { numEntities, numRelations } = scorer;
  const plain = numRelations / 2;
  const stride = Math.ceil(triples.heads.length / mostTriples);
  const own = knownAnswers([triples]);
  const rng = Rng.named(seed, 'calibration/corruptions');
  const scores: number[] = [];
  const isTrue: number[] = [];
  const add = (given: number, relation: number, answer: number, right: 0 | 1) => {
    scores.push(scorer.score(given, relation, answer));
    isTrue.push(right);
  };
  for (let i = 0; i < triples.heads.length; i += stride) {
    const [head, relation, tail] = [triples.heads[i]!, triples.relations[i]!, triples.tails[i]!];
    for (const side of ['tail', 'head'] as const) {
      const [given, asked, answer] = side === 'tail' ? [head, relation, tail] : [tail, relation + plain, head];
      const right = [known, own].map((answers) =>
        side === 'tail' ? answers.tailsOf(head, relation) : answers.headsOf(relation, tail),
      );
      const isRight = (entity: number) => right.some((answers) => answers.includes(entity));
      add(given, asked, answer, 1);
      for (let drawn = 0, draws = 0; drawn < corruptions && draws < mostDraws; draws++) {
        const entity = rng.integer(numEntities);
        if (isRight(entity)) continue;
        add(given, asked, entity, 0);
        drawn++;
      }
    }
  }
  return { scores: Float64Array.from(scores), isTrue: Uint8Array.from(isTrue) };
}

/** Newton's steps, of which a problem of two parameters needs few. */
const steps = 100;

/** Logistic regression of the labels on the scores. */
function fitSigmoid({ scores, isTrue }: Labelled): { grad: number; offset: number } {
  const numTrue = isTrue.reduce((sum, one) => sum + one, 0);
  const targets = [1 / (isTrue.length - numTrue + 2), (numTrue + 1) / (numTrue + 2)] as const;
  // In units of the scores' own spread, so that one damping suits all of them.
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  const spread = Math.sqrt(scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length) || 1;
  let grad = 0;
  let offset = Math.log((numTrue + 1) / (isTrue.length - numTrue + 1));
  for (let step = 0; step < steps; step++) {
    let [byGrad, byOffset, curveGrad, curveBoth, curveOffset] = [0, 0, 1e-9, 0, 1e-9];
    for (let i = 0; i < scores.length; i++) {
      const x = (scores[i]! - mean) / spread;
      const p = sigmoid(grad * x + offset);
      const off = p - targets[isTrue[i] as 0 | 1];
      const curve = p * (1 - p);
      byGrad += off * x;
      byOffset += off;
      curveGrad += curve * x * x;
      curveBoth += curve * x;
      curveOffset += curve;
    }
    const determinant = curveGrad * curveOffset - curveBoth * curveBoth;
    // A step of Newton far from the solution overshoots: none is longer than one unit.
    const moveGrad = (curveOffset * byGrad - curveBoth * byOffset) / determinant;
    const moveOffset = (curveGrad * byOffset - curveBoth * byGrad) / determinant;
    const length = Math.max(1, Math.abs(moveGrad), Math.abs(moveOffset));
    grad -= moveGrad / length;
    offset -= moveOffset / length;
    if (Math.abs(moveGrad) + Math.abs(moveOffset) < 1e-9) break;
  }
  return { grad: grad / spread, offset: offset - (grad * mean) / spread };
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

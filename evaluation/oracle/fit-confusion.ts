/** Error rate and confusion of the simulated model that make the errors of a real one most likely. */
import { percentiles } from '../../src/metrics/intervals.js';
import type { Estimate } from '../../src/run/figures.js';
import { Rng } from '../../src/run/seeds.js';
import { confusedError } from './confusion.js';

/** A decision that a model took, of at least two choices. */
export interface ObservedDecision {
  questionId: string;
  choices: number;
  /** See `Confusion.effective`. */
  effective: number;
  /** Share of right items among those put first, in [0, 1]. */
  right: number;
}

/** The fit of `oracle:error,confuse=confuse`, with 95 % bootstrap intervals over questions. */
export interface FittedConfusion {
  error: Estimate;
  confuse: Estimate;
  /** Mean log-likelihood of a decision, in nats: of the fit, by plain numbers of choices, and of an error rate alone. */
  logLikelihood: { fitted: number; byNumber: number; constant: number };
  /** Errors by number of choices, which begins at `from`. */
  table: { from: number; to: number; decisions: number; observed: number; fitted: number }[];
}

const resamples = 200;
/** Bounds of the search: rates from 0.1 to 99.9 %. */
const [leastRate, mostRate] = [1e-3, 7];
/** Choices are rounded to a twentieth of a doubling, for speed. */
const binsOfDoubling = 20;

/** @param decisions at least one */
export function fitConfusion(decisions: readonly ObservedDecision[], seed = 0): FittedConfusion {
  const best = fitted(decisions);
  const questions = [...Map.groupBy(decisions, ({ questionId }) => questionId).values()];
  const rng = Rng.named(seed, 'oracle/fit');
  const drawn = Array.from({ length: resamples }, () =>
    fitted(questions.flatMap(() => questions[rng.integer(questions.length)]!)),
  );
  const estimate = (key: 'error' | 'confuse'): Estimate => ({
    ...percentiles(Float64Array.from(drawn, (one) => one[key]).sort()),
    value: best[key],
    n: questions.length,
  });
  const share = decisions.reduce((sum, { right }) => sum + right, 0) / decisions.length;
  const plain = decisions.map((one) => ({ ...one, effective: one.choices }));
  const table = [...Map.groupBy(decisions, ({ choices }) => Math.ceil(Math.log2(choices))).entries()]
    .sort(([a], [b]) => a - b)
    .map(([power, some]) => ({
      ...{ from: power === 1 ? 2 : 2 ** (power - 1) + 1, to: 2 ** power, decisions: some.length },
      observed: meanOf(some, ({ right }) => 1 - right),
      fitted: meanOf(some, (one) => confusedError(best.error, best.confuse, one)),
    }));
  return {
    ...{ error: estimate('error'), confuse: estimate('confuse'), table },
    logLikelihood: {
      fitted: best.value / decisions.length,
      byNumber: fitted(plain).value / decisions.length,
      constant: share === 0 || share === 1 ? 0 : share * Math.log(share) + (1 - share) * Math.log(1 - share),
    },
  };
}

const meanOf = <Item>(items: readonly Item[], valueOf: (item: Item) => number) =>
  items.reduce((sum, item) => sum + valueOf(item), 0) / items.length;

/**
 * The likelihood is concave in the rate a and the rise b of -log(1 - error) = a + b · log2(choices), so that a section in either
 * finds its maximum.
 */
function fitted(decisions: readonly ObservedDecision[]) {
  const bins = new Map<number, { right: number; wrong: number }>();
  for (const { effective, right } of decisions) {
    const place = Math.round(binsOfDoubling * Math.log2(effective));
    const bin = bins.get(place) ?? { right: 0, wrong: 0 };
    bins.set(place, { right: bin.right + right, wrong: bin.wrong + 1 - right });
  }
  const at = (a: number, b: number) => {
    let sum = 0;
    for (const [place, { right, wrong }] of bins) {
      const rate = a + (b * place) / binsOfDoubling;
      sum += wrong * Math.log(-Math.expm1(-rate)) - right * rate;
    }
    return sum;
  };
  const riseAt = (a: number) => largestOf((b) => at(a, b), 0, mostRate);
  const { place: a } = largestOf((one) => riseAt(one).value, leastRate, mostRate);
  const { place: b, value } = riseAt(a);
  return { error: -Math.expm1(-a), confuse: b / a, value };
}

const golden = (Math.sqrt(5) - 1) / 2;

/** The maximum of a concave function, by golden section. */
function largestOf(valueAt: (place: number) => number, from: number, to: number) {
  let [low, high] = [from, to];
  let [left, right] = [high - golden * (high - low), low + golden * (high - low)];
  let [atLeft, atRight] = [valueAt(left), valueAt(right)];
  for (let i = 0; i < 22; i++) {
    if (atLeft > atRight) {
      [high, right, atRight] = [right, left, atLeft];
      left = high - golden * (high - low);
      atLeft = valueAt(left);
    } else {
      [low, left, atLeft] = [left, right, atRight];
      right = low + golden * (high - low);
      atRight = valueAt(right);
    }
  }
  const ends = [low, (low + high) / 2, high].map((place) => ({ place, value: valueAt(place) }));
  return ends.reduce((best, one) => (one.value > best.value ? one : best));
}

/** Selective prediction: what an agent gets right where it answers only what it is surest of. */
import { Rng } from '../run/seeds.js';
import type { Estimate } from '../run/figures.js';
import { percentiles, wilsonAt } from './intervals.js';

/** An answer, by how sure it is. */
export interface RankedAnswer {
  /** Larger is surer; only its order counts, and answers that are equally sure stand in no order. */
  confidence: number;
  right: boolean;
}

/** Risk and coverage of one agent. */
export interface RiskCoverage {
  /** Area under the curve of risk over coverage, in [0, 1]: the mean share of wrong answers among the 1, 2 … n surest. Lower is better. */
  aurc: Estimate;
  /** What `aurc` would be if all right answers were surer than all wrong ones: no order of these answers gives less. */
  least: number;
  /** By coverage in percent: share of right answers among the surest so many; `n` are those that are answered. */
  accuracy: Record<number, Estimate>;
  /** Coverage and share of right answers at each of its percents, both fractions. */
  curve: [coverage: number, accuracy: number][];
}

/** Coverages, in percent, that accuracy is told at. */
export const coverages = [20, 40, 60, 80, 100] as const;

/** How often, and from which seed, answers are drawn anew. */
export interface SelectiveOptions {
  /** Default 2,000. */
  resamples?: number;
  /** Default 0. */
  seed?: number;
}

/**
 * @param answers at least one; each is a sample of its own. O(resamples · answers)
 * @source El-Yaniv and Wiener 2010 (risk and coverage); Geifman, Uziel and El-Yaniv 2019 (AURC); percentile intervals as of
 *   `bootstrapMeans`
 */
export function riskCoverage(
  answers: readonly RankedAnswer[],
  { resamples = 2000, seed = 0 }: SelectiveOptions = {},
): RiskCoverage {
  const sorted = answers.toSorted((a, b) => b.confidence - a.confidence);
  const n = sorted.length;
  // Answers that are equally sure are one group: within it every order is as likely, so risk is the mean over all of them.
  const groups = new Int32Array(n);
  for (let i = 1; i < n; i++) groups[i] = groups[i - 1]! + Number(sorted[i]!.confidence !== sorted[i - 1]!.confidence);
  const wrong = Uint8Array.from(sorted, ({ right }) => Number(!right));
  const numGroups = groups[n - 1]! + 1;
  const size = new Int32Array(numGroups);
  const errors = new Int32Array(numGroups);
  const risks = new Float64Array(n);
  const measure = (place: (i: number) => number) => {
    size.fill(0);
    errors.fill(0);
    for (let i = 0; i < n; i++) {
      const drawn = place(i);
      size[groups[drawn]!]!++;
      errors[groups[drawn]!]! += wrong[drawn]!;
    }
    let [done, lost, area] = [0, 0, 0];
    for (let group = 0; group < numGroups; group++) {
      const each = errors[group]! / (size[group]! || 1);
      for (let i = 1; i <= size[group]!; i++) area += risks[done + i - 1] = (lost + each * i) / (done + i);
      done += size[group]!;
      lost += errors[group]!;
    }
    return area / n;
  };
  const rng = Rng.named(seed, 'metrics/selective');
  const answered = (coverage: number) => Math.max(1, Math.ceil((coverage / 100) * n - 1e-9));
  const drawnAreas = new Float64Array(resamples);
  const drawn = new Map(coverages.map((coverage) => [coverage, new Float64Array(resamples)]));
  for (let resample = 0; resample < resamples; resample++) {
    drawnAreas[resample] = measure(() => rng.integer(n));
    for (const coverage of coverages) drawn.get(coverage)![resample] = 1 - risks[answered(coverage) - 1]!;
  }
  const value = measure((i) => i);
  const accuracyAt = (coverage: number) => 1 - risks[answered(coverage) - 1]!;
  const missed = wrong.reduce((sum, one) => sum + one, 0);
  let least = 0;
  for (let i = 1; i <= n; i++) least += Math.max(0, i - (n - missed)) / i / n;
  return {
    aurc: { value, ...percentiles(drawnAreas.sort()), n },
    least,
    accuracy: Object.fromEntries(
      coverages.map((coverage) => {
        const [own, many] = [accuracyAt(coverage), answered(coverage)];
        const interval = own === 0 || own === 1 ? wilsonAt(own, many) : percentiles(drawn.get(coverage)!.sort());
        return [coverage, { value: own, ...interval, n: many }];
      }),
    ),
    curve: Array.from({ length: 100 }, (_, i) => [(i + 1) / 100, accuracyAt(i + 1)]),
  };
}

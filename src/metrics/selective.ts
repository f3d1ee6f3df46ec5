/** Confidence of answers: accuracy on the most confident ones, and calibration of stated probabilities. */
import { Rng } from '../run/seeds.js';
import type { Estimate } from '../run/figures.js';
import { type BootstrapOptions } from './bootstrap.js';
import { percentiles, wilson } from './intervals.js';

/** Answer with its confidence. */
export interface RankedAnswer {
  /** Higher is more confident; only the order matters, ties are unordered. */
  confidence: number;
  right: boolean;
}

/** Risk-coverage metrics of one agent. */
export interface RiskCoverage {
  /** Area under the risk-coverage curve, in [0, 1]: mean error rate over the 1, 2 … n most confident. Lower is better. */
  aurc: Estimate;
  /** Lower bound of `aurc`: all correct answers ranked above all wrong ones. */
  least: number;
  /** Accuracy by coverage in percent; `n` is the number of answers covered. */
  accuracy: Record<number, Estimate>;
  /** Coverage and accuracy at each percent, both fractions. */
  curve: [coverage: number, accuracy: number][];
}

/** Coverages, in percent, at which accuracy is reported. */
export const coverages = [20, 40, 60, 80, 100] as const;

/**
 * @param answers at least one; samples are independent. O(resamples · answers)
 * @source El-Yaniv and Wiener 2010 (risk and coverage); Geifman, Uziel and El-Yaniv 2019 (AURC); percentile intervals as in
 * `bootstrapMeans`
 */
export function riskCoverage(
  answers: readonly RankedAnswer[],
  { resamples = 2000, seed = 0 }: Pick<BootstrapOptions, 'resamples' | 'seed'> = {},
): RiskCoverage {
  const sorted = answers.toSorted((a, b) => b.confidence - a.confidence);
  const n = sorted.length;
  // Ties form a group: risk is the mean over all orders within it.
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
        const interval = own === 0 || own === 1 ? wilson(own, many) : percentiles(drawn.get(coverage)!.sort());
        return [coverage, { value: own, ...interval, n: many }];
      }),
    ),
    curve: Array.from({ length: 100 }, (_, i) => [(i + 1) / 100, accuracyAt(i + 1)]),
  };
}

/** Prediction with its probability in [0, 1] and correctness. */
export type SaidWith = { probability: number; right: boolean };

/** Predictions with `from ≤ probability < to`; the last bin includes 1. */
export interface CalibrationBin {
  from: number;
  to: number;
  n: number;
  /** Mean stated probability, and share of correct ones. Fractions. */
  said: number;
  right: number;
}

/** Bins of equal width; empty ones are left out. */
export interface Calibration {
  n: number;
  said: number;
  right: number;
  /** Expected calibration error: mean gap between stated probability and accuracy, weighted by bin size. */
  ece: number;
  bins: CalibrationBin[];
}

/**
 * @param said at least one
 * @source Naeini, Cooper and Hauskrecht 2015; Guo et al. 2017 (ECE over bins of equal width)
 */
export function calibrationOf(said: readonly SaidWith[], numBins = 10): Calibration {
  const groups = Array.from({ length: numBins }, (): SaidWith[] => []);
  for (const one of said) groups[Math.min(numBins - 1, Math.floor(one.probability * numBins))]!.push(one);
  const bins = groups.flatMap((group, i) =>
    group.length > 0 ? [{ from: i / numBins, to: (i + 1) / numBins, ...meansOf(group) }] : [],
  );
  const ece = bins.reduce((sum, bin) => sum + (bin.n / said.length) * Math.abs(bin.said - bin.right), 0);
  return { ...meansOf(said), ece, bins };
}

function meansOf(group: readonly SaidWith[]) {
  const n = group.length;
  const said = group.reduce((sum, { probability }) => sum + probability, 0) / n;
  return { n, said, right: group.filter(({ right }) => right).length / n };
}

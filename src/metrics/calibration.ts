/** Calibration of stated probabilities. */

/** Prediction with its probability in [0, 1] and correctness. */
export interface SaidWith {
  probability: number;
  right: boolean;
}

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

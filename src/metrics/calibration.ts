/** Whether probabilities mean what they say: what was given 30 % is right in 30 of 100. */

/** Something said with a probability, in [0, 1], and whether it was right. */
export interface SaidWith {
  probability: number;
  right: boolean;
}

/** Those whose probability lies in `from ≤ probability < to`; the last bin holds 1, too. */
export interface CalibrationBin {
  from: number;
  to: number;
  n: number;
  /** Means: of what was said, and of what was right. Fractions. */
  said: number;
  right: number;
}

/** By groups of equal width, those without anyone left out. */
export interface Calibration {
  n: number;
  said: number;
  right: number;
  /** Expected calibration error: mean distance of said and right over the bins, each by its size. */
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

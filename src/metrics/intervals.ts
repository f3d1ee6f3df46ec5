/** Intervals of 95 %, of what was drawn anew and of shares at an edge. */

/** Two-sided 95 % quantile of the normal distribution. */
const z = 1.959964;

/** Wilson's 95 % interval of a share of 0 or 1 over so many independent clusters: of 10, from 72 % to 100 %. */
export function wilsonAt(share: 0 | 1, clusters: number): { low: number; high: number } {
  const away = z ** 2 / (clusters + z ** 2);
  return share === 1 ? { low: 1 - away, high: 1 } : { low: 0, high: away };
}

/** The middle 95 %. @param sorted upwards */
export function percentiles(sorted: Float64Array): { low: number; high: number } {
  const at = (share: number) => {
    const position = share * (sorted.length - 1);
    const below = sorted[Math.floor(position)]!;
    return below + (sorted[Math.ceil(position)]! - below) * (position - Math.floor(position));
  };
  return { low: at((1 - 0.95) / 2), high: at((1 + 0.95) / 2) };
}

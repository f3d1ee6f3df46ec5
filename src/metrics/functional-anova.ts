/**
 * Variance between trials explained by each setting alone: functional ANOVA over a forest of regression trees.
 * @source Hutter, Hoos and Leyton-Brown 2014, "An efficient approach for assessing hyperparameter importance"
 */
import { Rng } from '../run/seeds.js';
import { mean } from './intervals.js';

interface Importance {
  /** By dimension: share of the forest's variance explained by it alone, mean and standard deviation over trees. */
  shares: { value: number; deviation: number }[];
  /** Out-of-bag R²; at 0 or less the forest has learned nothing and the shares are meaningless. */
  foretold: number;
}

/** Box in the unit cube with a constant value. */
type Leaf = { low: number[]; high: number[]; value: number };

const trees = 128;
/** Minimum rows to split. */
const leastToSplit = 4;

/**
 * Fits a forest and decomposes the variance of each tree over the whole unit cube (not only over the rows): exact for the tree. The
 * remainder to 1 belongs to interactions.
 * @param rows points in [0, 1] [numRows][numDimensions]
 * @param values of the rows
 * @returns undefined if all values are equal, or for fewer than four rows
 */
export function functionalAnova(
  rows: readonly (readonly number[])[],
  values: readonly number[],
  seed = 0,
): Importance | undefined {
  const dimensions = rows[0]?.length ?? 0;
  if (rows.length < leastToSplit || new Set(values).size < 2) return undefined;
  const shares: number[][] = [];
  const left = values.map(() => ({ sum: 0, count: 0 }));
  for (let t = 0; t < trees; t++) {
    const rng = Rng.named(seed, 'functional-anova', t);
    const drawn = rows.map(() => rng.integer(rows.length));
    const cube = { low: Array<number>(dimensions).fill(0), high: Array<number>(dimensions).fill(1) };
    const leaves = grown(rows, values, drawn, cube);
    const share = sharesOf(leaves, dimensions);
    // A bootstrap sample of equal values has no variance.
    if (share) shares.push(share);
    const seen = new Set(drawn);
    rows.forEach((row, i) => {
      if (seen.has(i)) return;
      left[i]!.sum += leaves.find((leaf) => holds(leaf, row))!.value;
      left[i]!.count++;
    });
  }
  const predicted = values.flatMap((value, i) =>
    left[i]!.count > 0 ? [{ value, said: left[i]!.sum / left[i]!.count }] : [],
  );
  const middle = mean(predicted.map(({ value }) => value));
  const squares = (of: (one: (typeof predicted)[number]) => number) =>
    predicted.reduce((sum, one) => sum + of(one) ** 2, 0);
  return {
    shares: Array.from({ length: dimensions }, (_, d) => {
      const column = shares.map((share) => share[d]!);
      const value = mean(column);
      return { value, deviation: Math.sqrt(mean(column.map((one) => (one - value) ** 2))) };
    }),
    foretold: 1 - squares(({ value, said }) => value - said) / squares(({ value }) => value - middle),
  };
}

/** Leaves that partition the box, split at the largest drop of squared error. Trees differ by their bootstrap sample alone. */
function grown(
  rows: readonly (readonly number[])[],
  values: readonly number[],
  chosen: readonly number[],
  { low, high }: Pick<Leaf, 'low' | 'high'>,
): Leaf[] {
  const value = mean(chosen.map((i) => values[i]!));
  const leaf = { low, high, value };
  if (chosen.length < leastToSplit || chosen.every((i) => values[i] === values[chosen[0]!])) return [leaf];
  const best = bestSplit(rows, values, chosen);
  if (!best) return [leaf];
  const { dimension, at } = best;
  const put = (ends: readonly number[]) => ends.map((end, d) => (d === dimension ? at : end));
  const below = chosen.filter((i) => rows[i]![dimension]! < at);
  const above = chosen.filter((i) => rows[i]![dimension]! >= at);
  return [
    ...grown(rows, values, below, { low, high: put(high) }),
    ...grown(rows, values, above, { low: put(low), high }),
  ];
}

function bestSplit(
  rows: readonly (readonly number[])[],
  values: readonly number[],
  chosen: readonly number[],
): { dimension: number; at: number } | undefined {
  let best: { dimension: number; at: number; gain: number } | undefined;
  const total = chosen.reduce((sum, i) => sum + values[i]!, 0);
  for (const dimension of rows[0]!.keys()) {
    const sorted = [...chosen].sort((a, b) => rows[a]![dimension]! - rows[b]![dimension]!);
    let sum = 0;
    for (let n = 1; n < sorted.length; n++) {
      sum += values[sorted[n - 1]!]!;
      const [before, after] = [rows[sorted[n - 1]!]![dimension]!, rows[sorted[n]!]![dimension]!];
      if (before === after) continue;
      // The squared error drops by as much as this grows.
      const gain = sum ** 2 / n + (total - sum) ** 2 / (sorted.length - n);
      if (!best || gain > best.gain) best = { dimension, at: (before + after) / 2, gain };
    }
  }
  return best;
}

function holds({ low, high }: Leaf, row: readonly number[]): boolean {
  return row.every((value, d) => value >= low[d]! && (value < high[d]! || high[d] === 1));
}

/** By dimension; undefined for a tree without variance. */
function sharesOf(leaves: readonly Leaf[], dimensions: number): number[] | undefined {
  const volumes = leaves.map(({ low, high }) => high.reduce((product, end, d) => product * (end - low[d]!), 1));
  const middle = leaves.reduce((sum, { value }, i) => sum + value * volumes[i]!, 0);
  const variance = leaves.reduce((sum, { value }, i) => sum + (value - middle) ** 2 * volumes[i]!, 0);
  if (!(variance > 0)) return undefined;
  return Array.from({ length: dimensions }, (_, d) => {
    const ends = [...new Set(leaves.flatMap(({ low, high }) => [low[d]!, high[d]!]))].sort((a, b) => a - b);
    let own = 0;
    for (let e = 1; e < ends.length; e++) {
      const [from, to] = [ends[e - 1]!, ends[e]!];
      // Marginal mean over all other dimensions within these bounds.
      const marginal = leaves.reduce((sum, { low, high, value }, i) => {
        const covers = low[d]! <= from && high[d]! >= to;
        return covers ? sum + (value * volumes[i]!) / (high[d]! - low[d]!) : sum;
      }, 0);
      own += (marginal - middle) ** 2 * (to - from);
    }
    return own / variance;
  });
}

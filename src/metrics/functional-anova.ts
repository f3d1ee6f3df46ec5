/**
 * How much of the differences between trials each setting explains, alone: functional ANOVA over a forest of regression trees.
 * @source Hutter, Hoos and Leyton-Brown 2014, "An efficient approach for assessing hyperparameter importance"
 */
import { Rng } from '../run/seeds.js';

/** What was found; see `functionalAnova`. */
export interface Importance {
  /** By dimension: share of the forest's variance that it explains alone, mean over the trees, and its standard deviation over them. */
  shares: { value: number; deviation: number }[];
  /**
   * Share of the variance between trials that trees foretell which did not see them (out of bag R²); 0 or less: the forest has learnt
   * nothing, and the shares say nothing.
   */
  foretold: number;
}

/** Part of the unit cube with one value. */
interface Leaf {
  low: number[];
  high: number[];
  value: number;
}

const trees = 128;
/** Fewer rows are not split. */
const leastToSplit = 4;

/**
 * Fits a forest and divides the variance of each of its trees, over the whole unit cube and not over the rows alone: exact for
 * what the tree says, and as good as the tree is for what it was grown from. What shares leave of 1 belongs to
 * settings together.
 * @param rows places in [0, 1] [numRows][numDimensions]
 * @param values of the rows
 * @returns undefined where the values are all equal, or there are fewer than four
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
    // A draw of equal values alone has no variance to divide.
    if (share) shares.push(share);
    const seen = new Set(drawn);
    rows.forEach((row, i) => {
      if (seen.has(i)) return;
      left[i]!.sum += leaves.find((leaf) => holds(leaf, row))!.value;
      left[i]!.count++;
    });
  }
  const told = values.flatMap((value, i) =>
    left[i]!.count > 0 ? [{ value, said: left[i]!.sum / left[i]!.count }] : [],
  );
  const middle = mean(told.map(({ value }) => value));
  const squares = (of: (one: (typeof told)[number]) => number) => told.reduce((sum, one) => sum + of(one) ** 2, 0);
  return {
    shares: Array.from({ length: dimensions }, (_, d) => {
      const column = shares.map((share) => share[d]!);
      const value = mean(column);
      return { value, deviation: Math.sqrt(mean(column.map((one) => (one - value) ** 2))) };
    }),
    foretold: 1 - squares(({ value, said }) => value - said) / squares(({ value }) => value - middle),
  };
}

/** Leaves that fill the part: split where the squares fall most. Few trials leave no dimension out: trees differ by what was drawn. */
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
  return [
    ...grown(
      rows,
      values,
      chosen.filter((i) => rows[i]![dimension]! < at),
      { low, high: put(high) },
    ),
    ...grown(
      rows,
      values,
      chosen.filter((i) => rows[i]![dimension]! >= at),
      { low: put(low), high },
    ),
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
      // The squares within fall by as much as this grows.
      const gain = sum ** 2 / n + (total - sum) ** 2 / (sorted.length - n);
      if (!best || gain > best.gain) best = { dimension, at: (before + after) / 2, gain };
    }
  }
  return best;
}

function holds({ low, high }: Leaf, row: readonly number[]): boolean {
  return row.every((place, d) => place >= low[d]! && (place < high[d]! || high[d] === 1));
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
      // The mean over all other dimensions, for a place between these ends.
      const marginal = leaves.reduce((sum, { low, high, value }, i) => {
        const covers = low[d]! <= from && high[d]! >= to;
        return covers ? sum + (value * volumes[i]!) / (high[d]! - low[d]!) : sum;
      }, 0);
      own += (marginal - middle) ** 2 * (to - from);
    }
    return own / variance;
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Spaces: what an action or observation may be, as a test, a seeded draw, and a form that other programs can read. */
import { relationColumn, type RelationColumn } from '../src/kg/adjacency.js';
import type { Rng } from '../src/run/seeds.js';

/** A space in plain values, for programs that cannot call `contains`: what Python makes a Gymnasium space of. */
export type SpaceForm =
  | { kind: 'discrete'; n: number; first: number }
  /** float32, exactly `length`; without bounds any finite number. A bound of null is none, as JSON knows no infinity. */
  | { kind: 'vector'; length: number; low?: readonly (number | null)[]; high?: readonly (number | null)[] }
  /** At most `maxLength` numbers from `low` to `high`. */
  | { kind: 'list'; dtype: 'uint8' | 'uint16' | 'int32' | 'float64'; maxLength: number; low: number; high: number }
  | { kind: 'text' }
  /** Fields without a form are left out. */
  | { kind: 'dict'; fields: Readonly<Record<string, SpaceForm>> };

/** All values that an action or an observation may take. */
export interface Space<T> {
  /** Absent where no other program can read the values. */
  readonly form?: SpaceForm;
  contains(value: unknown): value is T;
  /** @param mask uint8, 1 = may be drawn; indices beyond its end may not; spaces without indices ignore it */
  sample(rng: Rng, mask?: Uint8Array): T;
}

/** Integers `first .. first + n - 1`. A mask counts from `first`. */
export const discrete = (n: number, first = 0): Space<number> & { readonly n: number } => ({
  n,
  form: { kind: 'discrete', n, first },
  contains: (value): value is number => Number.isInteger(value) && Number(value) >= first && Number(value) < first + n,
  sample(rng, mask) {
    if (!mask) return first + rng.integer(n);
    let legal = 0;
    for (const bit of mask) legal += bit;
    if (legal === 0) throw new RangeError('expected at least one legal action in the mask, got none, at sample');
    let skip = rng.integer(legal);
    let i = 0;
    while (mask[i] === 0 || skip-- > 0) i++;
    return first + i;
  },
});

/** Vectors of at most `maxLength` zeros and ones, uint8. */
export const multiBinary = (maxLength: number): Space<Uint8Array> => listOf('uint8', Uint8Array, maxLength, 2);

/** Lists of at most `maxLength` ids in [0, n), int32. */
export const ids = (n: number, maxLength: number): Space<Int32Array> => listOf('int32', Int32Array, maxLength, n);

type Integers = Uint8Array | Int32Array;

/** Lists of at most `maxLength` integers in [0, n). @param exact of all as many */
const listOf = <T extends Integers>(
  dtype: 'uint8' | 'int32',
  type: { new (length: number): T },
  maxLength: number,
  n: number,
  exact = false,
): Space<T> => ({
  form: { kind: 'list', dtype, maxLength, low: 0, high: n - 1 },
  contains: (value): value is T =>
    value instanceof type &&
    (exact ? value.length === maxLength : value.length <= maxLength) &&
    value.every((one: number) => one >= 0 && one < n),
  sample: (rng) => new type(exact ? maxLength : rng.integer(maxLength + 1)).map(() => rng.integer(n)) as T,
});

/** Lists of at most `maxPairs` pairs of an id in [0, first) and one in [0, second), int32, flat. */
export const idPairs = (first: number, second: number, maxPairs: number): Space<Int32Array> => ({
  form: { kind: 'list', dtype: 'int32', maxLength: 2 * maxPairs, low: 0, high: Math.max(first, second) - 1 },
  contains: (value): value is Int32Array =>
    value instanceof Int32Array &&
    value.length <= 2 * maxPairs &&
    value.length % 2 === 0 &&
    value.every((id, i) => id >= 0 && id < (i % 2 === 0 ? first : second)),
  sample: (rng) =>
    Int32Array.from({ length: 2 * rng.integer(maxPairs + 1) }, (_, i) => rng.integer(i % 2 === 0 ? first : second)),
});

/** Vectors of exactly `length` finite numbers, float32. */
export const vector = (length: number): Space<Float32Array> => ({
  form: { kind: 'vector', length },
  contains: (value): value is Float32Array =>
    value instanceof Float32Array && value.length === length && value.every((number) => Number.isFinite(number)),
  sample: (rng) => Float32Array.from({ length }, () => rng.normal()),
});

/**
 * Vectors of finite numbers within bounds, float32, both ends included.
 * @param low lower bound of each number, rounded to float32; -Infinity where there is none
 * @param high upper bounds, as many; Infinity where there is none
 * @throws RangeError for bounds that leave nothing
 */
export function box(low: ArrayLike<number>, high: ArrayLike<number>): Space<Float32Array> {
  const [lows, highs] = [Float32Array.from(low), Float32Array.from(high)];
  if (lows.length !== highs.length || !lows.every((bound, i) => bound <= highs[i]!)) {
    throw new RangeError(
      `expected as many lower as upper bounds, none above its own, got [${lows}] and [${highs}], at box`,
    );
  }
  const bounds = (of: Float32Array) => Array.from(of, (bound) => (Number.isFinite(bound) ? bound : null));
  return {
    form: { kind: 'vector', length: lows.length, low: bounds(lows), high: bounds(highs) },
    contains(value): value is Float32Array {
      if (!(value instanceof Float32Array) || value.length !== lows.length) return false;
      // Plain loop: `every` takes several times as long on a few numbers.
      for (let i = 0; i < lows.length; i++) {
        if (!(Number.isFinite(value[i]) && value[i]! >= lows[i]! && value[i]! <= highs[i]!)) return false;
      }
      return true;
    },
    sample: (rng) => Float32Array.from(lows, (bound, i) => within(bound, highs[i]!, rng)),
  };
}

/** Uniform between two bounds, normal where there is none, on the near side of a single one. */
function within(low: number, high: number, rng: Rng): number {
  if (Number.isFinite(low) && Number.isFinite(high)) return low + (high - low) * rng.uniform();
  if (Number.isFinite(low)) return low + Math.abs(rng.normal());
  return Number.isFinite(high) ? high - Math.abs(rng.normal()) : rng.normal();
}

/** Observation of vector environments in which some actions are illegal. */
export interface MaskedVector {
  observation: Float32Array;
  /** uint8 [number of actions], 1 = legal. */
  actionMask: Uint8Array;
}

/** A vector with the mask of all `numActions` actions. */
export function masked(observation: Space<Float32Array>, numActions: number): Space<MaskedVector> {
  return dict<MaskedVector>({ observation, actionMask: listOf('uint8', Uint8Array, numActions, 2, true) });
}

/** Length of an observation that is a vector, or a vector with a mask; undefined for any other space. */
export function vectorLength({ form }: Pick<Space<unknown>, 'form'>): number | undefined {
  const vector = form?.kind === 'dict' ? form.fields.observation : form;
  return vector?.kind === 'vector' ? vector.length : undefined;
}

/** Lists of at most `maxLength` relation ids in [0, n), in the type that a graph of n relations holds them in. */
export function relationIds(n: number, maxLength: number): Space<RelationColumn> {
  const dtype = relationColumn(n, 0) instanceof Uint16Array ? 'uint16' : 'int32';
  return {
    form: { kind: 'list', dtype, maxLength, low: 0, high: n - 1 },
    contains: (value): value is RelationColumn => {
      const isColumn = value instanceof Uint16Array || value instanceof Int32Array;
      return isColumn && value.length <= maxLength && value.every((id: number) => id >= 0 && id < n);
    },
    sample: (rng) => relationColumn(n, rng.integer(maxLength + 1)).map(() => rng.integer(n)),
  };
}

/** Any string. */
export const text = (): Space<string> => ({
  form: { kind: 'text' },
  contains: (value): value is string => typeof value === 'string',
  sample: (rng) => rng.uint32().toString(36),
});

/** One of the given values. */
export const oneOf = <T extends string | number | boolean>(...values: readonly T[]): Space<T> => ({
  ...(values.every((value) => typeof value === 'string') && { form: { kind: 'text' } as const }),
  contains: (value): value is T => (values as readonly unknown[]).includes(value),
  sample: (rng) => values[rng.integer(values.length)]!,
});

/** Arrays of any length whose items are in `item`. */
export const sequence = <T>(item: Space<T>): Space<readonly T[]> => ({
  contains: (value): value is readonly T[] => Array.isArray(value) && value.every((one) => item.contains(one)),
  sample: (rng) => Array.from({ length: rng.integer(4) }, () => item.sample(rng)),
});

/** Objects with exactly these keys, each in its space. */
export function dict<T extends object>(spaces: { readonly [K in keyof T]: Space<T[K]> }): Space<T> {
  const keys = Object.keys(spaces) as (keyof T)[];
  const forms = (Object.entries(spaces) as [string, Space<unknown>][]).flatMap(([key, { form }]) =>
    form ? [[key, form] as const] : [],
  );
  return {
    form: { kind: 'dict', fields: Object.fromEntries(forms) },
    contains: (value): value is T =>
      typeof value === 'object' &&
      value !== null &&
      Object.keys(value).length === keys.length &&
      keys.every((key) => key in value && spaces[key].contains((value as T)[key])),
    sample: (rng) => Object.fromEntries(keys.map((key) => [key, spaces[key].sample(rng)])) as T,
  };
}

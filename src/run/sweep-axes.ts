/** The settings of a sweep as axes: where between its ends a value stands. */
import type { SweepRecord, Trial } from './sweep.js';

/** One setting. */
export interface SweepAxis {
  key: string;
  /** Distances are of logarithms. */
  isLog: boolean;
  /** Values with names, in order; undefined where there is a range of numbers. */
  values?: readonly unknown[];
  /** Ends; of `values` none. */
  low?: number;
  high?: number;
  /** Where a value stands, in [0, 1]. Of n values in order, the middle of the n-th parts. */
  placeOf(value: unknown): number;
}

/** A ratio of ends from which on numbers that another program chose are taken as drawn in the logarithm. */
const logarithmic = 50;

/** The axes of a sweep, in the order in which the command line told them; of one whose trials are told, from their values. */
export function axesOf(
  { dimensions }: Pick<SweepRecord, 'dimensions'>,
  trials: readonly Pick<Trial, 'set'>[],
): SweepAxis[] {
  if (dimensions.length > 0) {
    return dimensions.map((one) => {
      if (one.kind === 'grid' || one.kind === 'choice') return axisOfValues(one.key, inOrder(one.values));
      return axisOfRange(one.key, one.low, one.high, one.kind.startsWith('log'), one.kind.endsWith('int'));
    });
  }
  return [...new Set(trials.flatMap(({ set }) => Object.keys(set)))].map((key) => {
    const told = trials.flatMap(({ set }) => (Object.hasOwn(set, key) ? [set[key]] : []));
    const numbers = told.filter((value) => typeof value === 'number');
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const isRange = numbers.length === trials.length && low < high;
    if (!isRange)
      return axisOfValues(key, inOrder([...new Map(told.map((one) => [JSON.stringify(one), one])).values()]));
    return axisOfRange(key, low, high, low > 0 && high / low >= logarithmic, false);
  });
}

/** Numbers ascend; all else keeps its order. */
function inOrder(values: readonly unknown[]): unknown[] {
  const isNumeric = values.every((value) => typeof value === 'number');
  return isNumeric ? [...(values as number[])].sort((a, b) => a - b) : [...values];
}

function axisOfValues(key: string, values: readonly unknown[]): SweepAxis {
  const texts = values.map((value) => JSON.stringify(value));
  return {
    key,
    isLog: false,
    values,
    placeOf: (value) => (texts.indexOf(JSON.stringify(value)) + 0.5) / values.length,
  };
}

/** @param whole each whole number has a part of its own, as wide as it is likely */
function axisOfRange(key: string, low: number, high: number, isLog: boolean, whole: boolean): SweepAxis {
  const scale = isLog ? Math.log : (value: number) => value;
  const [begin, end] = [scale(low), scale(whole ? high + 1 : high)];
  return {
    ...{ key, isLog, low, high },
    placeOf(value) {
      const middle = whole ? (scale(Number(value)) + scale(Number(value) + 1)) / 2 : scale(Number(value));
      return Math.min(1, Math.max(0, (middle - begin) / (end - begin)));
    },
  };
}

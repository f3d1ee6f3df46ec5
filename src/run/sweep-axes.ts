/** Settings of a sweep as axes: position of a value between the ends of its range. */
import type { SweepRecord } from './sweep.js';

/** One setting. */
export interface SweepAxis {
  key: string;
  /** Distances are logarithmic. */
  isLog: boolean;
  /** Named values in order; undefined for a range of numbers. */
  values?: readonly unknown[];
  /** Ends of the range; absent with `values`. */
  low?: number;
  high?: number;
  /** Position of a value in [0, 1]. Among n ordered values, the middle of the n-th part. */
  placeOf(value: unknown): number;
}

/** Axes of a sweep in command-line order. */
export function axesOf({ dimensions }: Pick<SweepRecord, 'dimensions'>): SweepAxis[] {
  return dimensions.map((one) => {
    if (one.kind === 'grid' || one.kind === 'choice') return axisOfValues(one.key, inOrder(one.values));
    return axisOfRange(one.key, one.low, one.high, one.kind.startsWith('log'), one.kind.endsWith('int'));
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

/** @param whole each integer has a separate part, as wide as its probability */
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

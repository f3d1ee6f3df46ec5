/** Declarations of figures: made once by a task and read by curves, tables and pages. */
import { z } from 'zod';
import { openObject } from './read-json.js';
import { anyNumber } from './records.js';

/** Unit of a figure. `%` is stored as a fraction in [0, 1]; `mean` is a mean in [0, 1] such as a reciprocal rank; `number` is any. */
export const figure = openObject({
  /** Key in metrics, such as `path@1`; curves log it as `eval/path@1`. */
  key: z.string(),
  /** Title in charts and tables. */
  title: z.string(),
  unit: z.enum(['%', 'mean', 'calls', 'number']),
  better: z.enum(['high', 'low']),
  /** `main`: in every table, the first one in headlines and tests; `table`: in wide tables; absent: in the full list only. */
  place: z.enum(['main', 'table']).optional(),
  /** True if comparisons test it between agents. */
  tested: z.boolean().optional(),
  /** True if it is left out where it is 0 for all samples. */
  rare: z.boolean().optional(),
});
/** A declared figure. */
export type Figure = z.output<typeof figure>;

/** A figure's value with its 95 % interval over `n` samples. Rates are fractions in [0, 1], never percent. */
export const estimate = z.object({ value: anyNumber, low: anyNumber, high: anyNumber, n: anyNumber });
/** See `estimate`. */
export type Estimate = z.output<typeof estimate>;

/** A difference between two agents with its 95 % interval, and the two-sided test of "no difference". */
export interface TestedDifference extends Estimate {
  pValue: number;
}

/** Estimates by the key of their figure. */
export type EvaluationMetrics = Record<string, Estimate>;

/** Figures shown in tables, of the measured ones. */
export function tableFigures(figures: readonly Figure[], measured: readonly Readonly<EvaluationMetrics>[]): Figure[] {
  return figures.filter(({ key, place }) => place === 'main' && measured.some((metrics) => metrics[key]));
}

/** A value without its unit, such as `61.8`: percent with one digit, means with three, calls with one, numbers with three significant. */
export function numberText(value: number, unit: Figure['unit'] = '%'): string {
  if (unit === 'number') return value.toFixed(Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3);
  return unit === '%' ? (100 * value).toFixed(1) : value.toFixed(unit === 'mean' ? 3 : 1);
}

/** `61.8`, empty if absent. */
export const valueText = (estimate: Estimate | undefined, unit?: Figure['unit']): string | undefined =>
  estimate && numberText(estimate.value, unit);

/** `61.8 [59.9, 63.7]`, empty if absent. */
export function intervalText(
  estimate: Pick<Estimate, 'value' | 'low' | 'high'> | undefined,
  unit?: Figure['unit'],
): string | undefined {
  if (!estimate) return undefined;
  const { value, low, high } = estimate;
  return `${numberText(value, unit)} [${numberText(low, unit)}, ${numberText(high, unit)}]`;
}

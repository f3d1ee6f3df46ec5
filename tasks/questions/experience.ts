/** Accuracy over the order of asking, of agents that learn as they answer: whether it grows with experience. */
import { bootstrapMeans } from '../../src/metrics/bootstrap.js';
import type { Section } from '../../src/run/evaluation.js';
import { intervalText } from '../../src/run/figures.js';
import { isRight, type QuestionRow } from './row.js';

export const experienceTitle = 'Right with experience';

/** Fewer questions make no quarters. */
const fewest = 4;
const mostPoints = 100;

/**
 * The running share of right answers, of the last tenth of the questions asked, and the share in each quarter. None where rows have no
 * order. Only the share of a window shows growth: a mean from the start on lags behind.
 */
export function experienceSection(rows: readonly QuestionRow[], resamples = 2000): Section[] {
  const asked = rows.filter(({ turn }) => turn !== undefined).sort((a, b) => a.turn! - b.turn!);
  if (asked.length < fewest) return [];
  const { length: n } = asked;
  const right = Float64Array.from(asked, (row) => Number(isRight(row)));
  const window = Math.ceil(n / 10);
  const stride = Math.ceil(n / mostPoints);
  const shareOf = (part: Float64Array) => part.reduce((sum, one) => sum + one, 0) / part.length;
  const ends = Array.from({ length: Math.floor((n - window) / stride) + 1 }, (_, i) => n - i * stride).reverse();
  const points = ends.map((end): [number, number] => [end, shareOf(right.subarray(end - window, end))]);
  const quarter = (i: number) => {
    const [begin, end] = [Math.floor((i * n) / 4), Math.floor(((i + 1) * n) / 4)];
    const ids = asked.slice(begin, end).map(({ id }) => id);
    const [share] = bootstrapMeans([right.subarray(begin, end)], ids, { resamples, shares: [true] });
    return intervalText(share);
  };
  return [
    {
      title: experienceTitle,
      rows: [{ n, 'first quarter': quarter(0), second: quarter(1), third: quarter(2), 'last quarter': quarter(3) }],
      curve: {
        ...{ x: 'questions asked', y: `right among the last ${window}`, points, smooth: true },
        caption:
          'In the order of asking, which `--seed` draws. Evaluations that differ in the seed alone are one line: their mean, from three on with its 95\u00a0% interval over seeds.',
      },
    },
  ];
}

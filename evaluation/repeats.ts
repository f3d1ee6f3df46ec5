/** Repeats of samples, for models that do not answer twice alike. */
import { deviation, mean } from '../src/metrics/intervals.js';
import type { Section } from '../src/run/evaluation.js';
import { type Figure, numberText } from '../src/run/figures.js';
import { columnsOf } from './figures.js';
import type { Measure, Row, Sample } from './score.js';

const mark = ' · repeat ';

/** All samples, then all of them again under ids of their own. */
export const repeated = <S extends Sample>(samples: readonly S[], repeats = 1): readonly S[] =>
  Array.from({ length: repeats }, (_, i) =>
    i === 0 ? samples : samples.map((one) => ({ ...one, task: { ...one.task, id: `${one.task.id}${mark}${i + 1}` } })),
  ).flat();

/** Id of the sample itself: its repeats are one cluster of the bootstrap, so that intervals hold their variance. */
export const withoutRepeat = (id: string): string => id.split(mark)[0]!;

/** A figure by repeat, with its deviation; none without repeats. */
export function repeatsSection<R extends Row>(measure: Measure<R>, figure: Figure, rows: readonly R[]): Section[] {
  const { key, title, unit } = figure;
  const repeats = [...Map.groupBy(rows, ({ id }) => id.split(mark)[1] ?? '1').values()];
  const means = repeats.flatMap((own) => {
    const { values = [] } = columnsOf(measure, [key], own).get(key) ?? {};
    return values.length > 0 ? [mean(values)] : [];
  });
  if (means.length < 2) return [];
  const each = means.map((one) => numberText(one, unit)).join(', ');
  return [{ title: 'Repeats', lines: [`${title}: ${each}; standard deviation ${numberText(deviation(means), unit)}`] }];
}

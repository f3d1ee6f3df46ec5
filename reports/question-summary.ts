/** Results on questions in a few sentences. */
import { figureNames } from './figure-names.js';
import { percent, plain } from './numbers.js';
import type { QuestionResult, QuestionSet } from './question-results.js';

/** Who is best on the first set, with sample size, interval and cost, and who comes next. */
export function questionSummary(set: QuestionSet): string {
  const { n, dataset, labels, subsets, split, main, rows, simulated, model } = set;
  const shown = ({ metrics }: QuestionResult) => percent(metrics[main]?.value ?? 0);
  const best = rows.filter((row) => shown(row) === shown(rows[0]!));
  const next = rows[best.length];
  const marks = labels.length > 0 ? ` (${labels.join(', ')})` : '';
  const simulation = simulated ? `, simulated by ${model}, which knows the gold` : '';
  const has = best.length > 1 ? 'have' : 'has';
  const highest =
    rows.length > 1 ? `the highest ${figureNames[main]} of ${rows.length} agents,` : `a ${figureNames[main]} of`;
  const who = listed(best.map((row) => `${row.label} (${costOf(row)})`));
  return [
    `On ${plain(n)} questions of ${dataset}${marks}, ${subsets.join(' + ')}, ${split}${simulation}, ${who} ${has} ${highest} ${shown(rows[0]!)}\u00a0% (${evidence(set)}).`,
    next && `Next is ${next.label} (${costOf(next)}) with ${shown(next)}\u00a0%.`,
    labels.includes('fixture') &&
      'The graph is a fixture, collected partly from the gold answers: these figures are no benchmark results.',
  ]
    .filter(Boolean)
    .join(' ');
}

function evidence({ main, rows }: QuestionSet): string {
  const { low, high, deviation } = rows[0]!.metrics[main] ?? { low: 0, high: 0 };
  const spread =
    deviation === undefined ? '' : `; mean of ${rows[0]!.seeds} seeds, ± ${percent(deviation)} between them`;
  return `95\u00a0% interval ${percent(low)} to ${percent(high)}${spread}`;
}

function costOf({ model, metrics }: QuestionResult): string {
  return model === undefined ? 'no language model' : `${metrics['calls.mean']!.value.toFixed(1)} calls a question`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

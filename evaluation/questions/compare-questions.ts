/** Several agents on the same questions: which differences are more than chance. */
import { pairedDifferences } from '../../src/metrics/bootstrap.js';
import { unionMetrics } from '../../src/metrics/answers.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { QuestionRow } from '../../src/run/question-records.js';
import type { QuestionEvaluationRecord } from '../../src/run/records.js';
import type { Comparison } from '../compare.js';
import { questionColumns } from './summarise-questions.js';

/** What an evaluation needs to be compared. */
export interface ComparedEvaluation {
  name: string;
  record: QuestionEvaluationRecord;
  rows: readonly QuestionRow[];
}

/** How many resamples stand behind each test, and whether unlike models may meet. */
export interface CompareQuestionsOptions {
  /** Default 2000. */
  resamples?: number;
  /** Let budgets and models differ, and simulated models stand beside real ones. Default false. */
  mixed?: boolean;
}

const tested = ['hit@1', 'f1', 'exact', 'complete', 'accuracy', 'calls.mean'];

/**
 * Tests every evaluation against one of them by a paired bootstrap over questions, on `hit@1`, `f1`, `exact`, `complete`,
 * `accuracy` and calls.
 * @param against index of the reference. Default: the last
 * @throws WorkbenchError `data` when they are not of the same questions; `usage` where budgets or models differ, or simulated models meet
 *   real ones, unless `mixed`
 */
export function compareQuestionEvaluations(
  named: readonly ComparedEvaluation[],
  { resamples = 2000, mixed = false }: CompareQuestionsOptions = {},
  against = named.length - 1,
): Comparison[] {
  const reference = named[against]!;
  refuseOtherQuestions(named, reference);
  if (!mixed) refuseMixture(named.map(({ record }) => record));
  const baseline = questionColumns(reference.rows);
  return named.flatMap(({ name, rows }, i) => {
    if (i === against) return [];
    const columns = questionColumns(rows);
    const keys = tested.filter((key) => columns.has(key));
    const results = keys.map((key) => {
      const column = columns.get(key)!;
      const ids = column.rows.map(({ id }) => id);
      return pairedDifferences([column.values], [baseline.get(key)!.values], ids, { resamples })[0]!;
    });
    return [
      {
        agent: name,
        against: reference.name,
        differences: Object.fromEntries(keys.map((key, k) => [key, results[k]!])),
      },
    ];
  });
}

/**
 * Refuses what would compare models or budgets rather than agents. Agents that ask no model go with all.
 * @throws WorkbenchError `usage`
 */
export function refuseMixture(
  abouts: readonly Pick<QuestionEvaluationRecord, 'agent' | 'model' | 'simulated' | 'budget' | 'budgetMode'>[],
): void {
  const prompted = abouts.filter(({ model }) => model !== undefined);
  const [first] = prompted;
  for (const other of prompted) {
    const differs =
      other.simulated !== first!.simulated
        ? ['a simulated model and a real one', `${first!.model} and ${other.model}`]
        : other.model !== first!.model
          ? ['different models', `${first!.model} and ${other.model}`]
          : other.budget !== first!.budget || other.budgetMode !== first!.budgetMode
            ? ['different budgets', `${budgetText(first!)} and ${budgetText(other)}`]
            : undefined;
    if (!differs) continue;
    throw new WorkbenchError(
      'usage',
      `expected agents that can be compared, got ${differs[0]} (${differs[1]}), at ${first!.agent} and ${other.agent}`,
      { hint: 'Compare at one model and one budget; --mixed compares them all the same.' },
    );
  }
}

/** Partial and complete match of what two agents found together, per question. @throws WorkbenchError `data` for other questions */
export function unionOf(
  a: ComparedEvaluation,
  b: ComparedEvaluation,
): { partial: Float64Array; complete: Float64Array; ids: string[] } {
  refuseOtherQuestions([a], b);
  const pairs = a.rows.flatMap((row, i) => (row.form === 'entities' ? [[row, b.rows[i]!] as const] : []));
  const unions = pairs.map(([one, two]) => unionMetrics(one.matchedLenient, two.matchedLenient, one.golds));
  return {
    partial: Float64Array.from(unions, ({ partial }) => partial),
    complete: Float64Array.from(unions, ({ complete }) => complete),
    ids: pairs.map(([{ id }]) => id),
  };
}

function refuseOtherQuestions(named: readonly ComparedEvaluation[], reference: ComparedEvaluation): void {
  for (const { name, rows, record } of named) {
    const same =
      record.hashes.dataset === reference.record.hashes.dataset &&
      rows.length === reference.rows.length &&
      rows.every(({ id }, i) => id === reference.rows[i]!.id);
    if (same) continue;
    throw new WorkbenchError('data', `expected the questions of ${reference.name}, got others, at ${name}`, {
      hint: 'Compare agents on the same data set, split, limit and seed.',
    });
  }
}

const budgetText = ({ budget, budgetMode }: Pick<QuestionEvaluationRecord, 'budget' | 'budgetMode'>) =>
  `${budget ?? 'none'} ${budgetMode}`;

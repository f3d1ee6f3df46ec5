/** Evaluations of questions as tables for people: percent, intervals in brackets. */
import type { Comparison } from '../../evaluation/compare.js';
import type { EvaluationSpeed } from '../../evaluation/questions/speedometer.js';
import type { UnionFigures } from '../../evaluation/questions/union-figures.js';
import { intervalText, numberText, valueText } from '../../src/run/figures.js';
import type { QuestionEvaluationRecord } from '../../src/run/records.js';
import { printLine, printTable } from '../output.js';
import type { Row } from '../output.js';
import type { ShownEvaluation } from './compare-on-questions.js';

const sliceColumns = ['hit@1', 'f1', 'exact', 'complete', 'accuracy'];

/** Points of the budget curve that are shown. */
const shownPoints = 12;

/** Prints metrics, slices, cost, phases, and why questions were missed. */
export function printQuestionEvaluation(record: QuestionEvaluationRecord, speed?: EvaluationSpeed): void {
  const { agent, switches, topicGiven } = record;
  printLine(
    headline(record, agent, [
      ...(record.model === undefined ? [] : [modelText(record), budgetText(record)]),
      ...(Object.keys(switches).length > 0 ? [switchesText(switches)] : []),
      ...(topicGiven ? [] : ['topics not given']),
    ]),
  );
  printLine();
  const shares = Object.entries(record.metrics).filter(([key]) => key !== 'calls.mean');
  printTable(shares.map(([metric, estimate]) => ({ metric, percent: intervalText(estimate), n: estimate.n })));
  if (Object.keys(record.slices).length > 0) {
    printLine();
    printTable(
      Object.entries(record.slices).map(([slice, metrics]) => ({
        slice,
        n: metrics.crashed!.n,
        ...Object.fromEntries(sliceColumns.flatMap((key) => (metrics[key] ? [[key, valueText(metrics[key])]] : []))),
        calls: metrics['calls.mean']!.value.toFixed(1),
      })),
    );
  }
  printLine();
  printTable(
    Object.entries(record.cost).flatMap(([cost, { mean, median, p95, max, total }]) =>
      total > 0 ? [{ 'a question': cost, mean: mean.toFixed(1), median, p95, max, total }] : [],
    ),
  );
  if (Object.keys(record.phases).length > 0) {
    printLine();
    printTable(
      Object.entries(record.phases).map(([phase, { calls, stages }]) => ({ phase, calls, replies: counts(stages) })),
    );
    const { budgetCurve } = record;
    const step = Math.ceil(budgetCurve.length / shownPoints);
    const points = budgetCurve.filter((_, i) => i % step === 0 || i === budgetCurve.length - 1);
    printLine();
    printLine(
      `right within so many calls: ${points.map(({ calls, hit }) => `${calls}: ${numberText(hit)}`).join('  ')}`,
    );
  }
  printLine();
  printLine(`stops: ${counts(record.stops)}`);
  printLine(`misses: ${counts(record.misses) || 'none'}`);
  if (Object.keys(record.excluded).length > 0) printLine(`not asked: ${counts(record.excluded)}`);
  if (speed) printLine(speedText(record, speed));
  printLine('percent; brackets: 95 % bootstrap over questions');
}

/** Prints one row an agent, its difference to the reference with the test, and a bar. */
export function printQuestionComparison(
  evaluations: readonly ShownEvaluation[],
  comparisons: readonly Comparison[],
  unions: readonly UnionFigures[],
): void {
  const { record } = evaluations[0]!;
  const prompted = evaluations.flatMap((one) => (one.record.model === undefined ? [] : [one.record]));
  const models = new Set(prompted.map(modelText));
  const budgets = new Set(prompted.map(budgetText));
  // What differs between agents stands in their rows.
  const shared = [models, budgets].flatMap((texts) => (texts.size === 1 ? [...texts] : []));
  printLine(headline(prompted[0] ?? record, `${evaluations.length} agents`, shared));
  printLine();
  const tested = record.metrics['hit@1'] ? 'hit@1' : 'accuracy';
  const columns = ['f1', 'exact', 'partial', 'complete', 'accuracy'].filter(
    (key) => key !== tested && evaluations.some((one) => one.record.metrics[key]),
  );
  const switched = evaluations.some((one) => Object.keys(one.record.switches).length > 0);
  const against = evaluations.at(-1)!.name;
  printTable(
    evaluations.map(({ name, record: own, speed }): Row => {
      const { metrics, cost, note, model, simulated, switches } = own;
      const difference = comparisons.find(({ agent }) => agent === name)?.differences[tested];
      return {
        agent: name,
        ...(switched && { switches: switchesText(switches) }),
        ...(models.size > 0 && { model: `${model ?? '-'}${simulated ? ' (simulated)' : ''}` }),
        ...(budgets.size > 1 && { budget: model === undefined ? '-' : budgetText(own).replace('budget ', '') }),
        [tested]: intervalText(metrics[tested]),
        ...Object.fromEntries(columns.map((key) => [key, valueText(metrics[key])])),
        'calls mean/p95/max': spread(cost.calls),
        tokens: (cost.promptTokens!.mean + cost.completionTokens!.mean).toFixed(0),
        'at cap': valueText(metrics['at-cap']),
        crashed: valueText(metrics.crashed),
        'ms/question': speed && speed.remembered <= speed.asked ? speed.msPerQuestion.toFixed(1) : '',
        [`${tested} − ${against}`]: intervalText(difference) ?? '',
        p: difference ? difference.pValue.toFixed(3) : '',
        note: note ?? '',
      };
    }),
  );
  if (unions.length > 0) {
    printLine();
    printTable(
      unions.map(({ name, partial, complete }) => ({
        'together with io': name,
        partial: intervalText(partial),
        complete: intervalText(complete),
      })),
    );
  }
  printLine();
  const width = Math.max(...evaluations.map(({ name }) => name.length));
  for (const one of evaluations) {
    const { value } = one.record.metrics[tested] ?? { value: 0 };
    printLine(`${one.name.padEnd(width)} ${'█'.repeat(Math.round(40 * value)).padEnd(40, '·')} ${numberText(value)}`);
  }
  printLine(
    'percent; brackets: 95 % bootstrap over questions; p: paired, two-sided, not corrected for the number of agents',
  );
}

/** @param more what holds for all that the line is about */
function headline(record: QuestionEvaluationRecord, who: string, more: readonly string[]): string {
  const { dataset, labels = [], subsets, split, holdOut, n, hopsWithheld } = record;
  return [
    `${who} on ${dataset} (${subsets.join(', ')})${labels.map((label) => ` [${label}]`).join('')}`,
    `split ${split}, held out by ${holdOut}`,
    `n = ${n}`,
    ...more,
    ...(hopsWithheld ? ['hops withheld'] : []),
  ].join(' · ');
}

const modelText = ({ model, simulated }: QuestionEvaluationRecord) =>
  `model ${model}${simulated ? ' [simulated]' : ''}`;

const budgetText = ({ budget, budgetMode }: QuestionEvaluationRecord) => `budget ${budget ?? 'none'} ${budgetMode}`;

const switchesText = (switches: QuestionEvaluationRecord['switches']) =>
  Object.entries(switches)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(', ');

function speedText({ cost }: QuestionEvaluationRecord, speed: EvaluationSpeed): string {
  const { seconds, prepareSeconds, msPerQuestion, asked, remembered, tokensPerSecond } = speed;
  const prompt = cost.promptTokens!.total;
  const parts = [
    `${seconds.toFixed(1)} s${prepareSeconds > 0.05 ? `, ${prepareSeconds.toFixed(1)} of them preparing` : ''}`,
    `${msPerQuestion.toFixed(1)} ms a question`,
  ];
  if (asked + remembered > 0) {
    parts.push(`${asked} calls asked, ${remembered} remembered`, `${tokensPerSecond.toFixed(0)} tokens/s`);
    parts.push(`${numberText(prompt === 0 ? 0 : cost.cachedTokens!.total / prompt)} % of prompt tokens from the cache`);
  }
  return parts.join(' · ');
}

const spread = (cost: QuestionEvaluationRecord['cost'][string] | undefined) =>
  cost && `${cost.mean.toFixed(1)} / ${cost.p95} / ${cost.max}`;

const counts = (values: Record<string, number>) =>
  Object.entries(values)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

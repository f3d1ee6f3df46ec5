/** What the quickstart found, as two short tables. */
import { loadEvaluation } from '../../reports/evaluation-data.js';
import type { Estimate } from '../../src/run/records.js';
import { printLine, printTable } from '../output.js';
import type { Row } from '../output.js';
import type { QuestionRowOf } from './question-evaluations.js';
import type { QuickstartResult } from './quickstart.js';
import type { WalkRow } from './walk-evaluations.js';

const aboutWalks: Readonly<Record<string, string>> = {
  random: 'any edge',
  frequency: 'the relations that train took most often',
  transe: 'the nearest by embeddings of the graph',
  clone: 'imitates the walks of train',
  ppo: 'the clone, trained on by reward',
};

const aboutQuestions: Readonly<Record<string, string>> = {
  'random-chain': 'any relations, as many as asked',
  'template-lookup': 'relations of the most similar train question',
  walker: 'trained by PPO, from answers alone',
};

/** Prints a row an agent, the trained ones last. */
export function printTables({ walks, questions, allQuestions }: QuickstartResult): void {
  const { n, dataset } = walks[0]!.record;
  printLine(`Where a dialogue goes next, in the graph: ${n} turns of ${dataset}, none of them trained on`);
  printLine();
  printTable(walks.map(walkRow));
  printLine();
  const { record } = questions[0]!;
  printLine(
    `Questions about the graph: ${record.n} of ${record.dataset}, ${record.subsets.join(', ')}, none of them trained on`,
  );
  printLine();
  printTable(questions.map((row) => questionRow(row, allQuestions)));
  printLine();
  printLine(
    'Percent, of the validation split; brackets: 95 % intervals. Calls of the language model, its tokens and time: a question.',
  );
}

function walkRow({ name, record: { metrics } }: WalkRow): Row {
  return {
    agent: name,
    'path@1': bracketed(metrics['path@1']),
    'target@1': bracketed(metrics['target@1']),
    how: aboutWalks[name] ?? '',
  };
}

function questionRow({ name, folder, record }: QuestionRowOf, all: readonly QuestionRowOf[]): Row {
  const { metrics, cost, model } = record;
  const onAll = all.find((one) => one.name === name)?.record;
  const tokens = (cost.promptTokens?.mean ?? 0) + (cost.completionTokens?.mean ?? 0);
  const ms = loadEvaluation(folder).speed?.msPerQuestion;
  return {
    agent: name,
    'hit@1': bracketed(metrics['hit@1']),
    f1: percent(metrics.f1),
    calls: (metrics['calls.mean']?.value ?? 0).toFixed(1),
    tokens: tokens.toFixed(0),
    time: ms === undefined ? '' : duration(ms),
    ...(all.length > 0 && { [`hit@1 of all ${all[0]!.record.n}`]: bracketed(onAll?.metrics['hit@1']) }),
    how: model === undefined ? (aboutQuestions[name] ?? '') : 'prompts',
  };
}

const duration = (ms: number) => (ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`);

const bracketed = (estimate: Estimate | undefined) =>
  estimate && `${percent(estimate)} [${share(estimate.low)}, ${share(estimate.high)}]`;

const percent = (estimate: Estimate | undefined) => estimate && share(estimate.value);

const share = (value: number) => (100 * value).toFixed(1);

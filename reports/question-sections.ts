/** What the page says of questions: results set by set, noise, worked questions, what was asked. */
import { stringify } from 'yaml';
import type { EvaluationData } from './evaluation-data.js';
import { figureNames } from './figure-names.js';
import type { PartView, QuestionExampleView, ResultView, RunView } from './html.js';
import { collectNoise, noiseFigures, noiseTable } from './noise.js';
import type { Draw } from './pictures.js';
import { questionExamples } from './question-examples.js';
import { callCurves, questionBars } from './question-figures.js';
import { titleOfQuestions } from './question-results.js';
import type { QuestionSet } from './question-results.js';
import { kindTable, missTable, phaseTable, questionFacts, questionTable, stopTable } from './question-tables.js';

/** Every set; of simulations under several error rates, all but the first are folded. */
export async function questionResults(sets: readonly QuestionSet[], draw: Draw): Promise<ResultView[]> {
  const views: ResultView[] = [];
  for (const [i, set] of sets.entries()) {
    const name = fileNameOf(set, i);
    const first = sets.findIndex(({ questions, simulated }) => simulated && questions === set.questions);
    const what = set.rows.length > 1 ? `${figureNames[set.main]}, %,` : 'Figures';
    const parts: PartView[] = [
      { figures: await draw([questionBars(set, name)]), small: true },
      { table: questionTable(set), caption: tableCaption(set) },
      { heading: 'What calls buy', figures: await draw(callCurves(set, name)) },
      { heading: `${what} by kind of question`, table: kindTable(set, false) },
      { heading: `${what} by type of question`, table: kindTable(set, true), folded: true },
      { heading: 'Misses, % of questions by the first reason that applies', table: missTable(set) },
      { heading: 'How questions ended', table: stopTable(set) },
      { heading: 'Calls by phase, and how their replies were read', table: phaseTable(set) },
      { heading: 'What was asked', facts: questionFacts(set) },
    ];
    views.push({
      title: titleOfQuestions(set),
      folded: set.simulated && first !== i,
      parts: parts
        .filter(({ figures, table }) => figures?.length !== 0 && table?.rows.length !== 0)
        .map((part) => (set.simulated && part.heading ? { ...part, heading: `${part.heading} (simulated)` } : part)),
    });
  }
  return views;
}

/** Accuracy and calls against the error rate of a simulated model, for questions asked under several. */
export async function noiseResults(sets: readonly QuestionSet[], draw: Draw): Promise<ResultView[]> {
  const views: ResultView[] = [];
  for (const [i, noise] of collectNoise(sets).entries()) {
    const { dataset, subsets, split } = noise.set;
    views.push({
      title: `${dataset}, ${subsets.join(' + ')}, ${split}, simulated`,
      parts: [
        { figures: await draw([noiseFigures(noise, fileNameOf(noise.set, i))]) },
        {
          table: noiseTable(noise),
          caption:
            'Below each figure: 95\u00a0% bootstrap interval over questions, complete match in percent, mean calls a question.',
        },
      ],
    });
  }
  return views;
}

/** Of every set of questions the first worked ones, at the smallest error rate. */
export function workedQuestions(sets: readonly QuestionSet[]): QuestionExampleView[] {
  return sets
    .filter(
      (set, i) => !set.simulated || sets.findIndex((one) => one.simulated && one.questions === set.questions) === i,
    )
    .flatMap(questionExamples);
}

/** How to see again what was asked. */
export function evaluationsView(evaluations: readonly EvaluationData[]): RunView[] {
  if (evaluations.length === 0) return [];
  const hashes = new Set(
    evaluations.flatMap(({ record }) =>
      Object.entries(record.hashes).map(([name, hash]) => `${name} ${hash.slice(0, 12)}`),
    ),
  );
  return [
    {
      title: 'Evaluations of questions',
      command: evaluations.map(({ name }) => `npx kgwalk replay ${name}`).join('\n'),
      environment: [...hashes].map((hash) => ({
        name: hash.slice(0, hash.lastIndexOf(' ')),
        value: hash.slice(hash.lastIndexOf(' ') + 1),
      })),
      config: stringify(
        evaluations.map(({ name, record }) => ({
          name,
          ...Object.fromEntries(asked.map((key) => [key, record[key]])),
        })),
      ).trimEnd(),
    },
  ];
}

/** What of a record decided it. */
const asked = [
  'agent',
  'dataset',
  'subsets',
  'split',
  'holdOut',
  'limit',
  'seed',
  'model',
  'simulated',
  'budget',
  'budgetMode',
  'switches',
  'topicGiven',
  'hopsWithheld',
] as const;

function tableCaption({ simulated, rows }: QuestionSet): string {
  const asks = rows.some(({ model }) => model !== undefined);
  return [
    'Percent of all questions, whatever went wrong included. Below each figure: 95\u00a0% bootstrap interval over questions, averaged over seeds where there are several, then ± the standard deviation over seeds.',
    'Partial and complete match are lenient: the share of right answers that are somewhere in the reply, and whether all are.',
    asks &&
      'Calls and tokens are means a question; at cap: questions that spent their budget; cached: share of the prompt tokens.',
    rows.some(({ speed }) => speed) && 'Time is wall time a question, preparing included.',
    simulated &&
      'Simulated: the model knows the gold. These figures compare algorithms and say nothing of any language model.',
  ]
    .filter(Boolean)
    .join(' ');
}

function fileNameOf({ dataset, subsets, split, model }: QuestionSet, i: number): string {
  return ['questions', String(i + 1), dataset, ...subsets, split, ...(model === undefined ? [] : [model])].join('-');
}

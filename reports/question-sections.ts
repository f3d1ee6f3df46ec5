/** What the page says of questions: results set by set, noise, worked questions. */
import type { QuestionExample } from '../src/run/question-records.js';
import type { PartView, QuestionExampleView, ResultView, SaidView } from './html.js';
import { collectNoise, noiseFigures, noiseTable } from './noise.js';
import type { Draw } from './pictures.js';
import { costFigures, firstBars, otherFigures, questionBars } from './question-figures.js';
import { titleOfQuestions, type QuestionSet } from './question-results.js';
import {
  kindTable,
  missTable,
  phaseTable,
  questionFacts,
  questionTable,
  scoreTable,
  stopTable,
} from './question-tables.js';
import { chainText, figureNames, plain } from './words.js';

/** Every set; folded are simulations but the first, and agents alone where the first set has several. */
export async function questionResults(sets: readonly QuestionSet[], draw: Draw): Promise<ResultView[]> {
  const views: ResultView[] = [];
  for (const [i, set] of sets.entries()) {
    const name = fileNameOf(set, i);
    const first = sets.findIndex(({ questions, simulated }) => simulated && questions === set.questions);
    const isLesser = i > 0 && set.rows.length === 1 && sets[0]!.rows.length > 1;
    const what = set.rows.length > 1 ? `${figureNames[set.main]}, %,` : 'Figures';
    const parts: PartView[] = [
      { table: questionTable(set), caption: tableCaption(set) },
      { figures: await draw(questionBars(set, name, firstBars)) },
      { heading: 'Quality against cost', figures: await draw(costFigures(set, name)) },
      { heading: `${what} by kind of question`, table: kindTable(set, false) },
      {
        heading: 'All figures',
        figures: await draw(otherFigures(set, name)),
        table: scoreTable(set),
        caption: scoreCaption,
        folded: true,
      },
      { heading: `${what} by type of question`, table: kindTable(set, true), folded: true },
      { heading: 'Misses, % of questions by the first reason that applies', table: missTable(set), folded: true },
      { heading: 'How questions ended', table: stopTable(set), folded: true },
      { heading: 'Calls by phase, and how their replies were read', table: phaseTable(set), folded: true },
      { heading: 'What was asked', facts: questionFacts(set), folded: true },
    ];
    views.push({
      title: titleOfQuestions(set),
      folded: (set.simulated && first !== i) || isLesser,
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

const scoreCaption =
  'Partial and complete match are lenient: the share of right answers that are somewhere in the reply, and whether all are.';

function tableCaption({ simulated, rows }: QuestionSet): string {
  const asks = rows.some(({ model }) => model !== undefined);
  return [
    'Percent of all questions, whatever went wrong included. Below each figure: 95\u00a0% bootstrap interval over questions, averaged over seeds where there are several, then ± the standard deviation over seeds.',
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

/** Questions that are shown of every set. */
const shown = 4;

/** The first worked questions of a set, with the answers of all agents that have them. */
function questionExamples(set: QuestionSet): QuestionExampleView[] {
  const { rows } = set;
  const first = rows.find(({ examples }) => examples.length > 0);
  return (first?.examples ?? []).slice(0, shown).map((example) => ({
    id: `${titleOfQuestions(set)}, ${example.id}${example.type === undefined ? '' : `, ${example.type}`}`,
    question: example.question,
    topics: example.topics.join('; '),
    gold: listed(example.gold, example.golds),
    goldChain: chainText(example.goldChain ?? []),
    said: rows.flatMap(({ label, model, simulated, examples }): SaidView[] => {
      const own = examples.find(({ id }) => id === example.id);
      if (!own) return [];
      const asked = model === undefined ? '' : simulated ? `${model}, simulated` : model;
      return [{ agent: label, model: asked, ...saidView(own) }];
    }),
  }));
}

function saidView(example: QuestionExample): Omit<SaidView, 'agent' | 'model'> {
  const { right, exact, miss, answer, answers, chain, evidence, calls, stop, steps } = example;
  const tokens = calls.reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + completionTokens, 0);
  return {
    right,
    verdict: right ? (exact ? 'right' : 'right, not exact') : (miss ?? 'wrong').replaceAll('-', ' '),
    answer: answer.length > 0 ? listed(answer, answers) : 'no answer',
    chain: chainText(chain ?? []),
    evidence: evidence.map((fact) => `${fact[0]} ${chainText([fact[1]])} ${fact[2]}`),
    cost: `${plain(calls.length)} ${calls.length === 1 ? 'call' : 'calls'}${tokens > 0 ? `, ${plain(tokens)} tokens` : ''}; ended by ${stop}`,
    calls: calls.map(
      ({ phase, stage, promptTokens, completionTokens }) =>
        `${phase}: ${plain(promptTokens)} tokens in, ${plain(completionTokens)} out, reply ${stage.replace('-', ' ')}`,
    ),
    steps,
  };
}

function listed(names: readonly string[], count: number): string {
  const more = count - names.length;
  return names.join('; ') + (more > 0 ? ` … and ${plain(more)} more` : '');
}

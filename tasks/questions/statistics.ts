/** Text of an import and of the statistics of a question data set. */
import { loadQuestionDataset, parseDatasetName } from '../../datasets/questions/question-dataset.js';
import type { QuestionManifest } from '../../datasets/questions/question-manifest.js';
import {
  questionStatistics as statisticsOf,
  type SubsetStatistics,
  type TopicRule,
} from '../../datasets/questions/question-statistics.js';
import { printable } from '../../src/run/printable.js';
import { noteLines, type Shown, ShownPage } from '../task.js';

/** Imported and excluded questions. */
export function questionsImported(manifest: QuestionManifest): Shown {
  const { name, licence, labels, subsets, graphs, notes = [] } = manifest;
  const page = new ShownPage(manifest);
  page.line([`imported ${name}`, `licence: ${licence}`, ...labels].join(' · '));
  page.table(
    Object.entries(subsets).flatMap(([subset, { graph, files }]) =>
      Object.entries(files).map(([file, counts]) => ({
        subset,
        file,
        graph,
        questions: counts.questions,
        dropped: reasons(counts.dropped),
        'topics not in the graph': counts.topicsNotInGraph,
        'answers not in the graph': counts.answersNotInGraph,
      })),
    ),
  );
  page.line();
  [...graphLines(graphs), ...noteLines(notes)].forEach((line) => page.line(line));
  return page;
}

/** Splits, answers, templates, gold chains and reach, a column a subset. @param text such as `metaqa/2-hop` */
export async function questionStatistics(text: string): Promise<Shown> {
  const { name, subsets: wanted } = parseDatasetName(text);
  const statistics = await statisticsOf(loadQuestionDataset(name), wanted);
  const { dataset, labels, topicsReturn, graphs, subsets } = statistics;
  const page = new ShownPage(statistics);
  page.line([dataset, ...labels].join(' · '));
  graphLines(graphs).forEach((line) => page.line(line));
  page.line();
  const columns = Object.entries(subsets);
  const splits = [...new Set(columns.flatMap(([, { splits: of }]) => Object.keys(of)))];
  const rows: [label: string, cell: (subset: SubsetStatistics) => string | number][] = [
    ['questions', ({ questions }) => questions],
    ...splits.map((split): (typeof rows)[number] => [`  ${split}`, ({ splits: of }) => of[split] ?? 0]),
    ['  of the form true or false', ({ truth }) => truth],
    ['topics not in the graph', (subset) => subset.topicsNotInGraph],
    ['answers not in the graph', (subset) => subset.answersNotInGraph],
    [
      'answers (mean/median/max)',
      ({ answers, questions, truth }) =>
        questions === truth ? '' : `${answers.mean.toFixed(2)} / ${answers.median} / ${answers.max}`,
    ],
    ['one answer', ({ singleAnswer }) => percent(singleAnswer)],
    ['templates', ({ templates }) => templates],
    ['types', ({ types }) => types],
    [
      'answers within 1, 2, 3 hops',
      ({ reach }) =>
        reach.questions === 0 ? '' : ([1, 2, 3] as const).map((k) => percent(reach.within[k])).join(', '),
    ],
    ['  over questions', ({ reach }) => reach.questions],
    ['with a gold chain', ({ chains }) => chains.questions],
  ];
  page.labelled(rows, subsets);
  page.table(
    columns.flatMap(([subset, { chains }]) => chainRows(subset, chains)),
    `Gold chains, executed (here topics ${topicsReturn ? 'stay' : 'leave every frontier'})`,
  );
  return page;
}

const ruleTexts: readonly [TopicRule, string][] = [
  ['leave', 'leave every frontier'],
  ['leave at the end', 'leave the last one only'],
  ['stay', 'stay'],
];

function chainRows(subset: string, { questions, rules }: SubsetStatistics['chains']) {
  if (questions === 0) return [];
  return ruleTexts.map(([rule, text]) => ({
    subset,
    topics: text,
    executable: percent(rules[rule].executable),
    'Hit@1': percent(rules[rule].hit1),
    F1: percent(rules[rule].f1),
    'exact set': percent(rules[rule].exact),
  }));
}

function graphLines(graphs: QuestionManifest['graphs']): string[] {
  return Object.entries(graphs).map(
    ([graph, { entities, relations, triples, note }]) =>
      `graph ${graph}: ${entities} entities, ${relations} relations, ${triples} triples; ${printable(note)}`,
  );
}

function reasons(dropped: Readonly<Record<string, number>>): string {
  const listed = Object.entries(dropped).filter(([, count]) => count > 0);
  return listed.map(([reason, count]) => `${count} ${reason}`).join(', ') || 'none';
}

/** Blank where nothing was counted. */
const percent = (share: number | null) => (share === null ? '' : `${(100 * share).toFixed(2)} %`);

/** A data set in a list. */
export function listedQuestions({ name, subsets, labels, graphs, licence }: QuestionManifest): Record<string, string> {
  const counts = Object.entries(subsets).map(([subset, { files }]) => {
    const questions = Object.values(files).reduce((sum, file) => sum + file.questions, 0);
    return `${subset} ${questions}`;
  });
  const holds = ['questions', counts.join(', '), ...labels.map((label) => `(${label})`)].join(' ');
  return { name, holds, graphs: Object.keys(graphs).join(', '), licence };
}

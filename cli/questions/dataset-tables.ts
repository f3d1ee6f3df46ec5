/** What an import and the statistics of a question data set look like in a terminal. */
import type { QuestionStatistics, SubsetStatistics, TopicRule } from '../../datasets/questions/question-statistics.js';
import type { QuestionManifest } from '../../datasets/questions/question-manifest.js';
import { printable } from '../../src/run/printable.js';
import { printLine, printTable } from '../output.js';

/** What was imported and what was left out. */
export function printQuestionImport({ name, licence, labels, subsets, graphs }: QuestionManifest): void {
  printLine([`imported ${name}`, `licence: ${licence}`, ...labels].join(' · '));
  printLine();
  printTable(
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
  printLine();
  printGraphs(graphs);
}

/** Splits, answers, templates, gold chains and reach, a column a subset. */
export function printQuestionStatistics({ dataset, labels, topicsReturn, graphs, subsets }: QuestionStatistics): void {
  printLine([dataset, ...labels].join(' · '));
  printGraphs(graphs);
  printLine();
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
  printTable(
    rows.map(([label, cell]) => ({
      '': label,
      ...Object.fromEntries(columns.map(([subset, statistics]) => [subset, String(cell(statistics))])),
    })),
  );
  printLine();
  printLine(`Gold chains, executed (here topics ${topicsReturn ? 'stay' : 'leave every frontier'})`);
  printTable(columns.flatMap(([subset, { chains }]) => chainRows(subset, chains)));
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

function printGraphs(graphs: QuestionManifest['graphs']): void {
  for (const [graph, { entities, relations, triples, note }] of Object.entries(graphs)) {
    printLine(`graph ${graph}: ${entities} entities, ${relations} relations, ${triples} triples; ${printable(note)}`);
  }
}

function reasons(dropped: Readonly<Record<string, number>>): string {
  const told = Object.entries(dropped).filter(([, count]) => count > 0);
  return told.map(([reason, count]) => `${count} ${reason}`).join(', ') || 'none';
}

/** Blank where nothing was counted. */
const percent = (share: number | null) => (share === null ? '' : `${(100 * share).toFixed(2)} %`);

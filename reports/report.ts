/** The report of runs and evaluations: pictures, tables and one page of HTML that works offline. */
import { join } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import type { RunInfo } from '../src/run/records.js';
import { loadEvaluation } from './evaluation-data.js';
import type { EvaluationData } from './evaluation-data.js';
import { environmentView } from './environment.js';
import { exampleView } from './examples.js';
import type { Fact, FigureGroup, PageView, PartView, ResultView } from './html.js';
import { renderPage } from './html.js';
import { diagnosticFigures, learningFigures } from './learning-figures.js';
import { paperTables } from './llm-ark-tables.js';
import { plain } from './numbers.js';
import { pictureDrawer } from './pictures.js';
import { collectQuestions } from './question-results.js';
import type { QuestionSet } from './question-results.js';
import { noiseResults, questionResults, workedQuestions } from './question-sections.js';
import { questionFacts } from './question-tables.js';
import { resultFigures } from './result-figures.js';
import type { ResultSet } from './results.js';
import { collectResults, mainRow } from './results.js';
import type { RunGroup } from './run-data.js';
import { groupRuns, isOnQuestions, loadRunData, seedOf } from './run-data.js';
import { settingsKey } from './run-names.js';
import { nothingEvaluated, questionResult, reservations, walkResult } from './summary.js';
import { agentCostTable, agentTable, coverageFacts, phaseCostTable, sliceTable } from './tables.js';
import { askedQuestions, trainedOnDialogues } from './what-was-done.js';

/** Paths of the page and its pictures. */
export interface Report {
  /** The page, `index.html`. */
  page: string;
  /** The charts as PNG files beside it; the page holds its own copies. */
  pictures: string[];
}

/** Where the page goes, and what is shown beside the runs. */
export interface ReportOptions {
  /** Folder, made where it is missing; files of the same names are replaced. */
  to: string;
  /** Folders of finished evaluations of questions. */
  evaluations?: readonly string[];
  /** Of the page. Default: what it is about. */
  title?: string;
}

/**
 * Writes the report of runs, on dialogues or on questions, and of evaluations of questions. Runs that differ only in the
 * seed are averaged, with curves over seeds.
 * @throws {WorkbenchError} `usage` without anything to report, `data` for a broken folder, `native` where charts cannot be drawn
 */
export async function writeReport(
  runs: readonly RunInfo[],
  { to, evaluations = [], title }: ReportOptions,
): Promise<Report> {
  if (runs.length + evaluations.length === 0)
    throw new WorkbenchError('usage', 'expected at least one run or evaluation, got none, at report');
  const loaded = runs.map(loadRunData);
  const dialogues = groupRuns(loaded.filter((run) => !isOnQuestions(run)));
  const questions = groupRuns(loaded.filter(isOnQuestions));
  const groups = [...dialogues, ...questions];
  const sets = collectResults(dialogues);
  const saved = evaluations.map((folder) => loadEvaluation(folder));
  const asked = collectQuestions([...loaded.flatMap(({ answered }) => answered), ...saved].map(namedBy(questions)));
  const pictures: string[] = [];
  const draw = pictureDrawer(to, pictures);
  const about = (kind: string) => (dialogues.length > 0 && questions.length > 0 ? kind : undefined);

  const results: ResultView[] = [];
  for (const set of sets) {
    const [first, others] = [true, false].map((isFirst) => resultFigures(set, fileNameOf(set), isFirst));
    const figures = { first: await draw(first!), others: await draw(others!) };
    results.push(resultView(set, figures, paperTables(set, dialogues), set !== sets[0]));
  }
  const valid = sets.find(({ split }) => split.includes('valid'));
  const main = sets[0] && mainRow(sets[0]);
  const view: PageView = {
    title: title ?? titleOfPage({ dialogues, questions, sets, asked }),
    ...openingOf(dialogues, questions, { walks: sets[0], asked: asked[0] }),
    facts: factsOf(sets[0], groups, asked),
    results: [...results, ...(await questionResults(asked, draw))],
    noise: await noiseResults(asked, draw),
    curves: await draw([
      ...learningFigures(dialogues, valid, about('dialogues')),
      ...learningFigures(questions, undefined, about('questions')),
    ]),
    examples: (main?.record.examples ?? []).slice(0, shownExamples).map(exampleView),
    examplesCaption: main
      ? `${main.label} on ${titleOf(sets[0]!)}, drawn by seed. Each list is the top of the beam with its probabilities; green edges agree with the gold, the first that does not is red.`
      : '',
    questions: workedQuestions(asked),
    questionsCaption:
      'Drawn by seed, the same for every agent. “Right” is the first answer; “exact” is all of them and nothing else.',
    costs: [
      ...[dialogues, questions].map((some, i) => ({
        title: about(i === 0 ? 'dialogues' : 'questions')
          ? `Training on ${i === 0 ? 'dialogues' : 'questions'}`
          : 'Training',
        table: phaseCostTable(some),
      })),
      ...sets.map((set) => ({ title: `Answering: ${titleOf(set)}`, table: agentCostTable(set) })),
    ].filter(({ table }) => table.rows.length > 0),
    ...environmentView(groups, saved),
    diagnostics: await draw([
      ...diagnosticFigures(dialogues, about('dialogues')),
      ...diagnosticFigures(questions, about('questions')),
    ]),
  };
  const page = join(to, 'index.html');
  writeFileAtomic(page, renderPage(view));
  return { page, pictures };
}

/** Walks that are shown worked out. */
const shownExamples = 6;

/** The first words of the page. */
function openingOf(
  dialogues: readonly RunGroup[],
  questions: readonly RunGroup[],
  { walks, asked }: { walks: ResultSet | undefined; asked: QuestionSet | undefined },
): Pick<PageView, 'done' | 'result' | 'reservations'> {
  const found = [...(walks ? [walkResult(walks) ?? []].flat() : []), ...(asked ? [questionResult(asked)] : [])].join(
    '; ',
  );
  const result = found === '' ? nothingEvaluated([...dialogues, ...questions]) : `${found}.`;
  return {
    done: [
      ...(dialogues.length > 0 ? [trainedOnDialogues(dialogues, walks)] : []),
      ...(questions.length > 0 || asked ? [askedQuestions(questions, asked)] : []),
    ].join(' '),
    result: result[0]!.toUpperCase() + result.slice(1),
    reservations: reservations(walks, dialogues, asked).join(' '),
  };
}

/** Gives trained agents the names that the report has for their settings. */
function namedBy(groups: readonly RunGroup[]): (one: EvaluationData) => EvaluationData {
  const labels = new Map(groups.map(({ label, runs }) => [settingsKey(runs[0]!.info.config), label]));
  return (one) => {
    const label = one.trained && labels.get(one.trained.settings);
    return label === undefined ? one : { ...one, trained: { ...one.trained!, label } };
  };
}

interface Found {
  dialogues: readonly RunGroup[];
  questions: readonly RunGroup[];
  sets: readonly ResultSet[];
  asked: readonly QuestionSet[];
}

function titleOfPage({ dialogues, questions, sets: walked, asked }: Found): string {
  const sets = [...new Set(asked.map(({ dataset }) => dataset))].join(', ');
  if (dialogues.length > 0 && (questions.length > 0 || sets !== '')) {
    const walks = [...new Set(walked.map(({ dataset }) => dataset))].join(', ');
    return `Walks on ${walks || nameOf(dialogues)}, questions on ${sets || nameOf(questions)}`;
  }
  const groups = [...dialogues, ...questions];
  if (groups.length > 1) return `${groups.length} settings compared`;
  const agents = [...new Set(asked.flatMap(({ rows }) => rows.map(({ label }) => label)))];
  if (agents.length > 1) return `${agents.length} agents on ${sets}`;
  return groups[0]?.label ?? `${agents[0]!} on ${sets}`;
}

function nameOf(groups: readonly RunGroup[]): string {
  return groups.length > 1 ? `${groups.length} settings` : groups[0]!.label;
}

/** @param folded of sets after the first */
function resultView(
  set: ResultSet,
  figures: Record<'first' | 'others', FigureGroup[]>,
  beside: readonly PartView[],
  folded: boolean,
): ResultView {
  const main = mainRow(set)!;
  const baseline = set.rows.find((row) => !row.own && row !== main);
  const slices = sliceTable(main, baseline);
  return {
    title: titleOf(set),
    folded,
    parts: [
      {
        table: agentTable(set),
        caption: captionOf(set),
      },
      { figures: figures.first },
      ...beside,
      { heading: 'All figures, for every k', figures: figures.others, table: agentTable(set, true), folded: true },
      ...(slices.rows.length > 0 ? [{ heading: `By kind of sample: ${main.label}`, table: slices, folded: true }] : []),
      { heading: 'What can be answered at all', facts: coverageFacts(set), folded: true },
    ],
  };
}

function captionOf({ rows }: ResultSet): string {
  const counted = rows.filter(({ arkCounted }) => arkCounted > 0);
  const partly = counted.some(({ arkCounted, seeds }) => arkCounted < seeds)
    ? ' They are left out where not all seeds were counted so.'
    : '';
  const ark =
    ' ark-path, target-any and ark-target repeat the bookkeeping of LLM-ARK’s published code (ark-target: for the end of the gold’s first hop): they compare with that paper alone, and with no other column.';
  return `Percent of all samples, failures included. Below each figure: 95\u00a0% bootstrap interval over dialogues, averaged over seeds where there are several, then ± the standard deviation over seeds.${counted.length > 0 ? ark + partly : ''}`;
}

function titleOf({ dataset, split, graph, turns }: ResultSet): string {
  return `${dataset}, ${split}, graph ${graph}, ${turns === 'all' ? 'all turns' : `${turns} turns`}`;
}

function fileNameOf({ dataset, split, graph, turns, n }: ResultSet): string {
  return [dataset, split, graph, turns, n].join('-');
}

function factsOf(set: ResultSet | undefined, groups: readonly RunGroup[], asked: readonly QuestionSet[]): Fact[] {
  const runs = groups.flatMap(({ runs: members }) => members);
  const facts = [
    ...(runs.length > 0
      ? [
          { name: 'runs', value: plain(runs.length) },
          { name: 'seeds', value: [...new Set(runs.map(seedOf))].sort((a, b) => Number(a) - Number(b)).join(', ') },
        ]
      : []),
    ...(set ? [] : asked.slice(0, 1).flatMap(questionFacts)),
  ];
  if (!set) return facts;
  return [
    { name: 'data set', value: set.dataset },
    { name: 'graph', value: set.graph },
    { name: 'split', value: set.split },
    { name: 'turns', value: set.turns },
    { name: 'samples', value: plain(set.n) },
    { name: 'beam', value: plain(set.rows[0]!.record.beamWidth) },
    ...facts,
  ];
}

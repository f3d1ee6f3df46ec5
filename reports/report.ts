/** The report of runs and evaluations: pictures, tables and one page of HTML that works offline. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import type { RunInfo } from '../src/run/records.js';
import { loadEvaluation } from './evaluation-data.js';
import type { EvaluationData } from './evaluation-data.js';
import { exampleView } from './examples.js';
import { diagnosticFigures, learningFigures, resultFigures } from './figures.js';
import type { Fact, FigureGroup, PageView, ResultView } from './html.js';
import { renderPage } from './html.js';
import { plain } from './numbers.js';
import { pictureDrawer } from './pictures.js';
import { collectQuestions } from './question-results.js';
import type { QuestionSet } from './question-results.js';
import { evaluationsView, noiseResults, questionResults, workedQuestions } from './question-sections.js';
import { questionSummary } from './question-summary.js';
import { questionFacts } from './question-tables.js';
import type { ResultSet } from './results.js';
import { collectResults, mainRow } from './results.js';
import type { RunGroup } from './run-data.js';
import { groupRuns, isOnQuestions, loadRunData, seedOf } from './run-data.js';
import { settingsKey } from './run-names.js';
import { runView } from './run-view.js';
import { summaryOf } from './summary.js';
import { agentCostTable, agentTable, coverageFacts, phaseCostTable, sliceTable } from './tables.js';

export interface Report {
  /** The page, `index.html`. */
  page: string;
  /** The charts as PNG files beside it; the page holds its own copies. */
  pictures: string[];
}

export interface ReportOptions {
  /** Folder, made where it is missing; files of the same names are replaced. */
  to: string;
  /** Folders of finished evaluations of questions. */
  evaluations?: readonly string[];
}

/**
 * Writes the report of runs, on dialogues or on questions, and of evaluations of questions. Runs that differ only in the
 * seed are averaged, with curves over seeds.
 * @throws {WorkbenchError} `usage` without anything to report, `data` for a broken folder, `native` where charts cannot be drawn
 */
export async function writeReport(runs: readonly RunInfo[], { to, evaluations = [] }: ReportOptions): Promise<Report> {
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
  mkdirSync(to, { recursive: true });
  const draw = pictureDrawer(to, pictures);
  const about = (kind: string) => (dialogues.length > 0 && questions.length > 0 ? kind : undefined);

  const results: ResultView[] = [];
  for (const set of sets) results.push(resultView(set, await draw(resultFigures(set, fileNameOf(set)))));
  const valid = sets.find(({ split }) => split.includes('valid'));
  const main = sets[0] && mainRow(sets[0]);
  const view: PageView = {
    title: titleOfPage(groups, asked),
    summary: [
      ...(dialogues.length > 0 ? [summaryOf(sets[0], dialogues)] : []),
      ...(asked[0] ? [questionSummary(asked[0])] : questions.length > 0 ? [summaryOf(undefined, questions)] : []),
    ].join(' '),
    facts: factsOf(sets[0], groups, asked),
    results: [...results, ...(await questionResults(asked, draw))],
    noise: await noiseResults(asked, draw),
    curves: await draw([
      ...learningFigures(dialogues, valid, about('dialogues')),
      ...learningFigures(questions, undefined, about('questions')),
    ]),
    diagnostics: await draw([
      ...diagnosticFigures(dialogues, about('dialogues')),
      ...diagnosticFigures(questions, about('questions')),
    ]),
    costs: [
      ...[dialogues, questions].map((some, i) => ({
        title: `Training${about(i === 0 ? ' on dialogues' : ' on questions') ?? ''}`,
        table: phaseCostTable(some),
      })),
      ...sets.map((set) => ({ title: `Answering: ${titleOf(set)}`, table: agentCostTable(set) })),
    ].filter(({ table }) => table.rows.length > 0),
    examples: (main?.record.examples ?? []).map(exampleView),
    examplesCaption: main
      ? `${main.label} on ${titleOf(sets[0]!)}, drawn by seed. Each list is the top of the beam with its probabilities; green edges agree with the gold, the first that does not is red.`
      : '',
    questions: workedQuestions(asked),
    questionsCaption:
      'Drawn by seed, the same for every agent. “Right” is the first answer; “exact” is all of them and nothing else.',
    runs: [...groups.flatMap(({ runs: members }) => members.map(runView)), ...evaluationsView(saved)],
  };
  const page = join(to, 'index.html');
  writeFileAtomic(page, renderPage(view));
  return { page, pictures };
}

/** Gives trained agents the names that the report has for their settings. */
function namedBy(groups: readonly RunGroup[]): (one: EvaluationData) => EvaluationData {
  const labels = new Map(groups.map(({ label, runs }) => [settingsKey(runs[0]!.info.config), label]));
  return (one) => {
    const label = one.trained && labels.get(one.trained.settings);
    return label === undefined ? one : { ...one, trained: { ...one.trained!, label } };
  };
}

function titleOfPage(groups: readonly RunGroup[], asked: readonly QuestionSet[]): string {
  if (groups.length > 1) return `${groups.length} settings compared`;
  if (groups[0]) return groups[0].label;
  const agents = [...new Set(asked.flatMap(({ rows }) => rows.map(({ label }) => label)))];
  const datasets = [...new Set(asked.map(({ dataset }) => dataset))];
  return `${agents.length > 1 ? `${agents.length} agents` : agents[0]!} on ${datasets.join(', ')}`;
}

function resultView(set: ResultSet, figures: FigureGroup[]): ResultView {
  const main = mainRow(set)!;
  const baseline = set.rows.find((row) => !row.own && row !== main);
  const slices = sliceTable(main, baseline);
  return {
    title: titleOf(set),
    parts: [
      {
        figures,
        small: true,
        table: agentTable(set),
        caption:
          'Percent of all samples, failures included. Below each figure: 95\u00a0% bootstrap interval over dialogues, averaged over seeds where there are several, then ± the standard deviation over seeds.',
      },
      ...(slices.rows.length > 0 ? [{ heading: `By kind of sample: ${main.label}`, table: slices }] : []),
      { heading: 'What can be answered at all', facts: coverageFacts(set) },
    ],
  };
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
          { name: 'seeds', value: [...new Set(runs.map(seedOf))].join(', ') },
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

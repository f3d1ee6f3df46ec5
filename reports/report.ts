/** The report of runs and evaluations: charts, tables and one offline HTML page. */
import { join } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import type { RunInfo } from '../src/run/records.js';
import { diagnosticFigures, learningFigures, trainedOf } from './curves.js';
import { environmentView } from './environment.js';
import { firstWalk, workedExamples } from './examples.js';
import { renderPage, type PageView } from './html.js';
import { factsOf, openingOf, titleOfPage } from './intro.js';
import { pictureDrawer, type Drawn } from './pictures.js';
import { overSetsViews } from './over-sets.js';
import { fiske } from './papers/fiske.js';
import { llmArk } from './papers/llm-ark.js';
import { selfVeqa } from './papers/self-veqa.js';
import { paperViews } from './papers/table.js';
import { collectResults } from './results.js';
import { type Statistics, withStatistics } from './statistics.js';
import { loadEvaluation, loadRunData, subjectsOf, type EvaluationData, type Subject } from './run-data.js';
import { noiseViews, resultViews } from './sections.js';
import { agentCostTable, phaseCostTable, type Prices } from './tables.js';
import { settingsKey } from './format.js';

/** Paths of the page and its charts. */
export interface Report {
  page: string;
  /** Charts as PNG files next to it; the page embeds its own copies. */
  pictures: string[];
}

interface ReportOptions {
  /** Output folder, created if missing; files of the same names are replaced. */
  to: string;
  /** Folders of finished evaluations. */
  evaluations?: readonly string[];
  /** Title of the page. Default: its subject. */
  title?: string;
  /** Notice below the title. Default: which runs have not finished. */
  status?: string | undefined;
  /** Default: no tests, and intervals of these runs alone. */
  statistics?: Statistics;
  /** Default: costs are compared by processor time. */
  prices?: Prices | undefined;
}

/**
 * Writes the report of runs and evaluations of any task. Runs that differ only in the seed are averaged, with curves over seeds.
 * @throws {WorkbenchError} `usage` without anything to report, `data` for a broken folder, `native` if charts cannot be drawn
 */
export async function writeReport(
  runs: readonly RunInfo[],
  { to, evaluations = [], title, status, statistics, prices }: ReportOptions,
): Promise<Report> {
  if (runs.length + evaluations.length === 0)
    throw new WorkbenchError('usage', 'expected at least one run or evaluation, got none, at report');
  const loaded = runs.map(loadRunData);
  const subjects = subjectsOf(loaded);
  const saved = evaluations.map((folder) => loadEvaluation(folder));
  const all = [...loaded.flatMap((run) => run.evaluations), ...saved].map(namedBy(subjects));
  const collected = collectResults(all, subjects);
  const sets = statistics ? await withStatistics(collected, statistics) : collected;
  const trained = trainedOf(subjects, sets);
  const groups = subjects.flatMap((subject) => subject.groups);
  const drawn: Drawn = { pictures: [], plots: [] };
  const draw = pictureDrawer(to, drawn);
  const examples = workedExamples(sets);
  const opening = openingOf(subjects, sets);
  const view: PageView = {
    title: title ?? titleOfPage(subjects, sets),
    ...opening,
    status: status ?? opening.status,
    walk: firstWalk(examples),
    facts: factsOf(subjects, sets),
    results: [
      ...(await resultViews(sets, trained, draw)),
      ...(await overSetsViews(sets, draw)),
      ...[llmArk, selfVeqa, fiske].flatMap((paper) => paperViews(paper, sets)),
    ],
    noise: await noiseViews(sets, draw),
    curves: await draw(trained.flatMap(learningFigures)),
    examples,
    costs: [
      ...subjects.map(({ dataset, groups: own }) => ({
        title: subjects.length > 1 ? `Training on ${dataset}` : 'Training',
        table: phaseCostTable(own),
      })),
      ...sets.map((set) => ({ title: `Answering: ${set.title}`, table: agentCostTable(set, prices) })),
    ].filter(({ table }) => table.rows.length > 0),
    ...environmentView(groups, saved),
    diagnostics: await draw(trained.flatMap(diagnosticFigures)),
    plots: drawn.plots,
  };
  const page = join(to, 'index.html');
  writeFileAtomic(page, renderPage(view));
  return { page, pictures: drawn.pictures };
}

/** Renames trained agents to the report's names for their settings. */
function namedBy(subjects: readonly Subject[]): (one: EvaluationData) => EvaluationData {
  const groups = subjects.flatMap((subject) => subject.groups);
  const labels = new Map(groups.map(({ label, runs }) => [settingsKey(runs[0]!.info.config), label]));
  return (one) => {
    const label = one.trained && labels.get(one.trained.settings);
    return label === undefined ? one : { ...one, trained: { ...one.trained!, label } };
  };
}

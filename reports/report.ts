/** The report of runs and evaluations: pictures, tables and one page of HTML that works offline. */
import { join } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import type { RunInfo } from '../src/run/records.js';
import { diagnosticFigures, learningFigures } from './curves.js';
import { titleOfWalks, walkResults, workedWalks } from './dialogue-sections.js';
import { environmentView } from './environment.js';
import { renderPage, type PageView } from './html.js';
import { collectLinkSets, groupLinkRuns, titleOfLinks } from './link-results.js';
import { linkResults, workedLinks } from './link-sections.js';
import { linkCostTable } from './link-tables.js';
import { factsOf, openingOf, titleOfPage } from './opening.js';
import { pictureDrawer } from './pictures.js';
import { collectQuestions } from './question-results.js';
import { noiseResults, questionResults, workedQuestions } from './question-sections.js';
import { collectResults } from './results.js';
import {
  groupRuns,
  isLinkFolder,
  kindOf,
  loadEvaluation,
  loadLinkEvaluation,
  loadRunData,
  type EvaluationData,
  type RunGroup,
  type RunKind,
} from './run-data.js';
import { agentCostTable, phaseCostTable } from './tables.js';
import { settingsKey } from './words.js';

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
  /** Folders of finished evaluations, of questions or of link queries. */
  evaluations?: readonly string[];
  /** Of the page. Default: what it is about. */
  title?: string;
}

/**
 * Writes the report of runs, on dialogues, questions or link queries, and of evaluations of the last two. Runs that differ
 * only in the seed are averaged, with curves over seeds.
 * @throws {WorkbenchError} `usage` without anything to report, `data` for a broken folder, `native` where charts cannot be drawn
 */
export async function writeReport(
  runs: readonly RunInfo[],
  { to, evaluations = [], title }: ReportOptions,
): Promise<Report> {
  if (runs.length + evaluations.length === 0)
    throw new WorkbenchError('usage', 'expected at least one run or evaluation, got none, at report');
  const loaded = runs.map(loadRunData);
  const groupsOf = (kind: RunKind) => groupRuns(loaded.filter((run) => kindOf(run) === kind));
  const onLinks = groupLinkRuns(loaded.filter((run) => kindOf(run) === 'links'));
  const links = onLinks.flatMap(({ groups: some }) => some);
  const groups = { dialogues: groupsOf('dialogues'), questions: groupsOf('questions'), links };
  const ofLinks = evaluations.filter(isLinkFolder);
  const saved = evaluations.filter((folder) => !ofLinks.includes(folder)).map((folder) => loadEvaluation(folder));
  const found = {
    groups,
    walked: collectResults(groups.dialogues),
    asked: collectQuestions([...loaded.flatMap(({ answered }) => answered), ...saved].map(namedBy(groups.questions))),
    linked: collectLinkSets(onLinks, ofLinks.map(loadLinkEvaluation)),
  };
  const { walked, asked, linked } = found;
  const pictures: string[] = [];
  const draw = pictureDrawer(to, pictures);
  const drawnTogether = [
    { about: 'dialogues', some: groups.dialogues },
    { about: 'questions', some: groups.questions },
    ...onLinks.map(({ dataset, groups: some }) => ({ about: dataset, some })),
  ].filter(({ some }) => some.length > 0);
  const aboutOf = (about: string) => (drawnTogether.length > 1 ? about : undefined);
  const valid = walked.find(({ split }) => split.includes('valid'));

  const view: PageView = {
    title: title ?? titleOfPage(found),
    ...openingOf(found),
    facts: factsOf(found),
    results: [
      ...(await walkResults(walked, groups.dialogues, draw)),
      ...(await questionResults(asked, draw)),
      ...(await linkResults(linked, onLinks, draw)),
    ],
    noise: await noiseResults(asked, draw),
    curves: await draw(
      drawnTogether.flatMap(({ about, some }) =>
        learningFigures(some, some === groups.dialogues ? valid : undefined, aboutOf(about)),
      ),
    ),
    ...workedWalks(walked),
    questions: workedQuestions(asked),
    questionsCaption:
      'Drawn by seed, the same for every agent. “Right” is the first answer; “exact” is all of them and nothing else.',
    links: workedLinks(linked),
    linksCaption:
      'Drawn by seed. Each list is the head of the ranking: the probability of the best walk to an entity, and that walk; stays are left out. Green: a right answer; “right, too” is not the one that was asked for, and ranks leave it out.',
    costs: [
      ...drawnTogether.map(({ about, some }) => ({
        title: drawnTogether.length > 1 ? `Training on ${about}` : 'Training',
        table: phaseCostTable(some),
      })),
      ...walked.map((set) => ({ title: `Answering: ${titleOfWalks(set)}`, table: agentCostTable(set) })),
      ...linked.map((set) => ({ title: `Ranking: ${titleOfLinks(set)}`, table: linkCostTable(set) })),
    ].filter(({ table }) => table.rows.length > 0),
    ...environmentView(Object.values(groups).flat(), saved),
    diagnostics: await draw(drawnTogether.flatMap(({ about, some }) => diagnosticFigures(some, aboutOf(about)))),
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

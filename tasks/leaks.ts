/** Checks artifacts for leaks of a split. */
import {
  evaluationsFolder,
  evaluationsIn,
  readAsked,
  readEvaluation,
  readEvaluationNotes,
  runOf,
} from '../evaluation/keep.js';
import type { ArtifactRow } from '../evaluation/leaks/artifact-rows.js';
import {
  leakReport,
  type LeakReport,
  type LeakReportParts,
  type NotedAgent,
  seenUnseen,
  type SeenUnseen,
} from '../evaluation/leaks/leak-report.js';
import type { Measure, Row } from '../evaluation/score.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { Section } from '../src/run/evaluation.js';
import { type Estimate, intervalText, numberText } from '../src/run/figures.js';
import { printable } from '../src/run/printable.js';
import { readRunProvenance } from '../src/run/provenance.js';
import type { RunInfo } from '../src/run/records.js';
import { runFiles } from '../src/run/run-files.js';
import { findTrained } from './named-runs.js';
import { findRun } from '../src/run/run-folder.js';
import { type CheckedRun, type LeakCheck, membersOf, ShownPage } from './task.js';

/** Parts of a report, and what stands around it. */
export interface Checked extends Omit<LeakReportParts, 'dataset'> {
  /** Title of the check: `run first`. */
  title: string;
  /** Description of the graph from the data set. */
  note: string;
  /** Doubts that provenance cannot settle. */
  cannotExclude: string[];
}

/** The encoder and what it has read. */
export const encoderDoubt = (encoder: string | undefined): string[] =>
  encoder === undefined
    ? []
    : [`what the text encoder (${encoder}) was trained on: its makers alone know whether it has read these texts`];

/** @throws WorkbenchError `usage` where the run was trained on something else */
export function checkDataset(name: string, of: string | undefined, what: string): void {
  if (of === name) return;
  throw new WorkbenchError('usage', `expected the data set of ${what}, which is ${of ?? 'none'}, got ${name}`);
}

/** @throws WorkbenchError `data` where the graph is not the one of the run */
export function checkGraph(hash: string, { id, environment }: RunInfo): void {
  const of = environment.hashes.graph;
  if (of !== undefined && of !== hash) throw otherGraph(`run ${id}`, of, hash);
}

/** Says that what is checked walked another graph than the data set holds. */
export function otherGraph(what: string, of = 'none', hash: string): WorkbenchError {
  return new WorkbenchError('data', `expected the graph of ${what} (${of.slice(0, 12)}), got ${hash.slice(0, 12)}`, {
    hint: 'The data set has been imported again since then, from other files.',
  });
}

/** The finished evaluations of a split in a run's folder, and those of the run elsewhere, with what their agents were made from. */
export function evaluationsOn(
  { run, evaluations = evaluationsFolder() }: CheckedRun,
  dataset: string,
  split: string,
): { name: string; folder: string; noted: NotedAgent }[] {
  const isOfRun = ({ folder }: { folder: string }) => {
    const of = runOf(readAsked(folder));
    return of !== undefined && findRun(of)?.run.folder === run.folder;
  };
  const elsewhere = evaluationsIn(evaluations).filter(isOfRun);
  return [...evaluationsIn(runFiles(run.folder).evaluations), ...elsewhere]
    .filter(({ record }) => record.dataset === dataset && record.split === split)
    .map(({ name, folder: own, record }) => {
      const noted = { of: name, own: record.checkpoint !== undefined, record: readEvaluationNotes(own) };
      return { name, folder: own, noted };
    });
}

/** Provenance and scores of kept evaluations of a split, with the scores on targets that train lacks. */
export function notedEvaluations<R extends Row>(
  of: CheckedRun,
  measure: Measure<R>,
  by: { dataset: string; split: string; metric: string; seen: (row: R) => boolean | undefined },
): { agents: NotedAgent[]; targets: SeenUnseen[] } {
  const found = evaluationsOn(of, by.dataset, by.split);
  return {
    agents: found.map(({ noted }) => noted),
    targets: found.map(({ name, folder }) =>
      targetsOf(name, readEvaluation(folder, measure), measure, by.metric, by.seen),
    ),
  };
}

/** Scores on targets in train and on others. @param seen undefined: the row has no target */
export function targetsOf<R extends Row>(
  evaluation: string,
  { record, rows }: { record: { agent: string }; rows: readonly R[] },
  measure: Measure<R>,
  metric: string,
  seen: (row: R) => boolean | undefined,
): SeenUnseen {
  const valueOf = measure.valueOf(metric);
  const scored = rows.flatMap((row) => {
    const [score, isSeen] = [valueOf(row), seen(row)];
    return score === undefined || isSeen === undefined ? [] : [{ cluster: measure.cluster(row), seen: isSeen, score }];
  });
  return seenUnseen({ evaluation, agent: record.agent, metric }, scored);
}

/** Provenance of a run. */
export const notedRun = (run: RunInfo): NotedAgent => ({ of: 'run', own: true, record: readRunProvenance(run) });

/** Identity and provenance of an evaluation, with the run of its agent if it still exists. */
export function notedEvaluation(name: string, folder: string) {
  const asked = readAsked(folder);
  const { agent, about } = asked;
  const run = runOf(asked);
  checkDataset(name, about.dataset, 'the evaluation');
  const found = run === undefined ? undefined : findTrained(run, '');
  const members = found ? membersOf(found).map((one) => one.run) : [];
  const agents: NotedAgent[] = [{ of: agent, own: true, record: readEvaluationNotes(folder) }];
  const several = members.length > 1;
  for (const one of members) agents.push({ ...notedRun(one), ...(several && { of: `run ${one.id}` }) });
  if (run !== undefined && members.length === 0) agents.push({ of: 'run', own: true, record: undefined });
  return { ...asked, run, title: `evaluation of ${agent}`, agents, members, trained: members[0] };
}

/** Artifacts with their verdicts, then what they cannot show: never that there is no leak. */
export function leakCheck(dataset: string, checked: Checked): LeakCheck {
  const report = leakReport({ dataset, ...checked });
  const { title, note, cannotExclude } = checked;
  const page = new ShownPage({ ...report, cannotExclude });
  const { graph, split, samples, artifacts, found, unknown, notNoted } = report;
  page.line(
    `${printable(title)} · ${dataset}, graph ${graph} · what does it know of split ${split} (${samples} samples)?`,
  );
  page.line();
  for (const of of unknown)
    page.line(`${printable(of)}: nothing is known of what it was made from: it keeps no provenance.json`);
  if (artifacts.length > 0) page.table(artifacts.map((row) => artifactRow(row, split)));
  page.line();
  addSummary(page, report);
  for (const wanted of notNoted) page.line(`not noted, so not known: ${wanted}`);
  page.line();
  page.line('What this cannot exclude');
  page.line();
  page.line(`- Graph ${graph}: ${printable(note)}.`);
  addCut(page, report);
  addTargets(page, report);
  addCounts(page, report);
  for (const doubt of cannotExclude) page.line(`- ${printable(doubt)}.`);
  addFoundBeside(page, report.foundBeside);
  return { json: page.json, sections: page.sections, split, found, unknown: [...unknown, ...notNoted] };
}

/** Leaks found in agents that were evaluated with the one that is checked. */
export function addFoundBeside(page: ShownPage, texts: readonly string[]): void {
  if (texts.length === 0) return;
  page.line();
  page.line('Found in agents that were evaluated with it');
  page.line();
  for (const text of texts) page.line(`- ${printable(text)}`);
}

function artifactRow(
  { of, kind, name, samples, foreign, byId, byContent, openings, texts, verdict, why }: ArtifactRow,
  split: string,
): NonNullable<Section['rows']>[number] {
  const from = Object.entries(samples).map(([of, count]) => `${of} ${count}`);
  if (foreign > 0) from.push(`not in the data set ${foreign}`);
  if (texts) from.push(`${texts.count} written`);
  return {
    of,
    kind,
    name,
    'made from': from.join(', ') || 'no sample',
    [`in ${split}`]: byId + (texts?.asked ?? 0),
    'same words': byContent === 0 ? '' : openings === byContent ? `${byContent} openings` : String(byContent),
    verdict: why === undefined ? verdict : `${verdict}: ${why}`,
  };
}

function addSummary(page: ShownPage, { artifacts, split, samples, found, unknown }: LeakReport): void {
  if (artifacts.length === 0) return;
  const none = artifacts.filter(({ verdict }) => verdict === 'none found').length;
  const openings = Math.max(...artifacts.map((row) => row.openings));
  const rest = artifacts.length - none;
  page.line(
    `found none of the ${samples} samples of ${split} in ${none} of ${artifacts.length} artifacts${rest > 0 ? '; the others say why' : ''}`,
  );
  if (openings > 0)
    page.line(`${openings} samples of ${split} begin a dialogue with the words, start and gold of one elsewhere`);
  if (found.length > 0) page.line(`found ${found.length}, listed below as an error`);
  else if (unknown.length === 0) page.line('based on noted sources; this does not certify that nothing leaked');
}

function addCut(page: ShownPage, { split, cut }: LeakReport): void {
  const { entities, inTrain, onlyElsewhere, onlyAsked, inNone, restricted, golds } = cut;
  const unused = onlyElsewhere + inNone;
  page.line(
    `  Of ${entities} entities ${inTrain} are on golds of train; of the other ${unused}, ${onlyElsewhere} (${share(onlyElsewhere / unused)}) are on golds of other splits, ${onlyAsked} on those of ${split}.`,
  );
  if (restricted) {
    page.line(
      '  It looks restricted to entities of the dialogues: one that train never used is likely to be there because an evaluation dialogue uses it.',
    );
  }
  page.line(`  It holds ${golds.inGraph} of ${golds.samples} golds of ${split}, as it must for them to be found.`);
}

function addTargets(page: ShownPage, { targets, split, cut }: LeakReport): void {
  if (targets.length === 0) {
    page.line(
      `- Targets that train never had must score clearly below those it had: not tested, nothing was evaluated on ${split}.`,
    );
    return;
  }
  page.line('- Targets that train never had must score clearly below those it had:');
  const words = {
    below: 'below',
    above: 'ABOVE: something gives them away',
    'not below': cut.restricted ? 'NOT clearly below: as with a leak' : 'not clearly below',
    'too few': 'too few to say',
  };
  page.table(
    targets.map(({ evaluation, agent, metric, seen, unseen, difference, verdict }) => ({
      evaluation,
      agent,
      metric,
      seen: estimate(seen),
      unseen: estimate(unseen),
      'seen − unseen': intervalText(difference),
      'unseen is': words[verdict],
    })),
  );
}

function addCounts(page: ShownPage, { counts, split }: LeakReport): void {
  if (counts.length === 0) return;
  page.line(`- P(gold | train count) over the candidates of one-hop golds of ${split}, in percent, must not fall:`);
  page.table(
    counts.map(({ count, usedBy, over, shares, monotone }) => ({
      'count of': over === 'edges' ? count : `${count} (over ${over})`,
      'used by': usedBy.join(', '),
      ...Object.fromEntries(
        [0, 1, 2, 3].map((number) => {
          const row = shares.find((one) => one.count === number);
          const cell =
            row && `${percent(row.goldShare)} [${percent(row.low)}, ${percent(row.high)}] of ${row.candidates}`;
          return [`count ${number}${number === 3 ? ' or more' : ''}`, cell];
        }),
      ),
      monotone: monotone ? 'yes' : 'NO: it marks answers',
    })),
  );
}

const percent = (value: number): string => numberText(value);
const share = (value: number): string => `${numberText(value)} %`;
const estimate = (one: Estimate | undefined): string => (one ? `${intervalText(one)!} of ${one.n}` : 'none');

/** The report of one or more runs: pictures, tables and one page of HTML that works offline. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import type { RunInfo } from '../src/run/records.js';
import { renderPng } from './canvas.js';
import { exampleView } from './examples.js';
import type { ChartGroup } from './figures.js';
import { diagnosticFigures, learningFigures, resultFigures } from './figures.js';
import type { Fact, FigureGroup, PageView, Picture, ResultView, RunView } from './html.js';
import { renderPage } from './html.js';
import { plain } from './numbers.js';
import type { ResultSet } from './results.js';
import { collectResults, mainRow } from './results.js';
import type { RunData, RunGroup } from './run-data.js';
import { groupRuns, loadRunData, seedOf } from './run-data.js';
import { summaryOf } from './summary.js';
import { agentCostTable, agentTable, coverageFacts, phaseCostTable, sliceTable } from './tables.js';

export interface Report {
  /** The page, `index.html`. */
  page: string;
  /** The charts as PNG files beside it; the page holds its own copies. */
  pictures: string[];
}

/**
 * Writes the report of some runs; runs that differ only in the seed are averaged, with curves over seeds.
 * @param options.to folder, made where it is missing; files of the same names are replaced
 * @throws {WorkbenchError} `usage` without runs, `data` for a broken run folder, `native` where charts cannot be drawn
 */
export async function writeReport(runs: readonly RunInfo[], { to }: { to: string }): Promise<Report> {
  if (runs.length === 0) throw new WorkbenchError('usage', 'expected at least one run, got none, at report');
  const groups = groupRuns(runs.map(loadRunData));
  const sets = collectResults(groups);
  const pictures: string[] = [];
  mkdirSync(to, { recursive: true });
  const draw = async (charts: readonly ChartGroup[]) => {
    const drawn: FigureGroup[] = [];
    for (const { charts: named, ...group } of charts) {
      const views: Picture[] = [];
      for (const { name, alt, chart } of named) {
        const png = await renderPng(chart.config, chart.size);
        const file = join(to, `${name.replace(/[^\w@-]+/g, '-')}.png`);
        writeFileAtomic(file, png);
        pictures.push(file);
        views.push({ source: `data:image/png;base64,${Buffer.from(png).toString('base64')}`, alt, ...chart.size });
      }
      drawn.push({ ...group, pictures: views });
    }
    return drawn;
  };

  const results: ResultView[] = [];
  for (const set of sets) results.push(resultView(set, await draw(resultFigures(set, fileNameOf(set)))));
  const main = sets[0] && mainRow(sets[0]);
  const valid = sets.find(({ split }) => split.includes('valid'));
  const phases = phaseCostTable(groups);
  const view: PageView = {
    title: groups.length > 1 ? `${groups.length} settings compared` : groups[0]!.label,
    summary: summaryOf(sets[0], groups),
    facts: factsOf(sets[0], groups),
    results,
    curves: await draw(learningFigures(groups, valid)),
    diagnostics: await draw(diagnosticFigures(groups)),
    costs: [
      { title: 'Training', table: phases },
      ...sets.map((set) => ({ title: `Answering: ${titleOf(set)}`, table: agentCostTable(set) })),
    ].filter(({ table }) => table.rows.length > 0),
    examples: (main?.record.examples ?? []).map(exampleView),
    examplesCaption: main
      ? `${main.label} on ${titleOf(sets[0]!)}, drawn by seed. Each list is the top of the beam with its probabilities; green edges agree with the gold, the first that does not is red.`
      : '',
    runs: groups.flatMap(({ runs: members }) => members.map(runView)),
  };
  const page = join(to, 'index.html');
  writeFileAtomic(page, renderPage(view));
  return { page, pictures };
}

function resultView(set: ResultSet, figures: FigureGroup[]): ResultView {
  const main = mainRow(set)!;
  const baseline = set.rows.find((row) => !row.own && row !== main);
  return {
    title: titleOf(set),
    figures,
    agents: agentTable(set),
    caption:
      'Percent of all samples, failures included. Below each figure: 95\u00a0% bootstrap interval over dialogues, averaged over seeds where there are several, then ± the standard deviation over seeds.',
    slicesTitle: `By kind of sample: ${main.label}`,
    slices: sliceTable(main, baseline),
    coverage: coverageFacts(set),
  };
}

function titleOf({ dataset, split, graph, turns }: ResultSet): string {
  return `${dataset}, ${split}, graph ${graph}, ${turns === 'all' ? 'all turns' : `${turns} turns`}`;
}

function fileNameOf({ dataset, split, graph, turns, n }: ResultSet): string {
  return [dataset, split, graph, turns, n].join('-');
}

function factsOf(set: ResultSet | undefined, groups: readonly RunGroup[]): Fact[] {
  const seeds = [...new Set(groups.flatMap(({ runs }) => runs.map(seedOf)))].join(', ');
  const facts = [
    { name: 'runs', value: plain(groups.flatMap(({ runs }) => runs).length) },
    { name: 'seeds', value: seeds },
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

function runView({ info }: RunData): RunView {
  const { environment, config, configHash, state, id } = info;
  const fact = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [{ name, value: String(value) }];
  return {
    title: `${id}${state.status === 'finished' ? '' : ` (${state.status})`}`,
    command: `npx kgwalk ${environment.argv.map(quoted).join(' ')}`,
    environment: [
      ...fact('started', environment.started),
      ...fact(
        'machine',
        `${environment.cpu}, ${environment.cores} cores, ${plain(Math.round(environment.memoryMb / 1024))} GiB`,
      ),
      ...fact('platform', environment.platform),
      ...fact('backend', environment.backend),
      ...fact('threads', environment.threads),
      ...Object.entries(environment.versions).flatMap(([name, version]) => fact(name, version)),
      ...fact('config', configHash.slice(0, 12)),
      ...Object.entries(environment.hashes).flatMap(([name, hash]) => fact(name, hash.slice(0, 12))),
    ],
    config: stringify(config).trimEnd(),
  };
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

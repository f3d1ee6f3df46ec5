/** `kgwalk datasets …`: importing, listing, describing and checking data sets. */
import { stderr } from 'node:process';
import type { Command } from 'commander';
import type { DatasetManifest } from '../datasets/manifest.js';
import type { DatasetStatistics, SplitStatistics } from '../datasets/statistics.js';
import type { Spread } from '../src/metrics/spread.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printable } from '../src/run/printable.js';
import { terminalProgress } from '../src/run/progress.js';
import type { Row } from './output.js';
import { printJson, printLine, printTable } from './output.js';

interface ImportFlags {
  from: string;
  name?: string;
  json?: boolean;
}

interface StatsFlags {
  graph: string;
  json?: boolean;
}

/** Adds the `datasets` commands to `program`. */
export function register(program: Command): void {
  const datasets = program.command('datasets').description('import, list, describe and check data sets');
  datasets
    .command('import <format>')
    .description('read a release from its files; replaces a data set of the same name when all went well')
    .requiredOption('--from <dir>', 'folder with the triples and the dialogues (.csv, .json or .jsonl)')
    .option('--name <name>', 'name to import under (default: the format)')
    .option('--json', 'print the manifest as JSON')
    .action(importDataset);
  datasets
    .command('list')
    .description('imported data sets')
    .option('--json', 'print the manifests as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { listDatasets } = await import('../datasets/registry.js');
      const manifests = listDatasets();
      if (json) printJson(manifests);
      else if (manifests.length === 0) printLine('none; import one: kgwalk datasets import opendialkg --from DIR');
      else printTable(manifests.map(listRow));
    });
  datasets
    .command('stats <name>')
    .description('sizes, degrees, coverage and what train gives away')
    .option('--graph <graph>', 'which of its graphs', 'dialogue')
    .option('--json', 'print everything as JSON')
    .action(async (name: string, { graph, json }: StatsFlags) => {
      const { loadDataset } = await import('../datasets/registry.js');
      const { datasetStatistics } = await import('../datasets/statistics.js');
      const statistics = await datasetStatistics(loadDataset(name), graph);
      if (json) printJson(statistics);
      else printStatistics(statistics);
    });
  datasets
    .command('check <name>')
    .description('compare files, hashes and counts with what was imported')
    .option('--json', 'print the problems as JSON')
    .action(checkOne);
}

async function importDataset(format: string, { from, name = format, json }: ImportFlags): Promise<void> {
  if (format !== 'opendialkg') {
    throw new WorkbenchError('usage', `expected a format (opendialkg), got "${printable(format, 80)}"`, {
      hint: 'Other dialogues in the same shape: kgwalk datasets import opendialkg --from DIR --name NAME',
    });
  }
  const { importOpenDialKg } = await import('../datasets/opendialkg/import.js');
  const manifest = await importOpenDialKg({ from, name, progress: terminalProgress(stderr) });
  if (json) {
    printJson(manifest);
    return;
  }
  printLine(`imported ${manifest.name} · licence: ${manifest.licence}`);
  printLine();
  printTable(Object.entries(manifest.splits).map(([split, counts]) => ({ split, ...counts })));
  printLine();
  printTable(
    Object.entries(manifest.graphs).map(([graph, { entities, relations, triples, blankLines }]) => ({
      graph,
      entities,
      relations,
      triples,
      'blank lines dropped': blankLines,
    })),
  );
  for (const [graph, { note }] of Object.entries(manifest.graphs)) printLine(`${graph}: ${note}`);
  printLine();
  for (const [file, { paths, otherActions }] of Object.entries(manifest.leftOut)) {
    const reasons = Object.entries(paths).flatMap(([reason, count]) => (count > 0 ? [`${count} ${reason}`] : []));
    const dropped = reasons.length > 0 ? reasons.join(', ') : 'none';
    printLine(`${printable(file)}: paths dropped: ${dropped}; actions without a path: ${otherActions}`);
  }
}

function listRow({ name, splits, graphs, licence }: DatasetManifest): Row {
  const samples = Object.values(splits).map(({ paths }) => paths);
  return { name, 'samples train/valid/test': samples.join(' / '), graphs: Object.keys(graphs).join(', '), licence };
}

async function checkOne(name: string, { json }: { json?: boolean }): Promise<void> {
  const { loadDataset } = await import('../datasets/registry.js');
  const { checkDataset } = await import('../datasets/check.js');
  const dataset = loadDataset(name);
  const problems = await checkDataset(dataset);
  if (json) printJson({ name, problems });
  if (problems.length > 0) {
    throw new WorkbenchError('data', problems.join('\n'), { hint: 'Import the data set again.' });
  }
  if (!json) printLine(`${name}: ${Object.keys(dataset.manifest.files).length} files as imported`);
}

function printStatistics({ dataset, graph, splits }: DatasetStatistics): void {
  printLine(
    `${dataset} on graph ${graph.name}: ${graph.entities} entities, ${graph.relations} relations, ${graph.triples} triples`,
  );
  printLine(`degree ${spread(graph.degree)}`);
  printLine(graph.note);
  printLine();
  const rows: [label: string, cell: (split: SplitStatistics) => string | number][] = [
    ['dialogues', (split) => split.dialogues],
    ['messages', (split) => split.messages],
    ['samples', (split) => split.samples],
    ['  by hops', (split) => counts(split.byHops)],
    ['  by sender', (split) => counts(split.bySender)],
    ['start degree (mean/median/p95/max)', (split) => spread(split.startDegree)],
    ['actions a step', (split) => spread(split.actions)],
    ['entities within two hops', (split) => spread(split.withinTwoHops)],
    ['starts without edges', (split) => split.startsWithoutEdges],
    ['gold paths in the graph', (split) => percent(split.pathCoverage)],
    ['gold triples in the graph', (split) => percent(split.tripleCoverage)],
    ['gold paths seen in train', (split) => percent(split.pathsSeenInTrain)],
    ['targets seen in train', (split) => percent(split.targetsSeenInTrain)],
    ['inverse (~) relations in golds', (split) => percent(split.inverseShare)],
  ];
  const names = Object.keys(splits) as (keyof typeof splits)[];
  printTable(
    rows.map(([label, cell]) => ({
      '': label,
      ...Object.fromEntries(names.map((split) => [split, String(cell(splits[split]))])),
    })),
  );
  printLine();
  printTable(
    splits.train.topRelations.map(({ relation, share }) => ({
      'relation of golds (train)': relation,
      share: percent(share),
    })),
  );
}

const counts = (values: Record<string, number>) =>
  Object.entries(values)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');

const percent = (share: number | null) => (share === null ? '' : `${(100 * share).toFixed(1)} %`);

const spread = ({ mean, median, p95, max }: Spread) => `${mean.toFixed(1)} / ${median} / ${p95} / ${max}`;

/** What an import and the statistics of a data set of dialogues look like in a terminal. */
import type { DialogueManifest } from '../../datasets/dialogues/dialogue-dataset.js';
import type { DialogueStatistics, SplitStatistics } from '../../datasets/dialogues/dialogue-statistics.js';
import type { Spread } from '../../src/metrics/ranks.js';
import { printable } from '../../src/run/printable.js';
import { printLine, printTable } from '../output.js';

/** What was imported and what was left out. */
export function printDialogueImport(manifest: DialogueManifest): void {
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

/** Sizes, difficulty and coverage. */
export function printDialogueStatistics({ dataset, graph, splits }: DialogueStatistics): void {
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

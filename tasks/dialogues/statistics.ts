/** Text of an import and of the statistics of a data set of dialogues. */
import { type DialogueManifest, loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import {
  type SplitStatistics,
  dialogueStatistics as statisticsOf,
} from '../../datasets/dialogues/dialogue-statistics.js';
import { spreadText as spread } from '../../src/metrics/ranks.js';
import { printable } from '../../src/run/printable.js';
import { type Shown, ShownPage } from '../task.js';

/** Imported and excluded samples. */
export function dialoguesImported(manifest: DialogueManifest): Shown {
  const page = new ShownPage(manifest);
  page.line(`imported ${manifest.name} · licence: ${manifest.licence}`);
  page.table(Object.entries(manifest.splits).map(([split, counts]) => ({ split, ...counts })));
  page.table(
    Object.entries(manifest.graphs).map(([graph, { entities, relations, triples, blankLines }]) => ({
      graph,
      entities,
      relations,
      triples,
      'blank lines dropped': blankLines,
    })),
  );
  for (const [graph, { note }] of Object.entries(manifest.graphs)) page.line(`${graph}: ${note}`);
  page.line();
  for (const [file, { paths, otherActions }] of Object.entries(manifest.leftOut)) {
    const reasons = Object.entries(paths).flatMap(([reason, count]) => (count > 0 ? [`${count} ${reason}`] : []));
    const dropped = reasons.length > 0 ? reasons.join(', ') : 'none';
    page.line(`${printable(file)}: paths dropped: ${dropped}; actions without a path: ${otherActions}`);
  }
  return page;
}

/** Sizes, difficulty and coverage. */
export async function dialogueStatistics(name: string, { graph: of = 'dialogue' }: { graph?: string }): Promise<Shown> {
  const statistics = await statisticsOf(loadDialogueDataset(name), of);
  const { dataset, graph, splits } = statistics;
  const page = new ShownPage(statistics);
  page.line(
    `${dataset} on graph ${graph.name}: ${graph.entities} entities, ${graph.relations} relations, ${graph.triples} triples`,
  );
  page.line(`degree ${spread(graph.degree)}`);
  page.line(graph.note);
  page.line();
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
  page.labelled(rows, splits);
  page.table(
    splits.train.topRelations.map(({ relation, share }) => ({
      'relation of golds (train)': relation,
      share: percent(share),
    })),
  );
  return page;
}

const counts = (values: Record<string, number>) =>
  Object.entries(values)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');

const percent = (share: number | null) => (share === null ? '' : `${(100 * share).toFixed(1)} %`);

/** A data set in a list. */
export function listedDialogues({ name, splits, graphs, licence }: DialogueManifest): Record<string, string> {
  const samples = Object.values(splits).map(({ paths }) => paths);
  return { name, holds: `paths ${samples.join(' / ')}`, graphs: Object.keys(graphs).join(', '), licence };
}

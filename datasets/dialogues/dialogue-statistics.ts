/** Statistics of a dialogue data set on one of its graphs: sizes, difficulty, overlap with train. */
import { countReachable } from '../../src/kg/breadth-first.js';
import { type Graph, inversePrefix } from '../../src/kg/graph.js';
import { type Spread, spreadOf } from '../../src/metrics/ranks.js';
import { sampled } from '../../src/run/seeds.js';
import type { Dialogue, PathAction, Sender } from '../dialogue.js';
import { type SplitName, splitNames, walkSamples } from '../walk-sample.js';
import type { DialogueDataset } from './dialogue-dataset.js';

/** Statistics of one split. */
export interface SplitStatistics {
  dialogues: number;
  messages: number;
  samples: number;
  /** Samples by number of triples of the gold path. */
  byHops: Record<string, number>;
  bySender: Record<Sender, number>;
  /** Out-degree of the start entity. */
  startDegree: Spread;
  /** Out-degree at each step of the gold paths; staying is not counted. */
  actions: Spread;
  /** Entities within two hops of a start, over a seeded sample of at most 600. */
  withinTwoHops: Spread;
  /** Samples with a start that is unknown or has no edges. */
  startsWithoutEdges: number;
  /** Share of samples with their whole gold path in the graph: upper bound of path@k. */
  pathCoverage: number;
  /** Share of gold triples in the graph. */
  tripleCoverage: number;
  /** Share of samples whose exact gold path is a gold path of train. Null for train. */
  pathsSeenInTrain: number | null;
  /** Share of samples whose target occurs in a gold path of train. Null for train. */
  targetsSeenInTrain: number | null;
  /** Share of gold triples with an inverse (`~`) relation. */
  inverseShare: number;
  /** Most frequent relations of gold triples, with their share. */
  topRelations: { relation: string; share: number }[];
}

/** Statistics of a data set on one of its graphs. */
export interface DialogueStatistics {
  dataset: string;
  graph: { name: string; entities: number; relations: number; triples: number; degree: Spread; note: string };
  splits: Record<SplitName, SplitStatistics>;
}

const reachSamples = 600;
const topRelationCount = 10;

/** Reads the data set from disk; takes seconds. @param graphName default `dialogue` */
export async function dialogueStatistics(
  dataset: DialogueDataset,
  graphName = 'dialogue',
): Promise<DialogueStatistics> {
  const graph = await dataset.loadGraph(graphName);
  const train = dataset.loadDialogues('train');
  const trainPaths = new Set(pathsOf(train).map(keyOf));
  const trainEntities = new Set(
    pathsOf(train).flatMap(({ triples }) => triples.flatMap(([head, , tail]) => [head, tail])),
  );
  const { name, numEntities: entities, numRelations: relations, numEdges: triples } = graph;
  const degree = spreadOf(Array.from({ length: entities }, (_, entity) => graph.degree(entity)));
  const splits = {} as DialogueStatistics['splits'];
  for (const split of splitNames) {
    const dialogues = split === 'train' ? train : dataset.loadDialogues(split);
    const statistics = splitStatistics(dialogues, graph);
    const golds = pathsOf(dialogues);
    splits[split] = {
      ...statistics,
      pathsSeenInTrain: split === 'train' ? null : shareOf(golds, (gold) => trainPaths.has(keyOf(gold))),
      targetsSeenInTrain:
        split === 'train' ? null : shareOf(golds, ({ triples: gold }) => trainEntities.has(gold.at(-1)![2])),
    };
  }
  const note = dataset.manifest.graphs[graphName]!.note;
  return { dataset: dataset.manifest.name, graph: { name, entities, relations, triples, degree, note }, splits };
}

function splitStatistics(dialogues: readonly Dialogue[], graph: Graph) {
  const samples = walkSamples(dialogues, graph);
  const names = pathsOf(dialogues).flatMap(({ triples }) => triples);
  const ids = samples.flatMap(({ gold }) => gold.path);
  const relationCounts = tally(names.map(([, relation]) => relation));
  return {
    dialogues: dialogues.length,
    messages: dialogues.reduce((sum, { messages }) => sum + messages.length, 0),
    samples: samples.length,
    byHops: Object.fromEntries([...tally(samples.map(({ gold }) => String(gold.path.length)))].sort()),
    bySender: {
      user: samples.filter(({ task }) => task.sender === 'user').length,
      assistant: samples.filter(({ task }) => task.sender === 'assistant').length,
    },
    startDegree: spreadOf(samples.map(({ task }) => graph.degree(task.start))),
    actions: spreadOf(ids.map(([head]) => graph.degree(head))),
    withinTwoHops: spreadOf(
      // The same samples for every graph.
      sampled(samples, reachSamples, 'statistics/reach').map(({ task }) => countReachable(graph, task.start, 2)),
    ),
    startsWithoutEdges: samples.filter(({ task }) => graph.degree(task.start) === 0).length,
    pathCoverage: shareOf(samples, ({ gold }) => gold.inGraph),
    tripleCoverage: shareOf(ids, (triple) => graph.edgeIndex(...triple) >= 0),
    inverseShare: shareOf(names, ([, relation]) => relation.startsWith(inversePrefix)),
    topRelations: [...relationCounts]
      .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
      .slice(0, topRelationCount)
      .map(([relation, count]) => ({ relation, share: count / names.length })),
  };
}

const pathsOf = (dialogues: readonly Dialogue[]): PathAction[] => dialogues.flatMap(({ paths }) => paths);

const keyOf = ({ triples }: PathAction): string => JSON.stringify(triples);

function shareOf<T>(values: readonly T[], holds: (value: T) => boolean): number {
  return values.length === 0 ? 0 : values.filter(holds).length / values.length;
}

function tally(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

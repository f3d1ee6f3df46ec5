/** The edges that walks may choose from, as a graph: what `env.edgePolicy` and `env.maxOut` say. */
import type { DialogueDataset } from '../datasets/dialogues/dialogue-dataset.js';
import type { SplitName } from '../datasets/walk-sample.js';
import type { Graph } from '../src/kg/graph.js';
import { keepEdges } from '../src/kg/keep-edges.js';
import { WorkbenchError } from '../src/run/errors.js';
import { arkTable, splitBits } from './edge-policies/ark-table.js';
import { topDegree } from './edge-policies/top-degree.js';
import type { EnvSettings } from './settings.js';

/** What a policy left out. */
export interface EdgeSelection {
  policy: Exclude<EnvSettings['edgePolicy'], 'full'>;
  /** Longest list of actions, staying included. */
  maxOut: number;
  /** Entities with shorter lists than they have edges. */
  entitiesCut: number;
  /** Edges of the whole graph, and those that may be walked. */
  edges: number;
  kept: number;
  /**
   * `ark` alone. By split: edges that may be walked only because its dialogues walk them, the graph's own order having no
   * place for them; an edge that several splits walk counts for each.
   */
  brought?: Record<SplitName, number>;
}

/** What may be walked. */
export interface WalkGraph {
  /** Names and ids of the whole graph, and its edges as far as walks may take them; with `full` the whole graph itself. */
  graph: Graph;
  /** Absent with `full`. */
  selection?: EdgeSelection;
  /** uint8 [edges that may be walked], `ark` alone: bits 1, 2, 4 of the splits (train, valid, test) that brought each. */
  broughtBy?: Uint8Array;
}

/**
 * Environments, heads and beams all walk this graph, so training and evaluation have one set of actions. It hangs on the
 * data and these settings alone, not on the seed of a run.
 * @param dataset whose dialogues `ark` reads; the others read none
 * @throws WorkbenchError `usage` for `ark` without it
 */
export function walkGraph(
  whole: Graph,
  { edgePolicy: policy, maxOut }: Pick<EnvSettings, 'edgePolicy' | 'maxOut'>,
  dataset?: Pick<DialogueDataset, 'loadDialogues'>,
): WalkGraph {
  if (policy === 'full') return { graph: whole };
  if (policy === 'ark' && !dataset) {
    throw new WorkbenchError('usage', 'expected a data set with edgePolicy ark, got none, at walkGraph');
  }
  const table = policy === 'ark' ? arkTable(whole, dataset!) : undefined;
  const { graph, indices, entitiesCut } = keepEdges(whole, maxOut - 1, table?.choose ?? topDegree(whole));
  const selection = { policy, maxOut, entitiesCut, edges: whole.numEdges, kept: graph.numEdges };
  if (!table) return { graph, selection };
  const broughtBy = Uint8Array.from({ length: graph.numEdges }, (_, i) => table.broughtBy(indices?.[i] ?? i));
  const countOf = (split: SplitName) => broughtBy.reduce((sum, bits) => sum + Number((bits & splitBits[split]) > 0), 0);
  const brought = { train: countOf('train'), valid: countOf('valid'), test: countOf('test') };
  return { graph, selection: { ...selection, brought }, broughtBy };
}

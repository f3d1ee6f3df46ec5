/** What a trained walker is made of before any tensor: plain data, which threads can share. */
import { z } from 'zod';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { splitSamples } from '../../datasets/walk-sample.js';
import { walkRulesOf } from '../../envs/dialogue-walk/rules.js';
import { envSettings, stateTextSettings } from '../../envs/settings.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import type { AdjacencyRows } from '../../src/kg/adjacency.js';
import { Graph, type SharedGraph } from '../../src/kg/graph.js';
import { backendNames, openBackend, type BackendName } from '../../src/tensor/backend.js';
import type { StoredTensors } from '../../src/tensor/parameters.js';
import type { FrozenVectors } from './features/dialogue-scratch.js';
import type { FrozenTables } from './frozen-tables.js';
import { inputsOf, restoredPolicy } from './inputs.js';
import type { Policy } from './policy.js';
import { walkerSettings } from './settings.js';
import type { StateReader } from './state-reader.js';

/** The settings of a run that loading needs; others may be there. */
export const walkerRunSettings = z.object({
  name: z.string(),
  backend: z.enum(['auto', ...backendNames]),
  data: dataSettings,
  env: envSettings,
  stateText: stateTextSettings.prefault({}),
  encoder: encoderSettings,
  walker: walkerSettings,
});

/** Settings, weights and vectors, and how answers are ranked. */
export interface WalkerParts {
  settings: z.output<typeof walkerRunSettings>;
  backend: BackendName | 'auto';
  tensors: StoredTensors;
  tables: FrozenTables | undefined;
  /** Its arrays are the same memory in every thread. */
  graph: SharedGraph;
  /** Rows of the graph that walks may take, shared alike; absent where those are all. */
  walkedRows: AdjacencyRows | undefined;
  /** Of the names of the graph. */
  vectors: FrozenVectors;
  beamWidth: number;
  twoHopBonus: number;
  /** Whether answers hold LLM-ARK's beam as well. */
  arkBeam: boolean;
}

/**
 * Reads the dialogues of train and builds the policy; the caller disposes its head.
 * @param openReader where states are read one by one
 * @throws WorkbenchError `data` for weights of other settings, `native` without a backend
 */
export async function policyOf(
  { settings, backend, tensors, tables, vectors, ...parts }: WalkerParts,
  openReader?: (graph: Graph) => StateReader | undefined,
): Promise<Policy> {
  const dataset = loadDialogueDataset(settings.data.dataset);
  const graph = Graph.fromShared(parts.graph);
  const walked = parts.walkedRows ? graph.withRows(parts.walkedRows) : graph;
  const { tf } = await openBackend(backend);
  const inputs = await inputsOf(vectors, {
    tf,
    settings: settings.walker,
    graph,
    walks: { graph: walked },
    rules: walkRulesOf(settings.env),
    train: splitSamples(dataset, graph, settings.data, 'train'),
    tables,
    maxActions: settings.env.maxOut,
    reader: openReader?.(walked),
  });
  return restoredPolicy(tf, inputs, tensors);
}

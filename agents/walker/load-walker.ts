/** Opens a trained walker from its run folder. */
import { z } from 'zod';
import { checkFits, type CheckpointHeader } from '../../checkpoints/checkpoint.js';
import { sourcesHash } from '../../datasets/manifest.js';
import { loadDataset } from '../../datasets/registry.js';
import { dataSettings } from '../../datasets/settings.js';
import { walkSamples } from '../../datasets/walk-samples.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { envSettings } from '../../envs/settings.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import type { StateEncoder } from '../../src/encoder/state-encoder.js';
import type { Graph } from '../../src/kg/graph.js';
import { backendNames, openBackend, type BackendName } from '../../src/tensor/backend.js';
import type { Agent } from '../agent.js';
import { openTrainedRun } from '../trained-run.js';
import { restoredPolicy, walkerInputs } from './inputs.js';
import { walkerSettings } from './settings.js';
import { readTables } from './tables-file.js';
import { encodeTasks } from './text-vectors.js';
import { walkerAgent } from './walker-agent.js';

/** The settings of a run that loading needs; others may be there. */
const runConfig = z.object({
  name: z.string(),
  backend: z.enum(['auto', ...backendNames]),
  data: dataSettings,
  env: envSettings,
  encoder: encoderSettings,
  walker: walkerSettings,
});

/** Which checkpoint, and how it ranks. */
export interface LoadWalkerOptions {
  /** `best`, `last`, `clone`, a name or a step. */
  checkpoint: string;
  beamWidth: number;
  twoHopBonus?: number;
  /** GGUF file, where it is no longer at the path that the run names. */
  modelPath?: string;
  /** Backend to compute with; default the run's own. Others differ in the last digits. */
  backend?: BackendName | 'auto';
}

/** A trained walker, ready to answer; close it after use. */
export interface LoadedWalker {
  agent: Agent;
  graph: Graph;
  encoder: StateEncoder;
  header: CheckpointHeader;
  close(): Promise<void>;
}

/**
 * Loads data, encoder, tables and weights; refuses a checkpoint of another graph, data set or encoder.
 * @throws WorkbenchError `data` where something is missing or does not fit, `native` without a backend
 */
export async function loadWalkerRun(runFolder: string, options: LoadWalkerOptions): Promise<LoadedWalker> {
  const { folder, settings, header, tensors, file, openEncoder } = openTrainedRun(runFolder, runConfig, options);
  const dataset = loadDataset(settings.data.dataset);
  const graph = await dataset.loadGraph(settings.data.graph);
  const encoder = await openEncoder();
  try {
    const expected = { graph: graph.hash, encoder: encoder.id, dataset: sourcesHash(dataset.manifest) };
    checkFits(header, expected, file);
    const { tf } = await openBackend(options.backend ?? settings.backend);
    const { horizon, equalAtStep1 } = settings.env;
    const inputs = await walkerInputs({
      tf,
      settings: settings.walker,
      encoderSettings: settings.encoder,
      graph,
      rules: { horizon, equalAtStep1 },
      encoder,
      train: walkSamples(dataset.loadDialogues('train'), graph, settings.data),
      tables: readTables(folder),
    });
    const policy = restoredPolicy(tf, inputs, tensors);
    const encode = (tasks: readonly WalkTask[]) => encodeTasks(encoder, tasks, { settings: settings.encoder });
    const { beamWidth, twoHopBonus = 0 } = options;
    const agent = walkerAgent(policy, { name: settings.name, beamWidth, twoHopBonus, encode });
    const close = async () => {
      policy.head.dispose();
      await encoder.dispose();
    };
    return { agent, graph, encoder, header, close };
  } catch (error) {
    await encoder.dispose();
    throw error;
  }
}

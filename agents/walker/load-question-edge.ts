/** Opens a walker over edges that was trained on questions from its run folder. */
import { z } from 'zod';
import { checkFits } from '../../checkpoints/checkpoint.js';
import { loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import type { Graph } from '../../src/kg/graph.js';
import { questionsHash } from '../../datasets/questions/question-manifest.js';
import { openBackend, type BackendName } from '../../src/tensor/backend.js';
import { openTrainedRun, type LoadedQuestionWalker, type OpenTrainedRun } from '../trained-run.js';
import { contextDimOf } from './features/featurizer.js';
import { restoredPolicy, walkerInputs } from './inputs.js';
import { questionEdgeAgent } from './question-edge-agent.js';
import { readTables } from './tables-file.js';
import { encodeTasks } from './text-vectors.js';
import { walkerRunSettings } from './walker-parts.js';

/** The settings of a run that loading needs; others may be there. */
const runConfig = walkerRunSettings.extend({ evaluation: z.object({ beamWidth: z.int() }) });

/** Which checkpoint, over which graph, on which backend, and how wide its beam is. */
export interface LoadQuestionEdgeOptions extends OpenTrainedRun {
  /** The run's graph, where the caller has loaded it already. */
  graph?: Graph;
  /** Walks followed at once; default the run's own. */
  beamWidth?: number;
  /** Backend to compute with; default the run's own. */
  backend?: BackendName | 'auto';
}

/**
 * Loads data, encoder, tables and weights; refuses a checkpoint of another graph, data set or encoder.
 * @throws WorkbenchError `data` where something is missing or does not fit, `native` without a backend
 */
export async function loadQuestionEdgeRun(
  runFolder: string,
  options: LoadQuestionEdgeOptions,
): Promise<LoadedQuestionWalker> {
  const { folder, settings, header, tensors, file, openEncoder } = openTrainedRun(runFolder, runConfig, options);
  const { data, env, walker, evaluation, name } = settings;
  const dataset = loadQuestionDataset(data.dataset);
  const graph = options.graph ?? (await dataset.loadGraph(data.subsets === 'all' ? dataset.subsets : data.subsets));
  const encoder = await openEncoder();
  try {
    const stored = questionsHash(dataset.manifest);
    checkFits(header, { graph: graph.hash, encoder: encoder.id, dataset: stored }, file);
    const { tf } = await openBackend(options.backend ?? settings.backend, {
      rows: 64,
      inputs: contextDimOf(encoder.dim, false),
      units: walker.width,
    });
    const inputs = await walkerInputs({
      tf,
      settings: walker,
      encoderSettings: settings.encoder,
      graph,
      rules: { horizon: env.horizon, equalAtStep1: env.equalAtStep1, noReturn: !dataset.manifest.topicsReturn },
      encoder,
      // Questions have no gold walks to count.
      train: [],
      tables: readTables(folder),
    });
    const policy = restoredPolicy(tf, inputs, tensors);
    const agent = questionEdgeAgent(policy, {
      name,
      beamWidth: options.beamWidth ?? evaluation.beamWidth,
      encode: (tasks, signal) => encodeTasks(encoder, tasks, { settings: settings.encoder, signal }),
    });
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

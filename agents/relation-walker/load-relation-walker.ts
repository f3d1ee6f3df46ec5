/** Opens a trained relation walker from its run folder. */
import { z } from 'zod';
import { checkFits } from '../../checkpoints/checkpoint.js';
import { loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { frontierTrie, type FrontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import { relationWalkSettings } from '../../envs/settings.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import type { StateEncoder } from '../../src/encoder/state-encoder.js';
import type { Graph } from '../../src/kg/graph.js';
import { questionsHash } from '../../datasets/questions/question-manifest.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { StoredTensors } from '../../src/tensor/parameters.js';
import type { QuestionAgent } from '../question-agent.js';
import { openTrainedRun, type LoadedQuestionWalker, type OpenTrainedRun } from '../trained-run.js';
import { hostNetwork } from './host-network.js';
import { encodeQuestions, scaledVectors, type VectorScale } from './question-vectors.js';
import { relationWalkerAgent } from './relation-walker-agent.js';
import { readScale } from './scale-file.js';
import { relationWalkerSettings } from './settings.js';

/** The settings of a run that loading needs; others may be there. */
const runConfig = z.object({
  name: z.string(),
  data: dataSettings,
  relationWalk: relationWalkSettings,
  encoder: encoderSettings,
  relationWalker: relationWalkerSettings,
});
type RunConfig = z.output<typeof runConfig>;

/** Which checkpoint, over which graph, and how wide its beam is. */
export interface LoadRelationWalkerOptions extends OpenTrainedRun {
  /** The run's graph, where the caller has loaded it already. */
  graph?: Graph;
  /** Walks followed at once; default 1, greedy. */
  beamWidth?: number;
}

/**
 * Loads data, encoder and weights; refuses a checkpoint of another graph, data set or encoder. Answering needs no tensor
 * backend: one question is read and walked on plain arrays, about a millisecond where its vector is cached.
 * @throws WorkbenchError `data` where something is missing or does not fit
 */
export async function loadRelationWalkerRun(
  runFolder: string,
  options: LoadRelationWalkerOptions,
): Promise<LoadedQuestionWalker> {
  const { folder, settings, header, tensors, file, openEncoder } = openTrainedRun(runFolder, runConfig, options);
  const { dataset: name, subsets } = settings.data;
  const dataset = loadQuestionDataset(name);
  const graph = options.graph ?? (await dataset.loadGraph(subsets === 'all' ? dataset.subsets : subsets));
  const scale = readScale(folder);
  if (!scale) {
    throw new WorkbenchError('data', `expected the scale of question vectors, got none, at ${folder}`, {
      hint: 'The run stopped before it trained anything; resume it: `kgwalk train --resume --run-dir DIR`.',
    });
  }
  const encoder = await openEncoder();
  try {
    const stored = questionsHash(dataset.manifest);
    checkFits(header, { graph: graph.hash, encoder: encoder.id, dataset: stored }, file);
    const frontiers = frontierTrie(graph, settings.relationWalk.memoryMegabytes * 2 ** 20);
    const { beamWidth } = options;
    const agent = trainedAgent(tensors, settings, {
      graph,
      frontiers,
      encoder,
      scale,
      ...(beamWidth !== undefined && { beamWidth }),
    });
    return { agent, graph, encoder, header, close: () => encoder.dispose() };
  } catch (error) {
    await encoder.dispose();
    throw error;
  }
}

/** What a relation walker answers with. */
export interface TrainedAgentParts {
  graph: Graph;
  frontiers: FrontierTrie;
  encoder: StateEncoder;
  scale: VectorScale;
  beamWidth?: number;
}

/** Weights under the settings they were trained with, as an agent. The caller keeps and disposes the encoder. */
export function trainedAgent(
  tensors: StoredTensors,
  { name, relationWalk, relationWalker }: Pick<RunConfig, 'name' | 'relationWalk' | 'relationWalker'>,
  { graph, frontiers, encoder, scale, beamWidth = 1 }: TrainedAgentParts,
): QuestionAgent {
  const { horizon, hops } = relationWalk;
  return relationWalkerAgent({
    name,
    graph,
    frontiers,
    rules: { horizon, hops },
    network: hostNetwork(tensors, { dim: scale.mean.length, numRelations: graph.numRelations, horizon }),
    vectors: async (tasks, signal) => {
      const encoded = await encodeQuestions(encoder, tasks, { settings: relationWalker, signal });
      return scaledVectors(tasks, encoded, scale);
    },
    beamWidth,
  });
}

/** Opening of trained agents: settings of the run, a checkpoint and the encoder it was trained with. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { readRunCheckpoint } from '../checkpoints/chain.js';
import { checkFits, type Checkpoint, type CheckpointHeader } from '../checkpoints/checkpoint.js';
import { questionsHash } from '../datasets/questions/question-manifest.js';
import { loadQuestionDataset, type QuestionDataset } from '../datasets/questions/question-dataset.js';
import type { DataSettings } from '../datasets/settings.js';
import { isServerAddress, modelFile } from '../src/llm/model-files.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import type { EncoderSettings } from '../src/encoder/settings.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { Graph } from '../src/kg/graph.js';
import { type ExecutorName } from '../src/nn/open-executor.js';
import { WorkbenchError } from '../src/run/errors.js';
import { cacheFolder } from '../src/run/locations.js';
import type { RunInfo } from '../src/run/records.js';
import { runFiles } from '../src/run/run-files.js';
import { openRun } from '../src/run/run-folder.js';
import type { QuestionAgent } from './question-agent.js';

/** A run's checkpoint with the settings that it was trained under. */
export interface TrainedRun<Settings> extends Checkpoint {
  /** Id of the run. */
  id: string;
  folder: string;
  settings: Settings;
  file: string;
  /** Opens the encoder; the caller disposes it. @throws WorkbenchError `data` where its file is gone */
  openEncoder(): Promise<StateEncoder>;
}

interface OpenTrainedRun {
  /** `best`, `last`, `clone`, a name or a step. */
  checkpoint: string;
  /** GGUF file, where it is no longer at the path that the run names. */
  modelPath?: string | undefined;
}

/**
 * @param schema the settings that the agent needs; others may be there
 * @throws WorkbenchError `data` where run, settings or checkpoint are missing or of another kind
 */
export function openTrainedRun<Schema extends z.ZodType<{ encoder: EncoderSettings }>>(
  runFolder: string,
  schema: Schema,
  { checkpoint, modelPath }: OpenTrainedRun,
): TrainedRun<z.output<Schema>> {
  const { id, folder, config } = openRun(runFolder);
  const parsed = schema.safeParse(config);
  if (!parsed.success) {
    const got = z.prettifyError(parsed.error).replaceAll('\n', ' ');
    throw new WorkbenchError('data', `expected the settings of a walker, got ${got}, at ${runFiles(folder).config}`);
  }
  const settings = parsed.data;
  const place = modelPath ?? settings.encoder.model;
  const { entry, header, tensors } = readRunCheckpoint(folder, checkpoint);
  const { file } = entry;
  return {
    header,
    tensors,
    id,
    folder,
    settings,
    file,
    openEncoder: () => {
      const model = missingModel(place);
      if (model !== undefined) {
        throw new WorkbenchError('data', `expected the model of run ${id}, got nothing, at ${model}`, {
          hint: 'Say where the file is now: `evaluate --encoder FILE`, `ask --encoder FILE`.',
        });
      }
      return openEncoder(settings.encoder, { modelPath: place, cacheFolder: cacheFolder() });
    },
  };
}

/** The text encoder that a run's settings name. */
export const encoderModelOf = ({ config }: Pick<RunInfo, 'config'>): string | undefined =>
  (config.encoder as { model?: string } | undefined)?.model ?? undefined;

/** The file of a text encoder where it is not there; undefined where it is, or where none is needed. */
export function missingModel(place: string | undefined): string | undefined {
  const isFile = place !== undefined && !place.startsWith('hashed:') && !isServerAddress(place);
  const file = isFile ? modelFile(place) : undefined;
  return file === undefined || existsSync(file) ? undefined : file;
}

/** A trained walker over questions, ready to answer; close it after use. */
export interface LoadedQuestionWalker {
  agent: QuestionAgent;
  graph: Graph;
  encoder: StateEncoder;
  header: CheckpointHeader;
  /** Ids of text encoders, distinct; several for an average of runs. Default: that of `encoder`. */
  encoderIds?: readonly string[];
  close(): Promise<void>;
}

/** Which checkpoint, over which graph, and how wide its beam is. */
export interface OpenQuestionWalker extends OpenTrainedRun {
  /** The run's graph, where the caller has loaded it already. */
  graph?: Graph;
  /** Walks followed at once; default the run's own. */
  beamWidth?: number;
  /** Executor of a relation walker; default `simd`. */
  backend?: ExecutorName | 'auto' | undefined;
}

/** Options of trained question agents: one run, or several that answer as one. */
export type QuestionOptions = Omit<OpenQuestionWalker, 'checkpoint'>;

interface QuestionRun<Settings> extends TrainedRun<Settings> {
  dataset: QuestionDataset;
  graph: Graph;
  encoder: StateEncoder;
}

/**
 * Opens data, encoder and weights of a run over questions; refuses a checkpoint of another graph, data set or encoder.
 * @param make the agent, and what frees its memory; what else it gives is handed on
 * @throws as `openTrainedRun`
 */
export async function loadQuestionWalker<
  Schema extends z.ZodType<{ encoder: EncoderSettings; data: Pick<DataSettings, 'dataset' | 'subsets'> }>,
  Made extends { agent: QuestionAgent; dispose?: () => void },
>(
  runFolder: string,
  schema: Schema,
  options: OpenQuestionWalker,
  make: (run: QuestionRun<z.output<Schema>>) => Promise<Made>,
): Promise<Made & LoadedQuestionWalker> {
  const run = openTrainedRun(runFolder, schema, options);
  const { header, settings } = run;
  const { dataset: name, subsets } = settings.data;
  const dataset = loadQuestionDataset(name);
  const graph = options.graph ?? (await dataset.loadGraph(subsets === 'all' ? dataset.subsets : subsets));
  const encoder = await run.openEncoder();
  try {
    // Behind an endpoint ids are those of the part in memory, which weights belong to.
    const expected = { graph: graph.local.hash, encoder: encoder.id, dataset: questionsHash(dataset.manifest) };
    checkFits(header, expected, run.file);
    const made = await make({ ...run, dataset, graph, encoder });
    const close = async () => {
      made.dispose?.();
      await encoder.dispose();
    };
    return { ...made, graph, encoder, header, close };
  } catch (error) {
    await encoder.dispose();
    throw error;
  }
}

/** Opening of trained agents: settings of the run, a checkpoint and the encoder it was trained with. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { readRunCheckpoint } from '../checkpoints/chain.js';
import { checkFits, type Checkpoint, type CheckpointHeader } from '../checkpoints/checkpoint.js';
import { questionsHash } from '../datasets/questions/question-manifest.js';
import { loadQuestionDataset, type QuestionDataset } from '../datasets/questions/question-dataset.js';
import { type DataSettings, dataSettings } from '../datasets/settings.js';
import { isServerAddress, modelFile } from '../src/llm/model-files.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import { type EncoderSettings, encoderSettings } from '../src/encoder/settings.js';
import { noEncoder, type StateEncoder } from '../src/encoder/state-encoder.js';
import type { Graph } from '../src/kg/graph.js';
import { type ExecutorName } from '../src/nn/open-executor.js';
import { WorkbenchError } from '../src/run/errors.js';
import { cacheFolder } from '../src/run/locations.js';
import type { RunInfo } from '../src/run/records.js';
import { runFiles } from '../src/run/run-files.js';
import { openRun } from '../src/run/run-folder.js';
import type { RunCheckpoint } from './method.js';
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

/** Options of trained question agents: one run, or several that answer as one. */
export interface QuestionOptions extends Omit<OpenTrainedRun, 'checkpoint'> {
  /** The run's graph, where the caller has loaded it already. */
  graph?: Graph;
  /** Walks followed at once; default the run's own. */
  beamWidth?: number | undefined;
  /** Executor of a relation walker; default `simd`. */
  backend?: ExecutorName | 'auto' | undefined;
}

/** Run over questions, opened for its agent. */
interface QuestionRun<Settings> extends TrainedRun<Settings> {
  dataset: QuestionDataset;
  graph: Graph;
  /** Without a model if the run reads no text. */
  encoder: StateEncoder;
}

const common = { name: z.string(), data: dataSettings, encoder: encoderSettings };

/**
 * Opens data, encoder and weights of a run over questions; refuses a checkpoint of another graph, data set or encoder.
 * @param sections schemas of further settings that the agent needs; name, data and encoder are there
 * @param make the agent, and what frees its memory; what else it gives is handed on
 * @param ofGraph whether weights belong to the graph that they were trained on; default true
 * @throws as `openTrainedRun`
 */
export async function loadQuestionWalker<
  Sections extends z.ZodRawShape,
  Made extends { agent: QuestionAgent; dispose?: () => void },
>(
  { folder, checkpoint }: RunCheckpoint,
  sections: Sections,
  options: QuestionOptions,
  make: (run: QuestionRun<z.output<z.ZodObject<typeof common & Sections>>>) => Promise<Made> | Made,
  ofGraph: (settings: z.output<z.ZodObject<typeof common & Sections>>) => boolean = () => true,
): Promise<Made & LoadedQuestionWalker> {
  const schema = z.object({ ...common, ...sections }) as z.ZodObject<typeof common & Sections>;
  const run = openTrainedRun(folder, schema as never, { ...options, checkpoint }) as TrainedRun<
    z.output<typeof schema>
  >;
  const { header, settings } = run;
  const { dataset: name, subsets } = (settings as unknown as { data: DataSettings }).data;
  const dataset = loadQuestionDataset(name);
  const graph = options.graph ?? (await dataset.loadGraph(subsets === 'all' ? dataset.subsets : subsets));
  const readsTexts = header.hashes.encoder !== undefined;
  const encoder = readsTexts ? await run.openEncoder() : noEncoder();
  try {
    // Behind an endpoint ids are those of the part in memory, which weights belong to.
    const own = { dataset: questionsHash(dataset.manifest), ...(ofGraph(settings) && { graph: graph.local.hash }) };
    checkFits(header, { ...own, ...(readsTexts && { encoder: encoder.id }) }, run.file);
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

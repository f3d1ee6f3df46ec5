/** What every trained agent is opened from: its run's settings, a checkpoint and the encoder it was trained with. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { readCheckpoint, type Checkpoint, type CheckpointHeader } from '../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../checkpoints/store.js';
import { modelFile } from '../src/llm/model-files.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import type { EncoderSettings } from '../src/encoder/settings.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { Graph } from '../src/kg/graph.js';
import { WorkbenchError } from '../src/run/errors.js';
import { cacheFolder } from '../src/run/locations.js';
import { openRun, runFiles } from '../src/run/run-folder.js';
import type { QuestionAgent } from './question-agent.js';

/** A run's checkpoint with the settings that it was trained under. */
export interface TrainedRun<Settings> extends Checkpoint {
  /** The run's folder. */
  folder: string;
  settings: Settings;
  /** The checkpoint's file. */
  file: string;
  /** Opens the encoder; the caller disposes it. @throws WorkbenchError `data` where its file is gone */
  openEncoder(): Promise<StateEncoder>;
}

/** A trained walker over questions, ready to answer; close it after use. */
export interface LoadedQuestionWalker {
  agent: QuestionAgent;
  graph: Graph;
  encoder: StateEncoder;
  header: CheckpointHeader;
  close(): Promise<void>;
}

/** Which checkpoint of a run, and where its encoder's file is now. */
export interface OpenTrainedRun {
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
  const { file } = resolveCheckpoint(folder, checkpoint);
  const place = modelPath ?? settings.encoder.model;
  return {
    ...readCheckpoint(file),
    folder,
    settings,
    file,
    openEncoder: () => {
      const model = place === undefined || place.startsWith('hashed:') ? undefined : modelFile(place);
      if (model !== undefined && !existsSync(model)) {
        throw new WorkbenchError('data', `expected the model of run ${id}, got nothing, at ${model}`, {
          hint: 'Say where the file is now: `evaluate --encoder FILE`, `ask --encoder FILE`.',
        });
      }
      return openEncoder(settings.encoder, { modelPath: place, cacheFolder: cacheFolder() });
    },
  };
}

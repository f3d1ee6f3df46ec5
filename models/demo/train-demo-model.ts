/** Trains the demo's model in a folder: log, checkpoint and the GGUF file so far; resumes where it was stopped. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openJsonLines } from '../../src/run/json-lines.js';
import type { Progress } from '../../src/run/progress.js';
import type { Executor } from '../../src/nn/executor.js';
import { exportGguf } from '../llama/export-gguf.js';
import { loadTraining, type SavedTraining, saveTraining } from '../llama/training-checkpoint.js';
import {
  optimizerFor,
  startOfTraining,
  trainLanguageModel,
  type TrainingPlace,
} from '../llama/train-language-model.js';
import { watch } from '../llama/watch.js';
import { llamaParameters, startingWeights, weightsOf } from '../llama/weights.js';
import { demoCorpora } from './demo-corpora.js';
import type { DemoModelSettings } from './settings.js';

/** Names of the files in the folder of a training. */
export const demoFiles = {
  model: 'kgwalk-demo.gguf',
  log: 'training-log.jsonl',
  checkpoint: 'training.safetensors',
} as const;

/** Training, its folder and callbacks. */
export interface DemoTraining {
  executor: Executor;
  settings: DemoModelSettings;
  /** Folder of the results; made where it is missing. */
  out: string;
  /** Resumes from the folder's checkpoint; else the folder's files are overwritten. */
  resume: boolean;
  /** Stops at the next window, with a checkpoint, when aborted. */
  signal?: AbortSignal | undefined;
  /** @param total tokens of the whole training */
  progress: (total: number) => Progress;
  onStage: (stage: string) => void;
}

const about = {
  name: 'kgwalk demo',
  description: 'A small Llama for the invented world of kgwalk: encodes its texts, makes the decisions of its agents.',
  license: 'MIT',
};

/**
 * The checkpoint goes when all tokens were seen.
 * @returns whether they were; else it was stopped and can be resumed
 * @throws WorkbenchError `data` for a checkpoint of other settings
 */
export async function trainDemoModel(training: DemoTraining): Promise<{ finished: boolean; place: TrainingPlace }> {
  const { executor, settings, out, resume, signal, onStage } = training;
  const { seed, model: config } = settings;
  const { vocabulary, fit, watched } = await demoCorpora(settings, onStage, signal);
  const parameters = llamaParameters(executor, config, startingWeights(config, seed));
  const optimizer = optimizerFor(parameters, settings.training);
  const file = (name: keyof typeof demoFiles) => join(out, demoFiles[name]);
  const settingsText = JSON.stringify(settings);
  const state = { parameters, optimizer };
  let saved: SavedTraining = { place: startOfTraining, log: { bytes: 0 } };
  if (resume && existsSync(file('checkpoint'))) saved = loadTraining(file('checkpoint'), state, settingsText);
  else rmSync(file('log'), { force: true });
  const log = openJsonLines(file('log'));
  log.truncateAfter(saved.log);
  if (saved.log.bytes === 0) {
    const { ids, offsets } = fit;
    log.append({
      corpus: { documents: offsets.length - 1, tokens: ids.length },
      parameters: parameters.size,
      settings,
    });
  }

  const save = async (place: TrainingPlace) => {
    await saveTraining(file('checkpoint'), state, { place, log: log.flush() }, settingsText);
    exportGguf(file('model'), { config, vocabulary, weights: await weightsOf(parameters), about });
  };
  const look = async ({ tokens, steps }: TrainingPlace) => {
    log.append({ steps, tokens, watched: await watch(parameters, config, watched, settings.training.partTokens) });
  };

  onStage('training');
  const progress = training.progress(settings.training.tokens);
  const { watchTokens, saveTokens } = settings.training;
  let before = saved.place;
  const passes = (place: TrainingPlace, every: number) =>
    Math.floor(place.tokens / every) > Math.floor(before.tokens / every);
  try {
    const place = await trainLanguageModel({
      ...{ ...state, config, corpus: fit, settings: settings.training, seed, place: saved.place },
      onReport: (report) => {
        log.append(report);
        log.flush();
        progress.update(report.tokens, `loss ${report.loss.toFixed(3)}`);
      },
      onWindow: async (now) => {
        const done = now.tokens >= settings.training.tokens;
        if (done || passes(now, watchTokens)) await look(now);
        const stop = signal?.aborted === true;
        if (done || stop || passes(now, saveTokens)) await save(now);
        before = now;
        return stop;
      },
    });
    progress.finish();
    const finished = place.tokens >= settings.training.tokens;
    if (finished) rmSync(file('checkpoint'));
    return { finished, place };
  } finally {
    log.close();
    optimizer.dispose();
    parameters.dispose();
  }
}

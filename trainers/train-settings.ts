/**
 * All settings for training a walker, composed of those of the parts: the reference for files, `--set`, `config
 * explain` and the docs.
 */
import { z } from 'zod';
import { relationWalkerSettings } from '../agents/relation-walker/settings.js';
import { readerSettings } from '../agents/readers/settings.js';
import { exactWalkerSettings } from '../agents/exact-walker/settings.js';
import { linkWalkerSettings } from '../agents/link-walker/settings.js';
import { policySettings } from '../agents/policy/spaces.js';
import { walkerSettings } from '../agents/walker/settings.js';
import { checkpointSettings } from '../checkpoints/keeper.js';
import { dataSettings } from '../datasets/settings.js';
import { envSettings, linkWalkSettings, relationWalkSettings, stateTextSettings } from '../envs/settings.js';
import { evaluationSettings } from '../evaluation/settings.js';
import { encoderSettings } from '../src/encoder/settings.js';
import { defaultModel } from '../src/llm/model-files.js';
import { loadConfig } from '../src/run/config.js';
import { logSettings } from '../src/run/tensorboard.js';
import { changedPluginsOf } from '../src/run/plugins.js';
import type { RunInfo } from '../src/run/records.js';
import { executorNames } from '../src/nn/open-executor.js';
import { bilinearSettings } from './bilinear/settings.js';
import { cloneSettings, demonstrationSettings, teacherSettings } from './clone-settings.js';
import { ppoSettings } from './ppo-settings.js';
import { transeSettings } from './transe/settings.js';

/** Every section of a configuration file, with its defaults. */
export const trainSettings = z.strictObject({
  name: z
    .string()
    .regex(/^[\w][\w.-]*$/)
    .default('run')
    .describe('Name of runs with these settings; the run folder is NAME-TIME-sSEED.'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(0)
    .describe('Seed of all random choices. Same seed, same backend, same thread count: same bytes.'),
  backend: z
    .enum(['auto', ...executorNames])
    .default('auto')
    .describe(
      'What computes the networks: auto picks the fastest for their size; simd, SIMD kernels, needs nothing but Node and alone computes readers, relation walkers, exact walkers and policies over vectors. Results differ between them in the last digits.',
    ),
  plugins: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Custom files that register environments, agents, rewards, figures or data sets, from the folder of the settings file, loaded like --plugin FILE. A run keeps FILE@sha256:HASH, which loads nothing: the file is required when the run is resumed or evaluated.',
    ),
  data: dataSettings.prefault({}),
  env: envSettings.prefault({}),
  stateText: stateTextSettings.prefault({}),
  relationWalk: relationWalkSettings.prefault({}),
  linkWalk: linkWalkSettings.prefault({}),
  encoder: encoderSettings.prefault({}),
  transe: transeSettings.prefault({}),
  bilinear: bilinearSettings.prefault({}),
  walker: walkerSettings.prefault({}),
  relationWalker: relationWalkerSettings.prefault({}),
  linkWalker: linkWalkerSettings.prefault({}),
  demonstrations: demonstrationSettings.prefault({}),
  clone: cloneSettings.prefault({}),
  teacher: teacherSettings
    .optional()
    .describe('Walks over relations: source of the cloned walks. `extends: student` sets the rest.'),
  ppo: ppoSettings.prefault({}),
  reader: readerSettings
    .optional()
    .describe('Questions: trains a reader instead of a walker. `extends: readers` sets the rest.'),
  exactWalker: exactWalkerSettings
    .optional()
    .describe('Links: trains an exact walker instead of one that samples walks. `extends: link-chains` sets the rest.'),
  policy: policySettings
    .optional()
    .describe('Policies over vectors: only for environments with vector observations. `extends: policy` sets it.'),
  evaluation: evaluationSettings.prefault({}),
  checkpoint: checkpointSettings.prefault({}),
  log: logSettings.prefault({}),
});

/** Every setting of a run with its value. */
export type TrainSettings = z.output<typeof trainSettings>;

/**
 * Largest number of walks in a training step of the enabled phases, from which `backend: auto` derives the batch size.
 */
export function walksPerStep({ clone, ppo }: Pick<TrainSettings, 'clone' | 'ppo'>): number {
  return Math.max(clone.enabled ? clone.batchSize : 0, ppo.enabled ? ppo.minibatchSamples * ppo.explorations : 0);
}

/** Settings as stored in files: unset ones are omitted. */
export function plainSettings(settings: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(settings)) as Record<string, unknown>;
}

/**
 * Completed settings of a run: settings missing in a run of an earlier version have their default.
 * @param overrides such as `ppo.clipRange=0.1`, applied last
 * @throws WorkbenchError `config` for keys and values that this version lacks, `usage` for plugins of the run that are
 * not loaded
 */
export function settingsOfRun(run: RunInfo, overrides: readonly string[] = []): TrainSettings {
  const { config, folder } = run;
  // Values registered by a plugin, such as a kind of reward, would otherwise be refused as unknown.
  changedPluginsOf(run);
  return loadConfig(trainSettings, { text: JSON.stringify(config), overrides, source: folder });
}

/** Settings without a model use the embedded one, if the package contains it. */
export function withUsualModel(settings: TrainSettings): TrainSettings {
  const model = settings.encoder.model ?? defaultModel();
  return model === undefined ? settings : { ...settings, encoder: { ...settings.encoder, model } };
}

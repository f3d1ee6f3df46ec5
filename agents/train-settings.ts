/**
 * All settings for training, those of all runs and those of each method: the reference for files, `--set`, `config explain` and the docs.
 */
import { z } from 'zod';
import { loadConfig } from '../src/run/config.js';
import { WorkbenchError } from '../src/run/errors.js';
import { changedPluginsOf } from '../src/run/plugins.js';
import type { RunInfo } from '../src/run/records.js';
import { runSettings } from '../trainers/run-settings.js';
import { walkerSettings } from './dialogue-walker/settings.js';
import { bilinearSettings } from './embeddings/bilinear/settings.js';
import { transeSettings } from './embeddings/transe/settings.js';
import { exactWalkerSettings } from './exact-walker/settings.js';
import { demonstrationSettings, linkWalkerSettings } from './path-walker/settings.js';
import { policySettings } from './policy/spaces.js';
import { readerSettings } from './readers/settings.js';
import { relationWalkerSettings, teacherSettings } from './relation-walker/settings.js';

const { clone, ppo, evaluation, checkpoint, log, ...common } = runSettings.shape;

/** Every section of a configuration file, with its defaults. */
export const trainSettings = z.strictObject({
  ...common,
  transe: transeSettings.prefault({}),
  bilinear: bilinearSettings.prefault({}),
  walker: walkerSettings.prefault({}),
  relationWalker: relationWalkerSettings.prefault({}),
  linkWalker: linkWalkerSettings.prefault({}),
  demonstrations: demonstrationSettings.prefault({}),
  clone,
  teacher: teacherSettings
    .optional()
    .describe('Walks over relations: source of the cloned walks. `extends: student` sets the rest.'),
  ppo,
  reader: readerSettings
    .optional()
    .describe('Questions: trains a reader instead of a walker. `extends: readers` sets the rest.'),
  exactWalker: exactWalkerSettings
    .optional()
    .describe('Links: trains an exact walker instead of one that samples walks. `extends: link-chains` sets the rest.'),
  policy: policySettings
    .optional()
    .describe('Policies over vectors: only for environments with vector observations. `extends: policy` sets it.'),
  evaluation,
  checkpoint,
  log,
});

/** Every setting of a run with its value. */
export type TrainSettings = z.output<typeof trainSettings>;

let schema = trainSettings;

/** Adds the section of a method that a program registers. @throws WorkbenchError `usage` for a section that is there already */
export function addSection(name: string, section: z.ZodType): void {
  if (Object.hasOwn(schema.shape, name)) {
    throw new WorkbenchError('usage', `expected the name of a new section of settings, got "${name}", which is one`);
  }
  schema = schema.extend({ [name]: section.optional() }) as unknown as typeof trainSettings;
}

/** Schema of all settings, with the sections of registered methods. */
export const settingsSchema = () => schema;

/** Optional sections of methods that settings have, which not every method reads. */
export const optionalSections = (settings: object): string[] =>
  Object.entries(schema.shape).flatMap(([name, section]) =>
    section instanceof z.ZodOptional && !(name in runSettings.shape) && settings[name as never] !== undefined
      ? [name]
      : [],
  );

/**
 * Completed settings of a run: settings missing in a run of an earlier version have their default.
 * @param overrides such as `ppo.clipRange=0.1`, applied last
 * @throws WorkbenchError `config` for keys and values that this version lacks, `usage` for plugins of the run that are not loaded
 */
export function settingsOfRun(run: RunInfo, overrides: readonly string[] = []): TrainSettings {
  const { config, folder } = run;
  // Values registered by a plugin, such as a kind of reward, would otherwise be refused as unknown.
  changedPluginsOf(run);
  return loadConfig(schema, { value: config, overrides, source: folder });
}

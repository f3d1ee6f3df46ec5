/** Settings that every training run has, composed of those of the parts. Methods add their own: `agents/train-settings.ts`. */
import { z } from 'zod';
import { checkpointSettings } from '../checkpoints/keeper.js';
import { dataSettings } from '../datasets/settings.js';
import { envSettings, linkWalkSettings, relationWalkSettings, stateTextSettings } from '../envs/settings.js';
import { encoderSettings } from '../src/encoder/settings.js';
import { defaultModel } from '../src/llm/model-files.js';
import { executorNames } from '../src/nn/open-executor.js';
import { logSettings } from '../src/run/tensorboard.js';
import { cloneSettings } from './clone-settings.js';
import { ppoSettings } from './ppo-settings.js';

/** The `evaluation` section of a configuration file. */
export const evaluationSettings = z
  .strictObject({
    beamWidth: z
      .int()
      .min(1)
      .default(30)
      .describe(
        'Complete walks an agent ranks for a sample. At least the largest of `ks`, or path@k would be cut short.',
      ),
    ks: z.array(z.int().min(1)).min(1).default([1, 3, 5, 10, 25]).describe('The k of path@k, target@k and their kin.'),
    resamples: z
      .int()
      .min(1)
      .default(2000)
      .describe('Bootstrap resamples behind every interval and test; whole dialogues are drawn.'),
    twoHopBonus: z
      .number()
      .default(0)
      .describe(
        'Added to the log-probability of two-hop walks when ranking, in nats; 0.6 finds more two-hop golds at the price of one-hop ones. Probabilities stay what they are.',
      ),
    pooling: z
      .enum(['max', 'sum'])
      .default('max')
      .describe(
        'Link queries: what an entity is worth that several walks of a beam reach: the probability of the best, or of all together. It chooses the best checkpoint; evaluations show both.',
      ),
    batchSize: z.int().min(1).default(256).describe('Samples an agent gets at once. Changes speed, not results.'),
    examples: z.int().min(0).default(12).describe('Worked examples to keep in a saved evaluation, drawn by seed.'),
  })
  .refine(({ beamWidth, ks }) => beamWidth >= Math.max(...ks), {
    path: ['beamWidth'],
    message: 'expected a beam at least as wide as the largest k, got a narrower one',
  });

/** Every setting with its value. */
export type EvaluationSettings = z.output<typeof evaluationSettings>;

/** Sections and values that all methods share, with their defaults. */
export const runSettings = z.strictObject({
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
  clone: cloneSettings.prefault({}),
  ppo: ppoSettings.prefault({}),
  evaluation: evaluationSettings.prefault({}),
  checkpoint: checkpointSettings.prefault({}),
  log: logSettings.prefault({}),
});

/** Shared settings of a run with their values; those of its method come with them. */
export type RunSettings = z.output<typeof runSettings>;

/** Largest number of walks in a training step of the enabled phases, from which `backend: auto` derives the batch size. */
export function walksPerStep({ clone, ppo }: Pick<RunSettings, 'clone' | 'ppo'>): number {
  return Math.max(clone.enabled ? clone.batchSize : 0, ppo.enabled ? ppo.minibatchSamples * ppo.explorations : 0);
}

/** Settings as stored in files: unset ones are omitted. */
export function plainSettings(settings: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(settings)) as Record<string, unknown>;
}

/** Settings without a model use the embedded one, if the package contains it. */
export function withUsualModel<Settings extends RunSettings>(settings: Settings): Settings {
  const model = settings.encoder.model ?? defaultModel();
  return model === undefined ? settings : { ...settings, encoder: { ...settings.encoder, model } };
}

/** Settings of PPO: the `ppo` section of a configuration file. */
import { z } from 'zod';

/** Baselines that compare the walks of one sample. */
export const groupBaselines: readonly string[] = ['group-mean', 'leave-one-out'];

/** The `ppo` section of a configuration file. */
export const ppoSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('Run this phase.'),
  init: z
    .enum(['clone', 'scratch'])
    .default('clone')
    .describe('Initial policy: from behaviour cloning, or newly initialized weights (then set klCoef to 0).'),
  gradient: z
    .enum(['sampled', 'exact'])
    .default('sampled')
    .describe(
      'Estimator of the policy gradient: sampled walks (PPO), or the expected path reward in closed form, which PPO estimates. `exact` requires the path reward, no critic and no shaping.',
    ),
  algorithm: z
    .enum(['ppo', 'reinforce'])
    .default('ppo')
    .describe(
      "How sampled walks are learned from: PPO's clipped ratios, or REINFORCE, −A · log π in one step a round (updateEpochs 1, one minibatch), as MINERVA and MultiHopKG train.",
    ),
  updates: z.int().min(1).max(1_000_000).default(200).describe('Rollout-and-update rounds.'),
  samplesPerUpdate: z.int().min(1).max(100_000).default(96).describe('Samples walked per round.'),
  explorations: z
    .int()
    .min(1)
    .max(1024)
    .default(8)
    .describe('Rollouts per sample; baselines of the group need at least 2.'),
  actionDropout: z
    .number()
    .min(0)
    .max(0.99)
    .default(0)
    .describe(
      'Probability of dropping each action during rollouts, so that walks do not all follow the first rewarded path; learning uses the probabilities without dropout, which makes baseline=moving-average misleading. MultiHopKG: 0.5 on FB15k-237, 0.9 on UMLS and Kinship.',
    ),
  minibatchSamples: z
    .int()
    .min(1)
    .max(100_000)
    .default(96)
    .describe('Samples per minibatch, each with all its walks; the last minibatch may be smaller.'),
  updateEpochs: z.int().min(1).max(100).default(2).describe('Passes over the buffer per round.'),
  learningRate: z.number().min(0).max(1).default(1e-4).describe('Peak learning rate of Adam.'),
  lrDecay: z.enum(['linear', 'none']).default('linear').describe('Decay of the learning rate after the warm-up.'),
  warmupUpdates: z.int().min(0).default(10).describe('Rounds over which the learning rate rises linearly from zero.'),
  finalLrShare: z.number().min(0).max(1).default(0.1).describe('Share of the peak learning rate at the last round.'),
  clipRange: z.number().min(0.001).max(10).default(0.2).describe('Probability ratios are clipped to 1 ± this.'),
  dualClip: z
    .number()
    .min(1.01)
    .max(1000)
    .nullable()
    .default(null)
    .describe(
      'Upper bound of the ratios of actions with a negative advantage (dual clip, 3 in its paper); null: unbounded. For rollouts with action dropout, which take actions of very low probability.',
    ),
  clipRangeValue: z
    .number()
    .min(0.001)
    .max(1000)
    .nullable()
    .default(null)
    .describe(
      "How far a value may move from the collector's before its loss is clipped; in units of return; null: no clip.",
    ),
  adamEpsilon: z
    .number()
    .min(0)
    .max(1)
    .default(1e-8)
    .describe('Epsilon that Adam adds to the root of its second moment.'),
  entropyCoef: z.number().min(0).max(10).default(0).describe('Weight of the entropy bonus, in nats.'),
  entropyDecay: z
    .enum(['none', 'linear'])
    .default('none')
    .describe('Schedule of the entropy bonus: constant weight, or linear decay to 0 over the updates.'),
  feasibilityCoef: z
    .number()
    .min(0)
    .max(100)
    .default(0)
    .describe(
      'Weight of the feasibility loss, in nats: minus the log-probability that the unmasked policy takes a legal action. It trains masked scores, and has no effect if only legal actions are listed, as over edges.',
    ),
  valueCoef: z.number().min(0).max(100).default(0.5).describe('Weight of the critic loss (mean squared error).'),
  maxGradNorm: z.number().min(0).default(0.5).describe('The whole gradient is scaled down to this norm; 0: no clip.'),
  gamma: z.number().min(0).max(1).default(1).describe('Discount of later rewards.'),
  gaeLambda: z.number().min(0).max(1).default(0.95).describe('Decay of GAE; used by `baseline: critic` only.'),
  baseline: z
    .enum(['group-mean', 'leave-one-out', 'critic', 'moving-average', 'none'])
    .default('group-mean')
    .describe(
      'Baseline of the advantages: the mean return of the walks of the same sample (GRPO), that of the others alone (RLOO), a learned critic with GAE, an exponential moving average of the mean return of earlier rounds, or 0.',
    ),
  baselineDecay: z
    .number()
    .min(0)
    .max(1)
    .default(0.95)
    .describe('Decay of the moving average per round; used by `baseline: moving-average` only.'),
  normalizeAdvantage: z
    .enum(['minibatch', 'buffer', 'group', 'none'])
    .default('minibatch')
    .describe(
      'Set over which advantages are divided by their standard deviation (and centred, with the critic or no baseline); group: the walks of the same sample, by the deviation of their returns (GRPO).',
    ),
  targetKl: z
    .number()
    .min(0)
    .nullable()
    .default(null)
    .describe('A round stops once approx_kl of a minibatch exceeds 1.5 times this, in nats; null: never.'),
  klCoef: z
    .number()
    .min(0)
    .max(1000)
    .default(1)
    .describe(
      'Weight of the exact KL divergence from the clone, averaged over visited states, in nats. Below 0.3 the tail of the ranking gets worse.',
    ),
  trainHorizon: z
    .int()
    .min(1)
    .max(8)
    .nullable()
    .default(null)
    .describe(
      'Horizon of training walks; null: env.horizon. Evaluation always uses env.horizon. The scripts of LLM-ARK train with 1.',
    ),
  evalEvery: z.int().min(1).default(20).describe('Rounds between evaluations on valid.'),
  evalSamples: z
    .int()
    .min(1)
    .nullable()
    .default(500)
    .describe('Size of the seeded sample of valid for evaluations; null: all of it.'),
  patience: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Evaluations without a better path@1 (on questions: F1) before training stops; null: never.'),
});

/** Every setting with its value. */
export type PpoSettings = z.output<typeof ppoSettings>;

/** Settings of exact walkers: link-prediction agents that sum over all walks instead of sampling. */
import { z } from 'zod';

/** Kind names in documentation order; `registry.ts` maps each. */
export const exactWalkerKinds = ['chains', 'messages'] as const;
/** One of `exactWalkerKinds`. */
export type ExactWalkerKindName = (typeof exactWalkerKinds)[number];

const chainObjectives = ['likelihood', 'expected-reward', 'reinforce', 'ppo'] as const;

const chainSettings = z.strictObject({
  objective: z
    .enum(chainObjectives)
    .default('likelihood')
    .describe(
      'Objective of the chain policy: `likelihood`, log probability that a walk ends on the answer; `expected-reward`, that probability, exact; `reinforce` and `ppo`, the same from sampled walks. All but the first are for comparison.',
    ),
  chains: z.int().min(1).max(10_000).default(200).describe('Maximum chains per query relation.'),
  queries: z.int().min(1).default(400).describe('Maximum train queries per relation; sampled if there are more.'),
  minedTriples: z.int().min(1).default(200).describe('Train triples per relation used to count chains.'),
  minedEdges: z
    .int()
    .min(1)
    .default(100_000)
    .describe(
      'Maximum edges followed from a head at the second hop (and at the third for chains of four relations) while counting; sampled if there are more.',
    ),
  candidates: z
    .array(z.int().min(1))
    .min(1)
    .max(4)
    .default([60, 150, 300])
    .describe(
      'Number of most frequent chains of one, two, three … relations to measure; the last one also holds for longer chains.',
    ),
  measuredTriples: z.int().min(1).default(40).describe('Train triples per relation used to measure chains.'),
  steps: z.int().min(1).default(400).describe('Adam steps per relation; with ppo, rollouts.'),
  batchSize: z.int().min(1).max(65536).default(16).describe('Queries per step.'),
  learningRate: z.number().positive().max(10).default(0.05).describe('Initial learning rate; decays linearly to 0.'),
  walks: z.int().min(2).max(4096).default(8).describe('reinforce and ppo: sampled walks per query.'),
  epochs: z.int().min(1).max(100).default(4).describe('ppo: Adam steps per rollout.'),
  clipRange: z.number().min(0.001).max(10).default(0.2).describe('ppo: clip range of the probability ratio.'),
});
/** Type of `exactWalkerSettings.chains`. */
export type ChainSettings = z.output<typeof chainSettings>;

const messageSettings = z.strictObject({
  relations: z
    .enum(['own', 'names', 'graph'])
    .default('own')
    .describe(
      'Relation weights: `own`, free parameters; `names`, computed from the text vector of the name (encoder.model), and `graph`, computed from how relations meet (ULTRA), which also rank unseen relations and graphs with other relations.',
    ),
  views: z
    .int()
    .min(0)
    .max(64)
    .default(12)
    .describe(
      'graph: parts of the graph with few relations to train on as well, each with a separate network in memory.',
    ),
  generated: z
    .int()
    .min(1)
    .max(1024)
    .optional()
    .describe('graph: generated graphs to train on as well, half of the time.'),
  from: z
    .string()
    .min(1)
    .optional()
    .describe(
      'graph: initial weights, `zero-shot` for those of the package or a file of `kgwalk checkpoint export`; absent: drawn.',
    ),
  nameComponents: z
    .int()
    .min(1)
    .max(4096)
    .default(16)
    .describe(
      'names: principal components of the name vectors. More separate seen relations better and generalise worse to new ones.',
    ),
  channels: z
    .union([z.literal(16), z.literal(32), z.literal(48), z.literal(64)])
    .default(16)
    .describe('Numbers of a message: 16, 32, 48 or 64.'),
  maximum: z
    .boolean()
    .default(false)
    .describe('Entities read the maximum of the messages that arrive, next to their sum.'),
  steps: z.int().min(1).default(4000).describe('Adam steps.'),
  batchSize: z.int().min(1).max(65536).default(32).describe('Train queries per step.'),
  learningRate: z
    .number()
    .positive()
    .max(1)
    .default(5e-3)
    .describe('Learning rate after warm-up; decays linearly to 0.'),
  warmupSteps: z.int().min(0).default(100).describe('Warm-up steps.'),
  maxGradNorm: z.number().positive().default(5).describe('Maximum global gradient norm.'),
  answers: z.int().min(0).default(48).describe('Negatives per query drawn from answers of the relation.'),
  ends: z.int().min(0).default(12).describe('Negatives per query drawn from ends of any triples.'),
  others: z.int().min(0).default(40).describe('Negatives per query drawn from all entities.'),
});
/** Type of `exactWalkerSettings.messages`. */
export type MessageSettings = z.output<typeof messageSettings>;

/** The `exactWalker` section of a configuration file. */
export const exactWalkerSettings = z.strictObject({
  kind: z
    .enum(exactWalkerKinds)
    .default('chains')
    .describe(
      'Model: `chains`, a chain mixture (policy over relation chains with exact end distribution), or `messages`, message passing (NBFNet) over all walks of linkWalk.horizon hops.',
    ),
  reach: z
    .number()
    .min(0)
    .max(1)
    .default(0.95)
    .describe(
      'Share of valid’s answers that should lie within linkWalk.horizon, which is raised until they do when training begins, at most to 4 of chains and 6 of messages; 0: as it is.',
    ),
  evaluations: z
    .int()
    .min(1)
    .max(1000)
    .default(4)
    .describe('Number of evaluations on valid, evenly spread over training; each writes a checkpoint.'),
  evalSamples: z
    .int()
    .min(1)
    .nullable()
    .default(500)
    .describe('Valid triples for curves and the best checkpoint, a seeded sample; null: all.'),
  chains: chainSettings.prefault({}).describe('Chain mixture.'),
  messages: messageSettings.prefault({}).describe('Message passing (NBFNet).'),
});
/** All settings with their values. */
export type ExactWalkerSettings = z.output<typeof exactWalkerSettings>;

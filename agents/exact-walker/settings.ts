/** Settings of exact walkers: link-prediction agents that sum over all walks instead of sampling. */
import { z } from 'zod';

/** Kind names in documentation order; `registry.ts` maps each. */
export const exactWalkerKinds = ['chains', 'messages'] as const;
/** One of `exactWalkerKinds`. */
export type ExactWalkerKindName = (typeof exactWalkerKinds)[number];

/** Training objectives of the chain policy, in documentation order. */
const chainObjectives = ['likelihood', 'expected-reward', 'reinforce', 'ppo'] as const;

const chainSettings = z.strictObject({
  objective: z
    .enum(chainObjectives)
    .default('likelihood')
    .describe(
      'What the policy over chains is fitted to: `likelihood`, the logarithm of the chance that a walk ends on the answer; `expected-reward`, that chance itself, exact; `reinforce` and `ppo`, the same from sampled walks. All but the first are there to compare.',
    ),
  chains: z.int().min(1).max(10_000).default(200).describe('Chains that a query relation keeps.'),
  queries: z
    .int()
    .min(1)
    .default(400)
    .describe('Train queries that a relation learns from; drawn where there are more.'),
  minedTriples: z.int().min(1).default(200).describe('Train triples of a relation whose walks are counted.'),
  minedEdges: z
    .int()
    .min(1)
    .default(100_000)
    .describe(
      'Edges of the second hop, and of the third where chains have four relations, that are followed from a head while counting; drawn where there are more.',
    ),
  candidates: z
    .array(z.int().min(1))
    .min(1)
    .max(4)
    .default([60, 150, 300])
    .describe(
      'Most frequent chains of one, two, three … relations that are measured; the last number is that of longer ones, too.',
    ),
  measuredTriples: z.int().min(1).default(40).describe('Train triples of a relation that chains are measured on.'),
  steps: z.int().min(1).default(400).describe('Steps of Adam a relation; with ppo, rounds of walks.'),
  batchSize: z.int().min(1).max(65536).default(16).describe('Queries a step.'),
  learningRate: z.number().positive().max(10).default(0.05).describe('Of the first step; falls linearly to 0.'),
  walks: z.int().min(2).max(4096).default(8).describe('Walks that are sampled from a query: reinforce and ppo.'),
  epochs: z.int().min(1).max(100).default(4).describe('Steps of Adam from the same walks: ppo.'),
  clipRange: z.number().min(0.001).max(10).default(0.2).describe('Probability ratios are clipped to 1 ± this: ppo.'),
});
/** Type of `exactWalkerSettings.chains`. */
export type ChainSettings = z.output<typeof chainSettings>;

const messageSettings = z.strictObject({
  relations: z
    .enum(['own', 'names'])
    .default('own')
    .describe(
      'Where weights of a relation come from: `own`, numbers of its own; `names`, from the text vector of its name (encoder.model), so that relations that were never seen are ranked, and graphs with other relations.',
    ),
  nameComponents: z
    .int()
    .min(1)
    .max(4096)
    .default(16)
    .describe(
      'Principal components of the text vector of a name that weights follow from: names. With many, relations that are seen are told apart and new ones guessed worse.',
    ),
  steps: z.int().min(1).default(4000).describe('Steps of Adam.'),
  batchSize: z.int().min(1).max(65536).default(32).describe('Train queries a step.'),
  learningRate: z
    .number()
    .positive()
    .max(1)
    .default(5e-3)
    .describe('After the warm-up, from where it falls linearly to 0.'),
  warmupSteps: z.int().min(0).default(100).describe('Steps until it is reached.'),
  maxGradNorm: z.number().positive().default(5).describe('Largest global gradient norm.'),
  answers: z.int().min(0).default(48).describe('Answers of the relation that a query is told from, drawn.'),
  ends: z.int().min(0).default(12).describe('Ends of any triples that it is told from, drawn.'),
  others: z.int().min(0).default(40).describe('Entities that it is told from, drawn.'),
});
/** Type of `exactWalkerSettings.messages`. */
export type MessageSettings = z.output<typeof messageSettings>;

/** The `exactWalker` section of a configuration file. */
export const exactWalkerSettings = z.strictObject({
  kind: z
    .enum(exactWalkerKinds)
    .default('chains')
    .describe(
      'Which one: `chains`, a policy over chains of relations whose walk distribution is computed exactly, or `messages`, message passing over all walks of linkWalk.horizon hops.',
    ),
  evaluations: z
    .int()
    .min(1)
    .max(1000)
    .default(4)
    .describe('Evaluations on valid, spread over the steps of training, each of which writes a checkpoint.'),
  evalSamples: z
    .int()
    .min(1)
    .nullable()
    .default(500)
    .describe('Valid triples that curves and the best checkpoint are made of, a seeded sample; null: all.'),
  chains: chainSettings.prefault({}).describe('Kind chains.'),
  messages: messageSettings.prefault({}).describe('Kind messages.'),
});
/** All settings with their values. */
export type ExactWalkerSettings = z.output<typeof exactWalkerSettings>;

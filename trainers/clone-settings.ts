/** Settings of behaviour cloning. */
import { z } from 'zod';
import { linkedTurnSettings } from '../datasets/settings.js';

/** The `clone` section of a configuration file. */
export const cloneSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether to clone the gold walks before PPO.'),
  epochs: z
    .int()
    .min(1)
    .max(1000)
    .default(4)
    .describe('Passes over the train samples; the epoch with the lowest valid loss is kept.'),
  batchSize: z.int().min(1).max(65536).default(128).describe('Samples an update; each brings one state a hop.'),
  learningRate: z.number().positive().max(1).default(2e-3).describe('Peak learning rate of AdamW.'),
  weightDecay: z.number().min(0).max(1).default(1e-4).describe('Decoupled weight decay.'),
  warmupSteps: z
    .int()
    .min(0)
    .default(60)
    .describe('Updates over which the learning rate rises linearly; then it falls as a cosine.'),
  finalLearningRateShare: z.number().min(0).max(1).default(0.02).describe('Share of the peak that the cosine ends at.'),
  maxGradNorm: z.number().positive().default(1).describe('Largest global gradient norm.'),
  maxCandidates: z
    .int()
    .min(3)
    .default(64)
    .describe(
      'Most actions listed a state in training: larger hubs are sampled uniformly, with logits corrected for it. With loss=nodes all edges into the gold entity are listed, however many. Evaluation never samples.',
    ),
  loss: z
    .enum(['edges', 'nodes', 'hinge'])
    .default('edges')
    .describe(
      'What is cloned of dialogues: `edges`, the gold edges; `nodes`, where they lead: −ln of the summed probability of all edges into the gold entity, as AttnIO does; `hinge`, the margins between vectors of golds and of 20 others drawn from the whole graph, as the OpenDialKG paper does (heads seq2seq and dialkg-walker). Losses on valid are of edges in any case.',
    ),
  twoHopWeight: z.number().positive().max(100).default(1).describe('Weight of two-hop golds in the loss.'),
  linkedTurns: linkedTurnSettings
    .nullable()
    .default(null)
    .describe(
      'Dialogues: also clones walks of train turns that nobody annotated, between the entities they name; null: annotated turns alone.',
    ),
});

/** Every setting with its value. */
export type CloneSettings = z.output<typeof cloneSettings>;

/** The `demonstrations` section of a configuration file. */
export const demonstrationSettings = z.strictObject({
  paths: z
    .int()
    .min(1)
    .max(100)
    .default(5)
    .describe('Walks from head to answer that are shown of a query, drawn where there are more.'),
  teacher: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'Run of an exact walker over chains, by name or folder, whose walks are shown: drawn by how likely each led to the answer; null: shortest paths, each as likely as any other.',
    ),
  queries: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Queries of train that are shown, drawn evenly; null: all.'),
});

/** Every setting with its value. */
export type DemonstrationSettings = z.output<typeof demonstrationSettings>;

/** The `teacher` section of a configuration file. */
export const teacherSettings = z.strictObject({
  evaluation: z
    .string()
    .min(1)
    .describe('Kept evaluation of an agent on train questions, by name or folder, whose relation chains are cloned.'),
  accept: z
    .enum(['verified', 'confident', 'all'])
    .default('verified')
    .describe('Which of its chains: those that passed the agent’s own check, those it was confident of, or all.'),
  minConfidence: z.number().min(0).max(1).default(0.5).describe('Least confidence of a chain, with accept=confident.'),
  simulated: z
    .boolean()
    .default(false)
    .describe('Whether a simulated model, which knows the golds, may teach: for tests of algorithms.'),
});

/** Every setting with its value. */
export type TeacherSettings = z.output<typeof teacherSettings>;

/** Settings of EmbedKGQA. */
import { z } from 'zod';

/** Keys of the `reader` section that this kind alone reads. */
export const embedKgqaSettings = {
  candidates: z
    .enum(['all', 'reach'])
    .default('all')
    .describe(
      'Kind embed-kgqa: entities that an answer is chosen from: all but the topic, as published, or those within relationWalk.horizon edges of it, which only looks easier than it is on small graphs.',
    ),
  matching: z
    .number()
    .min(0)
    .max(1000)
    .default(0)
    .describe(
      'Kind embed-kgqa: relation matching, added to a score for each relation on a shortest path from the topic that the question is taken to ask for; 0 learns and adds none.',
    ),
  keep: z
    .number()
    .positive()
    .max(1)
    .default(0.5)
    .describe(
      'Kind embed-kgqa: entities with at least this share of the likeliest one’s probability are answers, too; 1: the likeliest alone.',
    ),
  questionWidth: z
    .int()
    .min(2)
    .max(8192)
    .default(512)
    .describe('Kind embed-kgqa: units of both layers over a question’s vector.'),
  negatives: z
    .int()
    .min(1)
    .max(65536)
    .default(2048)
    .describe('Kind embed-kgqa: entities drawn for every step, which the answers of its questions compete with.'),
  table: z
    .strictObject({
      dim: z
        .int()
        .min(8)
        .max(4096)
        .multipleOf(8)
        .default(200)
        .describe('Numbers of a vector: half as many complex ones.'),
      epochs: z
        .int()
        .min(1)
        .max(1000)
        .default(8)
        .describe('Passes over all facts of the graph before the first question.'),
      batchSize: z
        .int()
        .min(1)
        .max(65536)
        .default(256)
        .describe('Queries (head, relation) of an update, inverses included.'),
      negatives: z
        .int()
        .min(1)
        .max(65536)
        .default(512)
        .describe('Entities that the queries of a batch are compared with.'),
      learningRate: z
        .number()
        .positive()
        .max(100)
        .default(0.1)
        .describe('Step size of Adagrad in the first epoch; falls linearly to 0.'),
      regularization: z.number().min(0).max(10).default(0.001).describe('Weight of N3.'),
      trainedOn: z
        .number()
        .min(0)
        .max(100)
        .default(0.03)
        .describe(
          'Step size of Adagrad for the table at the first step on questions; falls as theirs does. 0 freezes it.',
        ),
      factsWeight: z
        .number()
        .min(0)
        .max(100)
        .default(0.25)
        .describe('Weight of a batch of 64 graph queries with every batch of questions, against forgetting.'),
    })
    .prefault({})
    .describe('Kind embed-kgqa: ComplEx over the whole graph. It is fitted, not judged: no fact is held out.'),
};

/** Every setting with its value. */
export type EmbedKgqaSettings = z.output<z.ZodObject<typeof embedKgqaSettings>>;

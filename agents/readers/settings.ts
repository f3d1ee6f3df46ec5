/** Settings of readers: question agents that learn from questions and answers without walking by PPO. */
import { z } from 'zod';
import { choice, real, whole } from '../registry.js';

/** Names of the kinds, in the order of the documentation; `registry.ts` has a line for each. */
export const readerKinds = [
  'nsm-chains',
  'transfernet-chains',
  'independent',
  'walker-chains',
  'uni-kgqa',
  'embed-kgqa',
  'nsm',
  'kv-mem',
] as const;
export type ReaderKindName = (typeof readerKinds)[number];

const fitSettings = z.strictObject({
  steps: z.int().min(1).default(400).describe('Steps down the gradient.'),
  batchSize: whole(1, 65536, 64).describe('Questions of train a step.'),
  learningRate: z.number().positive().max(1).default(4e-3).describe('Of the first step; falls linearly from there.'),
  finalLearningRateShare: real(0, 1, 0.05).describe('Share of it that the last step has.'),
  maxGradNorm: z.number().positive().default(1).describe('Largest global gradient norm.'),
  dropout: real(0, 0.9, 0.2).describe('Share of numbers that a step leaves out where a reader does so.'),
  evalEvery: z
    .int()
    .min(1)
    .default(50)
    .describe('Steps between evaluations on valid, each of which writes a checkpoint.'),
  evalSamples: z
    .int()
    .min(1)
    .nullable()
    .default(1000)
    .describe('Valid questions that curves and the best checkpoint are made of, a seeded sample; null: all.'),
});

/** Keys of the `reader` section that this kind alone reads. */
const embedKgqaSettings = {
  candidates: choice(['all', 'reach'], 'all').describe(
    'Kind embed-kgqa: entities that an answer is chosen from: all but the topic, as published, or those within relationWalk.horizon edges of it, which only looks easier than it is on small graphs.',
  ),
  matching: real(0, 1000, 0).describe(
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
  questionWidth: whole(2, 8192, 512).describe('Kind embed-kgqa: units of both layers over a question’s vector.'),
  negatives: whole(1, 65536, 2048).describe(
    'Kind embed-kgqa: entities drawn for every step, which the answers of its questions compete with.',
  ),
  table: z
    .strictObject({
      dim: z
        .int()
        .min(8)
        .max(4096)
        .multipleOf(8)
        .default(200)
        .describe('Numbers of a vector: half as many complex ones.'),
      epochs: whole(1, 1000, 8).describe('Passes over all facts of the graph before the first question.'),
      batchSize: whole(1, 65536, 256).describe('Queries (head, relation) of an update, inverses included.'),
      negatives: whole(1, 65536, 512).describe('Entities that the queries of a batch are compared with.'),
      learningRate: z
        .number()
        .positive()
        .max(100)
        .default(0.1)
        .describe('Step size of Adagrad in the first epoch; falls linearly to 0.'),
      regularization: real(0, 10, 0.001).describe('Weight of N3.'),
      trainedOn: real(0, 100, 0.03).describe(
        'Step size of Adagrad for the table at the first step on questions; falls as theirs does. 0 freezes it.',
      ),
      factsWeight: real(0, 100, 0.25).describe(
        'Weight of a batch of 64 graph queries with every batch of questions, against forgetting.',
      ),
    })
    .prefault({})
    .describe('Kind embed-kgqa: ComplEx over the whole graph. It is fitted, not judged: no fact is held out.'),
};

/** Keys of the kinds that score the entities of a subgraph. */
const entitySettings = {
  entities: z
    .strictObject({
      most: whole(1, 100_000, 500).describe('Entities of a question’s subgraph, those of highest PageRank.'),
      dim: whole(1, 4096, 48).describe('Numbers of an entity’s state or row, of a relation and of an instruction.'),
      setShare: real(0, 1, 0.3).describe('The answer is every entity with at least this share of the best one’s.'),
      teacher: choice(['none', 'parallel', 'hybrid'], 'none').describe(
        'Kind nsm: a network that walks from the answers back as well and says where its walks are in between; both ways by themselves, or with instructions in common.',
      ),
      teacherSteps: z
        .int()
        .min(1)
        .default(200)
        .describe('Of fit.steps the first, in which the teacher is trained; the network that answers has the others.'),
      guidance: real(0, 10, 0.05).describe('Weight of the distance from what the teacher says.'),
      memory: whole(1, 1_000_000, 1000).describe('Kind kv-mem: facts that a question reads, those nearest its topic.'),
      learningRate: z
        .number()
        .positive()
        .max(100)
        .default(0.1)
        .describe('Kind kv-mem: of the first step of entities’ rows, which go by Adagrad; falls as that of fit.'),
      deviation: z.number().positive().max(10).default(0.35).describe('Kind kv-mem: of fresh numbers.'),
    })
    .prefault({})
    .describe('Kinds nsm, uni-kgqa and kv-mem, which score the entities of a subgraph.'),
};

/** The `reader` section of a configuration file. */
export const readerSettings = z.strictObject({
  kind: choice(readerKinds, 'nsm-chains').describe('Which reader: see docs/methods/readers.md.'),
  words: choice(['frozen', 'trained'], 'frozen').describe(
    'Vectors of words: each word encoded by itself by the frozen encoder and projected, or a table that is learned, where words that train lacks share a row.',
  ),
  reads: choice(['sentence', 'words'], 'sentence').describe(
    'What readers without attention make a question of: the frozen vector of its text, or the ends of a GRU over its words.',
  ),
  supervision: choice(['answers', 'chain'], 'answers').describe(
    'What readers of chains learn from: every chain that leads to answers, by its F1, or where it is known the chain alone that the question was made from.',
  ),
  hops: z
    .enum(['instructions', 'pooled', 'given'])
    .nullable()
    .default(null)
    .describe(
      'Source of the number of relations of a question: the attended words, the question as one vector, or the data set. null: the kind’s own.',
    ),
  order: z
    .enum(['forward', 'backward'])
    .nullable()
    .default(null)
    .describe(
      'Which relation of a chain is read first: the one at the topic, or the one at the answer. null: the kind’s own.',
    ),
  wordDim: whole(1, 4096, 64).describe('Numbers of a word’s vector behind the projection, or in the table.'),
  width: whole(2, 4096, 64).describe('Units of a GRU each way; attention has twice as many.'),
  hidden: whole(1, 8192, 256).describe('Units of the layer that readers of one vector have.'),
  maxWords: whole(1, 512, 64).describe('Words of a question that count; the first are dropped.'),
  widest: z
    .int()
    .min(1)
    .default(1000)
    .describe(
      'Largest entity set that chains continue from in training: bounds the chains that are tried of a question.',
    ),
  shots: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Train questions of a template that are learned from; null: all.'),
  pretrain: z
    .strictObject({
      steps: z
        .int()
        .min(0)
        .default(100)
        .describe('Of fit.steps the first, whose loss brings questions near their relations besides.'),
      temperature: z.number().positive().max(10).default(0.05).describe('What cosines are divided by.'),
    })
    .prefault({})
    .describe('Kind uni-kgqa: contrastive pretraining on the relations of the chains that answer train best.'),
  ...embedKgqaSettings,
  ...entitySettings,
  fit: fitSettings.prefault({}),
});

/** Every setting with its value. */
export type ReaderSettings = z.output<typeof readerSettings>;

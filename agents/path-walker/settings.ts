/** Settings of the network that walks link queries. */
import { z } from 'zod';

export const pathEncoders = ['mean', 'gru', 'lstm'] as const;

/** The `linkWalker` section of a configuration file. */
export const linkWalkerSettings = z.strictObject({
  vectors: z
    .enum(['random', 'transe', 'bilinear'])
    .default('random')
    .describe(
      'What the vectors of entities and relations start from: drawn at random, or pretrained by the section of that name.',
    ),
  trainVectors: z
    .boolean()
    .default(true)
    .describe(
      'Whether these vectors are trained with the network. Off: the way they start is the way they stay, which needs vectors=transe or bilinear and is faster on large graphs.',
    ),
  readEntities: z
    .boolean()
    .default(true)
    .describe(
      'Whether states and edges are read with vectors of their entities; off, by relations alone: what is learned then says nothing of single entities, and edges of one relation are level.',
    ),
  vectorDim: z
    .int()
    .min(4)
    .max(1024)
    .default(64)
    .describe('Width of the vectors where they are drawn; pretrained ones have their own.'),
  pathEncoder: z
    .enum(pathEncoders)
    .default('lstm')
    .describe(
      'How the steps walked become one vector: their mean, or the last state of a GRU or LSTM over them, as in MINERVA and MultiHopKG.',
    ),
  pathDim: z.int().min(4).max(2048).default(128).describe('Units of the GRU or LSTM.'),
  width: z.int().min(4).max(8192).default(128).describe('Units of each hidden layer of policy and critic.'),
});

export type LinkWalkerSettings = z.output<typeof linkWalkerSettings>;

/** The `demonstrations` section of a configuration file. */
export const demonstrationSettings = z.strictObject({
  paths: z
    .int()
    .min(1)
    .max(100)
    .default(5)
    .describe(
      'Maximum number of demonstrated walks per query, from head to answer; a random sample if there are more.',
    ),
  teacher: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'Run of an exact walker over chains, by name or folder, as source of demonstrations: walks drawn by their probability of having led to the answer; null: shortest paths, drawn uniformly.',
    ),
  queries: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Number of train queries with demonstrations, drawn uniformly; null: all.'),
});

/** Every setting with its value. */
export type DemonstrationSettings = z.output<typeof demonstrationSettings>;

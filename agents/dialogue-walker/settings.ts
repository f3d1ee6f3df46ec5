/** Settings of the dialogue walker's network and inputs. */
import { z } from 'zod';

/** The `walker` section of a configuration file. */
export const walkerSettings = z.strictObject({
  head: z
    .enum([
      'candidate',
      'pa-mlp',
      'attn-flow',
      'attn-io',
      'diff-kg',
      'kg-cruse',
      'seq2path',
      'hitkg',
      'seq2seq',
      'dialkg-walker',
      'tri-lstm',
    ])
    .default('candidate')
    .describe(
      'Network that scores the edges: `candidate` adds edge features and an MLP per edge; `pa-mlp` is the dot product head of LLM-ARK; the others are of the papers on OpenDialKG that docs/methods/dialogue-walker.md compares.',
    ),
  entityVectors: z
    .array(z.enum(['name', 'signature', 'transe']))
    .min(1)
    .default(['name', 'signature'])
    .describe(
      'Frozen parts of an entity vector: text vector of the name, relation counts, TransE. The text and count parts are reduced to `componentDim` principal components.',
    ),
  relationVectors: z
    .enum(['name', 'transe'])
    .default('name')
    .describe('Frozen vector of a relation: text vector of its name, or TransE.'),
  componentDim: z
    .int()
    .min(2)
    .max(1024)
    .default(128)
    .describe(
      'Principal components kept of each entity part. With entityInit=random-trainable: the dimension of an entity vector and of a relation vector, 200 in LLM-ARK.',
    ),
  entityInit: z
    .enum(['frozen', 'random-trainable'])
    .default('frozen')
    .describe(
      'Where the vectors of edges come from (pa-mlp head): `frozen` as entityVectors and relationVectors say; `random-trainable` draws those of entities and relations at random and trains them with the network, as LLM-ARK without TransE. Needs placeVectors=false.',
    ),
  text: z
    .enum(['frozen', 'words', 'both'])
    .default('frozen')
    .describe(
      'What of the dialogue is read: `frozen` text vectors, the `words` of messages by LSTMs that are trained with the network, from vectors that start at random, or `both` (every head but pa-mlp).',
    ),
  pathAware: z
    .boolean()
    .default(true)
    .describe(
      'Whether edges are scored by their vectors; false (pa-mlp head) gives one logit to each of env.maxOut places of the action list, as LLM-ARK without path awareness: what is learned holds for one graph and one order of edges.',
    ),
  edgeFeatures: z
    .boolean()
    .default(true)
    .describe('Whether the head sees the features of an edge (mentions, overlaps, counts); `pa-mlp` never does.'),
  trainCounts: z
    .boolean()
    .default(true)
    .describe(
      'Whether edge features include how often train walks used an edge; pair counts only, since entity counts leak on graphs cut to dialogue entities.',
    ),
  pairFeatures: z
    .enum(['none', 'graph', 'wide'])
    .default('none')
    .describe(
      'Twenty more features of an edge, in addition to edgeFeatures: counts of relations and kinds of entities over train walks (with trainCounts), what start and tail share, years, cosines of earlier messages; `wide` adds degrees in the graph `wide` of the data set, which must be there.',
    ),
  featureMemory: z
    .int()
    .min(0)
    .max(65536)
    .default(512)
    .describe(
      'Most mebibytes that features of the edges of gold walks are kept in while cloning, so that they are made once and not in every epoch. Others are computed again, with equal values.',
    ),
  width: z.int().min(4).max(8192).default(256).describe('Units of each hidden layer over the state.'),
  embeddingDim: z
    .int()
    .min(4)
    .max(2048)
    .default(128)
    .describe(
      'Dimension of embedded entities and relations, in which states meet them (every head but pa-mlp and diff-kg).',
    ),
  hidden: z
    .int()
    .min(4)
    .max(1024)
    .default(64)
    .describe(
      'Units of the MLP per edge (candidate head), of the LSTMs (tri-lstm head), and of the layer over the features of an edge (the others but pa-mlp).',
    ),
  zeroShot: z
    .number()
    .min(0)
    .max(100)
    .default(1)
    .describe(
      'Weight of the dot product of dialogue and end entity in the last step’s scores (dialkg-walker head); 0: none.',
    ),
  dropout: z
    .number()
    .min(0)
    .max(0.9)
    .default(0.2)
    .describe('Share of state inputs and hidden units dropped while cloning.'),
  placeVectors: z
    .boolean()
    .default(true)
    .describe(
      'Whether the state of the plain head and of the critic also holds the vectors of where the walk is and how it came there; false is LLM-ARK as published: the text vector alone.',
    ),
  stepEncoding: z
    .enum(['none', 'additive-sin', 'concat'])
    .default('none')
    .describe(
      'Encoding of the step in the state: `additive-sin` adds a sinusoidal vector of the step to the text vector, nothing at the first step, as LLM-ARK did; `concat` appends the step as one-hot, whose first layer is a learned vector of the step.',
    ),
  stateNorm: z
    .enum(['none', 'layer'])
    .default('none')
    .describe(
      '`layer` brings the text vector of a state to mean 0 and variance 1 before anything else: the vectors of language models have a few huge numbers.',
    ),
  critic: z
    .enum(['standard', 'plain'])
    .default('standard')
    .describe(
      'Network that values states: `plain` is the one of LLM-ARK, without biases, with a small start of its output, over the same state as the plain head.',
    ),
  precision: z
    .enum(['f32', 'bf16'])
    .default('f32')
    .describe(
      'Numbers of the forward pass: `bf16` rounds states, weights, edge vectors, activations and outputs of actor and critic to the 8 significant bits of bfloat16. Weights are kept and trained in float32.',
    ),
  attentionHeads: z
    .int()
    .min(1)
    .max(64)
    .default(2)
    .describe(
      'Heads of attention, among which `embeddingDim` is divided (attn-flow and attn-io heads); 5 in AttnIO as published.',
    ),
  inEdges: z
    .int()
    .min(1)
    .max(4096)
    .default(12)
    .describe(
      'Edges into an entity that are drawn at a step of cloning, where there are more (attn-io head); PPO and answers read all of them.',
    ),
  fanOut: z
    .enum(['divided', 'ignored'])
    .default('divided')
    .describe(
      'Whether a relation’s probability is divided among its edges (diff-kg head); `ignored`, as published, gives each edge all of it before they are normalised.',
    ),
  recurrentLayers: z
    .int()
    .min(1)
    .max(8)
    .default(1)
    .describe('LSTM layers, one upon the other (kg-cruse head); the publication has 3.'),
  recurrentUnits: z
    .int()
    .min(4)
    .max(4096)
    .default(256)
    .describe(
      'Units of each LSTM layer (kg-cruse and seq2path heads; those of tri-lstm are `hidden`); 1536 in KG-CRuSE as published.',
    ),
  decoder: z
    .enum(['masked', 'free'])
    .default('masked')
    .describe(
      'What a walk is chosen among (seq2path head): `masked`, the edges that leave where it stands; `free`, as published, all relations of the graph, then all entities, so that a walk may leave the graph, which counts as a miss. Cloned alone, without features of edges.',
    ),
  transformerLayers: z
    .int()
    .min(1)
    .max(12)
    .default(2)
    .describe('Layers of the encoder, and of the decoder (hitkg head).'),
  transformerHeads: z.int().min(1).max(64).default(4).describe('Heads of attention in each layer (hitkg head).'),
});

/** Every setting with its value. */
export type WalkerSettings = z.output<typeof walkerSettings>;

/** Settings of heads, in addition to those of all walkers. */
import { z } from 'zod';

/** Keys of the `walker` section: of `attn-flow`, `attn-io` and `diff-kg`, by which mass flows over a graph. */
export const flowHeadSettings = {
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
};

/** Keys of the `walker` section: of `kg-cruse`, `seq2path` and `hitkg`, which read or write a walk step by step. */
export const pathHeadSettings = {
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
};

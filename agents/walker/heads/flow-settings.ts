/** Settings of the heads by which mass flows over a graph: `attn-flow`, `attn-io` and `diff-kg`. */
import { z } from 'zod';

/** Keys of the `walker` section. */
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

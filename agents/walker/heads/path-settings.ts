/** Settings of the heads that read or write a walk step by step: `kg-cruse`, `seq2path` and `hitkg`. */
import { z } from 'zod';

/** Keys of the `walker` section. */
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
    .describe('Units of each LSTM layer (kg-cruse and seq2path heads); 1536 in KG-CRuSE as published.'),
  transformerLayers: z
    .int()
    .min(1)
    .max(12)
    .default(2)
    .describe('Layers of the encoder, and of the decoder (hitkg head).'),
  transformerHeads: z.int().min(1).max(64).default(4).describe('Heads of attention in each layer (hitkg head).'),
};

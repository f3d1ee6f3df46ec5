/** The networks that score legal actions, by the name that settings give them. */
import type { Tf } from '../../src/tensor/backend.js';
import { createCandidateHead } from './candidate-head.js';
import type { HeadShape, WalkerHead } from './head.js';
import { createPaMlpHead } from './pa-mlp-head.js';
import type { WalkerSettings } from './settings.js';

/** Builds the head that the settings name. @param seed what its weights start from; absent where others are imported into it */
export function createWalkerHead(tf: Tf, settings: WalkerSettings, shape: HeadShape, seed?: number): WalkerHead {
  return settings.head === 'candidate'
    ? createCandidateHead(tf, settings, shape, seed)
    : createPaMlpHead(tf, settings, shape, seed);
}

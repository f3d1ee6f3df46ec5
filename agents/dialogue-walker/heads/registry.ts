/** The heads of a walker by name: a line each. */
import type { Executor } from '../../../src/nn/executor.js';
import type { WalkerSettings } from '../settings.js';
import { attnFlowNetwork, attnIoNetwork } from './attn-io.js';
import { candidateNetwork } from './candidate.js';
import { dialkgNetwork } from './dialkg-walker.js';
import { diffKgNetwork } from './diff-kg.js';
import { createEmbeddedHead, type Reads } from './embedded-head.js';
import type { HeadShape, WalkerHead } from './head.js';
import { hitkgNetwork } from './hitkg.js';
import { kgCruseNetwork } from './kg-cruse.js';
import type { MakeNetwork } from './network.js';
import { createPaMlpHead } from './pa-mlp.js';
import { seq2PathNetwork } from './seq2path.js';
import { seq2seqNetwork } from './seq2seq.js';
import { triLstmNetwork } from './tri-lstm.js';

type CreateHead = (executor: Executor, settings: WalkerSettings, shape: HeadShape, seed?: number) => WalkerHead;

const embedded =
  (network: MakeNetwork, reads?: Reads): CreateHead =>
  (executor, settings, shape, seed) =>
    createEmbeddedHead(executor, settings, shape, network, seed, reads);

const heads: Record<WalkerSettings['head'], CreateHead> = {
  'attn-flow': embedded(attnFlowNetwork),
  'attn-io': embedded(attnIoNetwork),
  candidate: embedded(candidateNetwork),
  'diff-kg': embedded(diffKgNetwork, { entities: false, relations: false }),
  'pa-mlp': createPaMlpHead,
  'kg-cruse': embedded(kgCruseNetwork),
  seq2path: embedded(seq2PathNetwork),
  hitkg: embedded(hitkgNetwork),
  seq2seq: embedded(seq2seqNetwork, { relations: false }),
  'dialkg-walker': embedded(dialkgNetwork),
  'tri-lstm': embedded(triLstmNetwork),
};

/** Heads that `clone.loss=hinge` can train: those with `marginLosses`. */
export const headsByMargins: readonly WalkerSettings['head'][] = ['seq2seq', 'dialkg-walker'];

/** Builds the head that the settings name. @param seed what its weights start from; absent where others are imported into it */
export const createWalkerHead = (
  executor: Executor,
  settings: WalkerSettings,
  shape: HeadShape,
  seed?: number,
): WalkerHead => heads[settings.head](executor, settings, shape, seed);

/** The heads of a walker by name: a line each. */
import type { Tf } from '../../../src/tensor/backend.js';
import type { WalkerSettings } from '../settings.js';
import { createAttnFlowHead } from './attn-flow.js';
import { createAttnIoHead } from './attn-io.js';
import { createCandidateHead } from './candidate.js';
import { createDialkgWalkerHead } from './dialkg-walker.js';
import { createDiffKgHead } from './diff-kg.js';
import type { HeadShape, WalkerHead } from './head.js';
import { createHitkgHead } from './hitkg.js';
import { createKgCruseHead } from './kg-cruse.js';
import { createPaMlpHead } from './pa-mlp.js';
import { createSeq2PathHead } from './seq2path.js';
import { createSeq2SeqHead } from './seq2seq.js';
import { createTriLstmHead } from './tri-lstm.js';

/** Builds a head. @param seed what its weights start from; absent where others are imported into it */
type CreateHead = (tf: Tf, settings: WalkerSettings, shape: HeadShape, seed?: number) => WalkerHead;

const heads: Record<WalkerSettings['head'], CreateHead> = {
  'attn-flow': createAttnFlowHead,
  'attn-io': createAttnIoHead,
  candidate: createCandidateHead,
  'diff-kg': createDiffKgHead,
  'pa-mlp': createPaMlpHead,
  'kg-cruse': createKgCruseHead,
  seq2path: createSeq2PathHead,
  hitkg: createHitkgHead,
  seq2seq: createSeq2SeqHead,
  'dialkg-walker': createDialkgWalkerHead,
  'tri-lstm': createTriLstmHead,
};

/** Whether the head of these settings is written for the host, too. */
export const computedOnHost = ({ head, text }: Pick<WalkerSettings, 'head' | 'text'>) =>
  head === 'candidate' && text === 'frozen';

/** Heads that `clone.loss=hinge` can train: those with `marginLosses`. */
export const headsByMargins: readonly WalkerSettings['head'][] = ['seq2seq', 'dialkg-walker'];

/** Builds the head that the settings name. @param seed what its weights start from; absent where others are imported into it */
export function createWalkerHead(tf: Tf, settings: WalkerSettings, shape: HeadShape, seed?: number): WalkerHead {
  return heads[settings.head](tf, settings, shape, seed);
}

/** Exact walkers by kind, a line each, and out of their runs. */
import { z } from 'zod';
import { checkFits } from '../../checkpoints/checkpoint.js';
import { requireSameRelations } from '../../datasets/links/apart.js';
import { type LinkDataset, linksHash } from '../../datasets/links/link-dataset.js';
import { linkWalkSettings } from '../../envs/settings.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import type { LinkRanker } from '../link-agents.js';
import { openTrainedRun } from '../trained-run.js';
import { chainWalker } from './chains/chains-walker.js';
import type { ExactWalker, ExactWalkerKind } from './exact-walker.js';
import { messageWalker } from './messages/message-walker.js';
import { type ExactWalkerKindName, exactWalkerSettings } from './settings.js';

const kinds: Readonly<Record<ExactWalkerKindName, ExactWalkerKind>> = {
  chains: chainWalker,
  messages: messageWalker,
};

/** A kind of exact walker by the name that settings have for it. */
export const exactWalkerKind = (name: ExactWalkerKindName): ExactWalkerKind => kinds[name];

/** The settings of a run that loading needs; others may be there. */
const runConfig = z.object({
  seed: z.int(),
  encoder: encoderSettings,
  linkWalk: linkWalkSettings,
  exactWalker: exactWalkerSettings,
});

/** A trained exact walker, ready to rank. */
export interface LoadedExactWalker {
  ranker: LinkRanker;
  walker: ExactWalker;
  seed: number;
  hops: number;
}

/**
 * Loads weights; refuses a checkpoint of another graph or data set.
 * @param name of the ranker
 * @param checkpoint `best`, `last`, a name or a step
 * @param asked walks on its graph
 * @param learned what it was trained on; another one than `asked` must have the same relations
 * @throws WorkbenchError `data` where something is missing or does not fit
 */
export function loadExactWalker(
  runFolder: string,
  name: string,
  checkpoint: string,
  asked: LinkDataset,
  learned = asked,
): LoadedExactWalker {
  const { settings, header, tensors, file } = openTrainedRun(runFolder, runConfig, { checkpoint });
  checkFits(header, { graph: learned.graph.hash, dataset: linksHash(learned.manifest) }, file);
  requireSameRelations(asked, learned);
  const { graph } = asked;
  const { exactWalker, seed, linkWalk } = settings;
  const hops = linkWalk.horizon;
  const walker = exactWalkerKind(exactWalker.kind).create({ graph, settings: exactWalker, hops, seed });
  walker.restore(tensors);
  return { ranker: walker.ranker(name), walker, seed, hops };
}

/** Registry and loading of exact walkers. */
import { z } from 'zod';
import { checkFits } from '../../checkpoints/checkpoint.js';
import { hasSameRelations, requireSameRelations } from '../../datasets/links/inductive-split.js';
import { type LinkDataset, linksHash } from '../../datasets/links/link-dataset.js';
import { linkWalkSettings } from '../../envs/settings.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import type { LinkRanker } from '../link-agents.js';
import type { Graph } from '../../src/kg/graph.js';
import { openTrainedRun, type TrainedRun } from '../trained-run.js';
import { chainWalker } from './chains/chains-walker.js';
import type { ExactWalker, ExactWalkerKind } from './exact-walker.js';
import { messageWalker } from './messages/message-walker.js';
import { keptNames, nameVectors, type NameVectors, type RelationNames } from './messages/relation-names.js';
import { type ExactWalkerKindName, exactWalkerSettings } from './settings.js';

const kinds: Readonly<Record<ExactWalkerKindName, ExactWalkerKind>> = {
  chains: chainWalker,
  messages: messageWalker,
};

/** Exact-walker kind by its name in the settings. */
export const exactWalkerKind = (name: ExactWalkerKindName): ExactWalkerKind => kinds[name];

const runConfig = z.object({
  seed: z.int(),
  encoder: encoderSettings,
  linkWalk: linkWalkSettings,
  exactWalker: exactWalkerSettings,
});

/** Trained exact walker, ready to rank. */
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
 * @param asked data set whose graph is walked
 * @param learned data set of the training; unless it is `asked`, both need the same relations, except for weights computed from names
 * @param modelPath encoder of names, if moved since the run
 * @throws WorkbenchError `data` for missing or inconsistent files
 */
export async function loadExactWalker(
  runFolder: string,
  name: string,
  checkpoint: string,
  asked: LinkDataset,
  learned = asked,
  modelPath?: string,
): Promise<LoadedExactWalker> {
  const trained = openTrainedRun(runFolder, runConfig, { checkpoint, modelPath });
  const { settings, header, tensors, file } = trained;
  checkFits(header, { graph: learned.graph.hash, dataset: linksHash(learned.manifest) }, file);
  const { graph } = asked;
  const { exactWalker, seed, linkWalk } = settings;
  const kind = exactWalkerKind(exactWalker.kind);
  const hops = linkWalk.horizon;
  let names: RelationNames | undefined;
  if (!kind.readsNames(exactWalker)) requireSameRelations(asked, learned);
  else names = keptNames(tensors, hasSameRelations(asked, learned) ? undefined : await encodedNames(trained, graph));
  const walker = kind.create({ graph, settings: exactWalker, hops, seed, names });
  walker.restore(tensors);
  return { ranker: walker.ranker(name), walker, seed, hops };
}

/** Name vectors of a graph with other relations, by the run's encoder. */
async function encodedNames(run: TrainedRun<z.output<typeof runConfig>>, graph: Graph): Promise<NameVectors> {
  const encoder = await run.openEncoder();
  try {
    checkFits(run.header, { encoder: encoder.id }, run.file);
    return await nameVectors(encoder, graph, { settings: run.settings.encoder });
  } finally {
    await encoder.dispose();
  }
}

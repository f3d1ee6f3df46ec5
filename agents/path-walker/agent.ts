/** Trained walkers of link queries, out of their runs. */
import { z } from 'zod';
import { checkFits, type CheckpointHeader } from '../../checkpoints/checkpoint.js';
import { type LinkDataset, linksHash, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { linkWalkSettings, type LinkWalkSettings } from '../../envs/settings.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import { type ExecutorName, executorNames, openExecutor } from '../../src/nn/open-executor.js';
import { type LinkOptions, type LoadedRanker, walkRanker } from '../link-ranker.js';
import { meanScorer } from '../mean-scorer.js';
import type { RunCheckpoint } from '../method.js';
import { openTrainedRun } from '../trained-run.js';
import { createLinkWalker } from './network.js';
import type { LinkActor, LinkRequest } from './request.js';
import { linkWalkerSettings } from './settings.js';
import { readStartVectors } from './vectors.js';

const runConfig = z.object({
  name: z.string(),
  seed: z.int(),
  backend: z.enum(['auto', ...executorNames]),
  data: dataSettings,
  encoder: encoderSettings,
  linkWalk: linkWalkSettings,
  linkWalker: linkWalkerSettings,
  evaluation: z.object({ beamWidth: z.int(), pooling: z.enum(['max', 'sum']).default('max') }),
});

const walksAtOnce = 1024;

/** Which checkpoint, and what computes it. */
export interface LoadLinkWalkerOptions {
  /** `best`, `last`, `clone`, a name or a step. */
  checkpoint: string;
  backend?: ExecutorName | 'auto' | undefined;
}

/** A trained walker, ready to walk; close it after use. */
export interface LoadedLinkWalker {
  actor: LinkActor;
  dataset: LinkDataset;
  /** Id of the run. */
  id: string;
  name: string;
  seed: number;
  /** Which of the two rankings of walks its best checkpoint was chosen by. */
  pooling: 'max' | 'sum';
  linkWalk: LinkWalkSettings;
  beamWidth: number;
  header: CheckpointHeader;
  close(): void;
}

/**
 * Loads data and weights; refuses a checkpoint of another graph or data set.
 * @throws WorkbenchError `data` where something is missing or does not fit, `native` without a backend
 */
export async function loadLinkWalker(
  runFolder: string,
  { checkpoint, backend }: LoadLinkWalkerOptions,
): Promise<LoadedLinkWalker> {
  const { id, folder, settings, header, tensors, file } = openTrainedRun(runFolder, runConfig, { checkpoint });
  const { linkWalk, linkWalker, name, seed } = settings;
  const dataset = await loadLinkDataset(settings.data.dataset);
  const { graph } = dataset;
  checkFits(header, { graph: graph.hash, dataset: linksHash(dataset.manifest) }, file);
  const { numEntities, numRelations } = graph;
  const sizes = { numEntities, numRelations };
  const { vectors, trainVectors, vectorDim, pathDim, width } = linkWalker;
  // Trained vectors are the checkpoint's; those they started from say how wide they are.
  const dim = trainVectors ? tensors['link.relations']?.shape[1] : undefined;
  const start = vectors === 'random' || trainVectors ? undefined : readStartVectors(folder, sizes);
  const inputs = pathDim + 2 * (start?.dim ?? dim ?? vectorDim);
  const { executor } = await openExecutor(backend ?? settings.backend, { rows: walksAtOnce, inputs, units: width });
  const own = { ...linkWalker, vectorDim: dim ?? vectorDim };
  const actor = createLinkWalker(executor, own, { lists: graph, ...sizes, start });
  actor.parameters.import(tensors);
  const { beamWidth, pooling } = settings.evaluation;
  return { actor, dataset, id, name, seed, pooling, linkWalk, header, beamWidth, close: () => actor.dispose() };
}

/** One run, or several as one ranker: the mean of their log-probabilities. @throws as `loadLinkWalker` */
export async function loadPathWalkers(
  runs: readonly RunCheckpoint[],
  { dataset, backend, beamWidth: wanted }: LinkOptions,
): Promise<LoadedRanker> {
  const walkers: LoadedLinkWalker[] = [];
  const close = () => walkers.splice(0).forEach((one) => one.close());
  try {
    for (const { folder, checkpoint } of runs) walkers.push(await loadLinkWalker(folder, { checkpoint, backend }));
  } catch (error) {
    close();
    throw error;
  }
  const { actor, id, seed, pooling, linkWalk, beamWidth: own } = walkers[0]!;
  const single = walkers.length === 1;
  const mean = () => meanScorer<LinkRequest>(walkers.map((one) => ({ scorer: one.actor })));
  const { horizon } = linkWalk;
  const beamWidth = wanted ?? own;
  return {
    ranker: walkRanker(single ? actor : mean(), dataset.graph, { name: single ? id : 'mean', beamWidth, horizon }),
    ...{ pooling, close },
    about: { ...(single && { seed }), horizon, beamWidth },
  };
}

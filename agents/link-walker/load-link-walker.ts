/** Opens a trained walker of link queries from its run folder. */
import { z } from 'zod';
import { checkFits, type CheckpointHeader } from '../../checkpoints/checkpoint.js';
import { type LinkDataset, linksHash, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { linkWalkSettings, type LinkWalkSettings } from '../../envs/settings.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import { backendNames, openBackend, type BackendName } from '../../src/tensor/backend.js';
import { openTrainedRun } from '../trained-run.js';
import { createLinkWalker, type LinkActor } from './link-walker.js';
import { linkWalkerSettings } from './settings.js';
import { readStartVectors } from './start-vectors-file.js';

/** The settings of a run that loading needs; others may be there. */
const runConfig = z.object({
  name: z.string(),
  seed: z.int(),
  backend: z.enum(['auto', ...backendNames]),
  data: dataSettings,
  encoder: encoderSettings,
  linkWalk: linkWalkSettings,
  linkWalker: linkWalkerSettings,
  evaluation: z.object({ beamWidth: z.int() }),
});

/** About how many walks a beam scores together. */
const walksAtOnce = 1024;

/** Which checkpoint, and what computes it. */
export interface LoadLinkWalkerOptions {
  /** `best`, `last`, `clone`, a name or a step. */
  checkpoint: string;
  /** Default the run's own. Others differ in the last digits. */
  backend?: BackendName | 'auto' | undefined;
}

/** A trained walker, ready to walk; close it after use. */
export interface LoadedLinkWalker {
  actor: LinkActor;
  dataset: LinkDataset;
  /** The run's name for it. */
  name: string;
  seed: number;
  linkWalk: LinkWalkSettings;
  /** Of the run's settings. */
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
  const { folder, settings, header, tensors, file } = openTrainedRun(runFolder, runConfig, { checkpoint });
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
  const { tf } = await openBackend(backend ?? settings.backend, { rows: walksAtOnce, inputs, units: width });
  const own = { ...linkWalker, ...(dim !== undefined && { vectorDim: dim }) };
  const actor = createLinkWalker(tf, own, { lists: graph, ...sizes, start });
  actor.parameters.import(tensors);
  return {
    ...{ actor, dataset, name, seed, linkWalk, header },
    beamWidth: settings.evaluation.beamWidth,
    close: () => actor.dispose(),
  };
}

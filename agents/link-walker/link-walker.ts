/**
 * The walker of link queries: LLM-ARK's path-aware head over states of relation, entity and path vectors instead of texts,
 * as MINERVA and MultiHopKG have them.
 * @source Das et al. 2018 (MINERVA), section 2.2; Lin et al. 2018 (MultiHopKG), section 3.2
 */
import { checkFits, type CheckpointHeader } from '../../checkpoints/checkpoint.js';
import { type LinkDataset, linksHash, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { linkWalkSettings, type LinkWalkSettings } from '../../envs/settings.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import { type ComputerName, computerNames, openBackend, type Tf } from '../../src/tensor/backend.js';
import { z } from 'zod';
import { ParameterSet } from '../../src/tensor/parameters.js';
import type { ValueNetwork } from '../actor.js';
import { openTrainedRun } from '../trained-run.js';
import { createValueNetwork } from '../walker/critic.js';
import { createPaMlpNetwork, edgesAtOnce } from '../walker/heads/pa-mlp.js';
import { edgesOf, type LinkActor, type LinkRequest, linkRequestOf, numLegal } from './request.js';
import { type LinkWalkerSettings, linkWalkerSettings } from './settings.js';
import { createStateNetwork } from './state-network.js';
import { createVectorTables, type LinkWalkerShape, readStartVectors } from './vectors.js';

/** @param seed of the start; zeros without it, for weights to be imported */
export function createLinkWalker(
  tf: Tf,
  settings: LinkWalkerSettings,
  shape: LinkWalkerShape,
  seed?: number,
): LinkActor {
  const { lists, start, ...sizes } = shape;
  const parameters = new ParameterSet(tf);
  const vectors = createVectorTables(tf, parameters, { ...settings, ...sizes, start }, seed);
  const states = createStateNetwork(tf, parameters, { settings, vectors, ...sizes }, seed);
  const network = createPaMlpNetwork(
    tf,
    {
      stateDim: states.dim,
      width: settings.width,
      parameters,
      scorer: () => ({
        layer: { name: 'pa.out', width: vectors.edgeDim },
        logits: (outputs, edges) => vectors.dots(outputs, edges),
        weightsChanged: () => undefined,
      }),
    },
    seed,
  );
  const score = (requests: readonly LinkRequest[]) => {
    const edges = edgesOf(lists, requests, sizes.numRelations);
    return { offsets: edges.offsets, logits: () => network.logits(states.states(requests), edges) };
  };
  return {
    parameters,
    maxScoresPerBatch: edgesAtOnce,
    requestOf: linkRequestOf,
    numScores: numLegal,
    score,
    envAction: ({ legal }, index) => legal?.[index] ?? index,
    weightsChanged: () => undefined,
    dispose: () => parameters.dispose(),
  };
}

/** Critic with separate vectors and a separate path encoder. */
export function createLinkCritic(
  tf: Tf,
  settings: LinkWalkerSettings,
  shape: Omit<LinkWalkerShape, 'lists'>,
  seed: number,
): ValueNetwork<LinkRequest> {
  const { start, ...sizes } = shape;
  // Names are the critic's own: both networks are kept in one file.
  const parameters = new ParameterSet(tf, 'critic/');
  const vectors = createVectorTables(tf, parameters, { ...settings, ...sizes, start }, seed);
  const states = createStateNetwork(tf, parameters, { settings, vectors, ...sizes }, seed);
  const { values } = createValueNetwork(tf, { stateDim: states.dim, width: settings.width, parameters }, seed);
  return {
    parameters,
    values: (requests) => () => values(states.states(requests), requests.length),
    dispose: () => parameters.dispose(),
  };
}

const runConfig = z.object({
  name: z.string(),
  seed: z.int(),
  backend: z.enum(['auto', ...computerNames]),
  data: dataSettings,
  encoder: encoderSettings,
  linkWalk: linkWalkSettings,
  linkWalker: linkWalkerSettings,
  evaluation: z.object({ beamWidth: z.int() }),
});

const walksAtOnce = 1024;

/** Which checkpoint, and what computes it. */
export interface LoadLinkWalkerOptions {
  /** `best`, `last`, `clone`, a name or a step. */
  checkpoint: string;
  backend?: ComputerName | 'auto' | undefined;
}

/** A trained walker, ready to walk; close it after use. */
export interface LoadedLinkWalker {
  actor: LinkActor;
  dataset: LinkDataset;
  name: string;
  seed: number;
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
  const own = { ...linkWalker, vectorDim: dim ?? vectorDim };
  const actor = createLinkWalker(tf, own, { lists: graph, ...sizes, start });
  actor.parameters.import(tensors);
  const { beamWidth } = settings.evaluation;
  return { actor, dataset, name, seed, linkWalk, header, beamWidth, close: () => actor.dispose() };
}

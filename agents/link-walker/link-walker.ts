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
import type { Executor } from '../../src/nn/executor.js';
import { type ExecutorName, executorNames, openExecutor } from '../../src/nn/open-executor.js';
import { Parameters } from '../../src/nn/parameters.js';
import { Tape } from '../../src/nn/tape.js';
import { z } from 'zod';
import { pickRequests, type ValueNetwork } from '../actor.js';
import { openTrainedRun } from '../trained-run.js';
import { valuesOf, valueStarts } from '../walker/critic.js';
import type { EdgeScorer } from '../walker/heads/edge-scorers.js';
import { edgesAtOnce, heldEdges, paMlpLogits, paMlpStarts } from '../walker/heads/pa-mlp.js';
import { edgesOf, type LinkActor, type LinkRequest, linkRequestOf, numLegal } from './request.js';
import { type LinkWalkerSettings, linkWalkerSettings } from './settings.js';
import { StateNetwork } from './state-network.js';
import { type LinkWalkerShape, readStartVectors, VectorTables } from './vectors.js';

/** @param seed of the start; zeros without it, for weights to be imported */
export function createLinkWalker(
  executor: Executor,
  settings: LinkWalkerSettings,
  { lists, start, ...sizes }: LinkWalkerShape,
  seed?: number,
): LinkActor {
  const vectors = new VectorTables({ ...settings, ...sizes, start }, seed);
  const states = new StateNetwork({ settings, vectors, ...sizes }, seed);
  const scorer: EdgeScorer = {
    layer: { name: 'pa.out', width: vectors.edgeDim },
    initialValues: {},
    logits: (tape, outputs, edges) => vectors.dots(tape, outputs, edges),
  };
  const parameters = new Parameters(executor, {
    ...vectors.initialValues,
    ...states.initialValues,
    ...paMlpStarts({ stateDim: states.dim, width: settings.width, scorer }, seed),
  });
  const [training, inferring] = [new Tape(parameters), new Tape(parameters, false)];
  const score = (requests: readonly LinkRequest[]) => {
    const edges = edgesOf(lists, requests, sizes.numRelations);
    const outputs = (tape: Tape) => {
      tape.begin();
      return tape.outputs([paMlpLogits(tape, states.states(tape, requests), scorer, edges)]);
    };
    return { offsets: edges.offsets, logits: () => outputs(training), infer: () => outputs(inferring).read() };
  };
  const held = executor.scope();
  return {
    parameters,
    ...(executor.queue && {
      hold: (requests) => {
        held.begin();
        const edges = heldEdges(held, edgesOf(lists, requests, sizes.numRelations));
        return (chosen) => {
          training.begin();
          const { offsets, ...picked } = edges.of(training, chosen);
          const own = () => states.states(training, pickRequests(requests, chosen));
          return { offsets, logits: () => training.outputs([paMlpLogits(training, own(), scorer, picked)]) };
        };
      },
    }),
    maxScoresPerBatch: edgesAtOnce,
    requestOf: linkRequestOf,
    numScores: numLegal,
    score,
    envAction: ({ legal }, index) => legal?.[index] ?? index,
    weightsChanged: () => undefined,
    dispose: () => parameters.dispose(),
  };
}

/** Names of the critic's parameters begin so: both networks are kept in one file. */
const criticPrefix = 'critic/';

/** Critic with separate vectors and a separate path encoder. */
export function createLinkCritic(
  executor: Executor,
  settings: LinkWalkerSettings,
  { start, ...sizes }: Omit<LinkWalkerShape, 'lists'>,
  seed: number,
): ValueNetwork<LinkRequest> {
  const vectors = new VectorTables({ ...settings, ...sizes, start }, seed);
  const states = new StateNetwork({ settings, vectors, ...sizes }, seed);
  const initial = {
    ...vectors.initialValues,
    ...states.initialValues,
    ...valueStarts({ stateDim: states.dim, width: settings.width }, seed),
  };
  const named = Object.entries(initial).map(([name, tensor]) => [`${criticPrefix}${name}`, tensor] as const);
  const parameters = new Parameters(executor, Object.fromEntries(named));
  const tape = new Tape(parameters);
  return {
    parameters,
    values: (requests) => () => {
      tape.begin();
      return tape.outputs([tape.under(criticPrefix, () => valuesOf(tape, states.states(tape, requests)))]);
    },
    dispose: () => parameters.dispose(),
  };
}

const runConfig = z.object({
  name: z.string(),
  seed: z.int(),
  backend: z.enum(['auto', ...executorNames]),
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
  backend?: ExecutorName | 'auto' | undefined;
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
  const { executor } = await openExecutor(backend ?? settings.backend, { rows: walksAtOnce, inputs, units: width });
  const own = { ...linkWalker, vectorDim: dim ?? vectorDim };
  const actor = createLinkWalker(executor, own, { lists: graph, ...sizes, start });
  actor.parameters.import(tensors);
  const { beamWidth } = settings.evaluation;
  return { actor, dataset, name, seed, linkWalk, header, beamWidth, close: () => actor.dispose() };
}

/**
 * The walker of link queries: LLM-ARK's path-aware head over states of relation, entity and path vectors instead of texts,
 * as MINERVA and MultiHopKG have them.
 * @source Das et al. 2018 (MINERVA), section 2.2; Lin et al. 2018 (MultiHopKG), section 3.2
 */
import type { EdgeLists, LinkQueryObservation } from '../../envs/link-query/world.js';
import type { Tf } from '../../src/tensor/backend.js';
import { readsAtOnce } from '../../src/tensor/ops.js';
import { ParameterSet } from '../../src/tensor/parameters.js';
import type { Actor, ValueNetwork } from '../actor.js';
import { createValueNetwork } from '../walker/critic.js';
import { createPaMlpNetwork } from '../walker/pa-mlp-network.js';
import { edgesOf } from './edges.js';
import { linkRequestOf, numLegal, type LinkRequest } from './request.js';
import type { LinkWalkerSettings } from './settings.js';
import { createStateNetwork } from './state-network.js';
import { createLinkVectors, type StartVectors } from './vectors.js';

/** The graph that is walked, and the vectors to start from. */
export interface LinkWalkerShape {
  lists: EdgeLists;
  numEntities: number;
  /** Inverses included. */
  numRelations: number;
  /** With `vectors` other than `random`. */
  start?: StartVectors | undefined;
}

/** The policy as trainers and beams see it. */
export type LinkActor = Actor<LinkQueryObservation, LinkRequest>;

/**
 * Actions that go through the network at once. The host makes one number of each; a device copies both vectors, so that it
 * gets fewer.
 */
const actionsAtOnce = (tf: Tf) => (readsAtOnce(tf) ? 2 ** 20 : 2 ** 15);

/** @param seed of the start; zeros without it, for weights to be imported */
export function createLinkWalker(
  tf: Tf,
  settings: LinkWalkerSettings,
  { lists, start, ...sizes }: LinkWalkerShape,
  seed?: number,
): LinkActor {
  const parameters = new ParameterSet(tf);
  const vectors = createLinkVectors(tf, parameters, { ...sizes, ...vectorsOf(settings), start }, seed);
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
    scoresAtOnce: actionsAtOnce(tf),
    requestOf: linkRequestOf,
    numScores: numLegal,
    score,
    envAction: ({ legal }, place) => legal?.[place] ?? place,
    weightsChanged: () => undefined,
    dispose: () => parameters.dispose(),
  };
}

/** A critic with vectors and path encoder of its own. */
export function createLinkCritic(
  tf: Tf,
  settings: LinkWalkerSettings,
  { start, ...sizes }: Omit<LinkWalkerShape, 'lists'>,
  seed: number,
): ValueNetwork<LinkRequest> {
  // Names are the critic's own: both networks are kept in one file.
  const parameters = new ParameterSet(tf, 'critic/');
  const vectors = createLinkVectors(tf, parameters, { ...sizes, ...vectorsOf(settings), start }, seed);
  const states = createStateNetwork(tf, parameters, { settings, vectors, ...sizes }, seed);
  const { values } = createValueNetwork(tf, { stateDim: states.dim, width: settings.width, parameters }, seed);
  return {
    parameters,
    values: (requests) => () => values(states.states(requests), requests.length),
    dispose: () => parameters.dispose(),
  };
}

const vectorsOf = ({ trainVectors, vectorDim, readEntities }: LinkWalkerSettings) => {
  return { train: trainVectors, dim: vectorDim, readEntities };
};

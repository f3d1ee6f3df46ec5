/**
 * The walker of link queries: LLM-ARK's path-aware head over states of relation, entity and path vectors instead of texts,
 * as MINERVA and MultiHopKG have them.
 * @source Das et al. 2018 (MINERVA), section 2.2; Lin et al. 2018 (MultiHopKG), section 3.2
 */
import type { EdgeLists } from '../../envs/link-query-edges.js';
import type { LinkQueryObservation } from '../../envs/link-query-world.js';
import type { Tf } from '../../src/tensor/backend.js';
import { segmentLogSoftmax } from '../../src/tensor/categorical.js';
import { readsAtOnce } from '../../src/tensor/ops.js';
import { ParameterSet } from '../../src/tensor/parameters.js';
import type { ActionLogProbs, Actor, ValueNetwork } from '../actor.js';
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
  const most = actionsAtOnce(tf);
  const score = (requests: readonly LinkRequest[]) => {
    const edges = edgesOf(lists, requests, sizes.numRelations);
    return { offsets: edges.offsets, logits: () => network.logits(states.states(requests), edges) };
  };
  return {
    parameters,
    scoresAtOnce: most,
    requestOf: linkRequestOf,
    numScores: numLegal,
    actionLogProbs: async (requests) => {
      const parts: ActionLogProbs[] = [];
      for (const chunk of chunks(requests, most)) {
        const { offsets, logits } = score(chunk);
        parts.push({ logProbs: segmentLogSoftmax(await parameters.read(logits), offsets), offsets });
      }
      return parts.length === 1 ? parts[0]! : joined(parts);
    },
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

/** Runs of requests with at most `most` legal actions; one state may exceed it. */
function* chunks(requests: readonly LinkRequest[], most: number): Generator<readonly LinkRequest[]> {
  let begin = 0;
  let actions = 0;
  for (let i = 0; i < requests.length; i++) {
    const count = numLegal(requests[i]!);
    if (i > begin && actions + count > most) {
      yield requests.slice(begin, i);
      begin = i;
      actions = 0;
    }
    actions += count;
  }
  yield begin === 0 ? requests : requests.slice(begin);
}

function joined(parts: readonly ActionLogProbs[]): ActionLogProbs {
  const states = parts.reduce((sum, { offsets }) => sum + offsets.length - 1, 0);
  const offsets = new Int32Array(states + 1);
  const logProbs = new Float32Array(parts.reduce((sum, part) => sum + part.logProbs.length, 0));
  let state = 0;
  for (const part of parts) {
    const base = offsets[state]!;
    logProbs.set(part.logProbs, base);
    for (let i = 1; i < part.offsets.length; i++) offsets[++state] = base + part.offsets[i]!;
  }
  return { logProbs, offsets };
}

/**
 * The walker of link queries: LLM-ARK's path-aware head over states of relation, entity and path vectors instead of texts,
 * as MINERVA and MultiHopKG have them.
 * @source Das et al. 2018 (MINERVA), section 2.2; Lin et al. 2018 (MultiHopKG), section 3.2
 */
import type { Executor } from '../../src/nn/executor.js';
import { Parameters } from '../../src/nn/parameters.js';
import { Tape } from '../../src/nn/tape.js';
import { pickRequests, type ValueNetwork } from '../../trainers/actor.js';
import { valuesOf, valueStarts } from '../dialogue-walker/critic.js';
import type { EdgeScorer } from '../dialogue-walker/heads/edge-scorers.js';
import { edgesAtOnce, heldEdges, paMlpLogits, paMlpStarts } from '../dialogue-walker/heads/pa-mlp.js';
import { edgesOf, type LinkActor, type LinkRequest, linkRequestOf, numLegal } from './request.js';
import type { LinkWalkerSettings } from './settings.js';
import { StateNetwork } from './state-network.js';
import { type LinkWalkerShape, VectorTables } from './vectors.js';

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

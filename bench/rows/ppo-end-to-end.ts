/**
 * Environment steps a second of whole rounds of PPO, rollouts and updates together, by the networks of `kgwalk train umls-walk`
 * with `--backend`, `linkWalker.pathEncoder` and `linkWalker.width` as below, over frozen vectors of 64: rounds of 1,024
 * steps, minibatches of 256, 4 epochs, policy and critic apart with two hidden layers each, as bench/peers/sb3_ppo.py
 * measures it. The peer walks with 8 environments, 128 steps each; here a round's 512 walks of two steps go side by side.
 *
 *     node dist/bench/rows/ppo-end-to-end.js FOLDER [--hidden 64] [--explorations 1] [--max-edges 49]
 *       [--encoder gru] [--backend auto] [--seconds 5]
 *
 * FOLDER holds train.txt, valid.txt and test.txt with `head TAB relation TAB tail`. `--explorations` walks each query that many
 * times (fewer queries a round): states that walks share are computed once. `--max-edges 0` walks all edges, as training does.
 */
import { basename } from 'node:path';
import { createLinkCritic, createLinkWalker } from '../../agents/path-walker/network.js';
import { linkWalkerSettings } from '../../agents/path-walker/settings.js';
import { LinkQueryBatch, linkQueryWorld } from '../../envs/index.js';
import { executorOf, openExecutor } from '../../src/nn/open-executor.js';
import { PpoTrainer } from '../../trainers/ppo.js';
import { wholeWalks } from '../../trainers/rollout.js';
import { adamOf } from '../../trainers/ppo-phase.js';
import { ppoSettings } from '../../trainers/ppo-settings.js';
import { emitRate, startClock } from '../measure.js';
import { peerWalk, rowArguments } from './peer-walk.js';

process.env.TF_NUM_INTRAOP_THREADS = '1';
process.env.TF_NUM_INTEROP_THREADS = '1';

const defaults = { hidden: 64, explorations: 1, 'max-edges': 49 };
const words = { encoder: 'gru', backend: 'auto' };
const { folder, seconds, seed, hidden, explorations, encoder, backend, ...more } = rowArguments(defaults, words);
const walks = 512;
const settings = ppoSettings.parse({
  ...{ init: 'scratch', klCoef: 0, baseline: 'critic', gaeLambda: 0.95, gamma: 1 },
  ...{ samplesPerUpdate: walks / explorations, explorations, minibatchSamples: 128 / explorations, updateEpochs: 4 },
  ...{ learningRate: 3e-4, lrDecay: 'none', warmupUpdates: 0, adamEpsilon: 1e-5, updates: 1_000_000 },
});
const { vectors, maxEdges, ...options } = await peerWalk(folder);
const world = linkQueryWorld({ ...options, ...(more['max-edges'] > 0 && { maxEdges }) });
const walker = linkWalkerSettings.parse({
  ...{ vectors: 'transe', trainVectors: false, width: hidden, pathEncoder: encoder },
});
const size = { rows: 256, inputs: 4 * vectors.dim, units: hidden };
const { executor, name } = await openExecutor(executorOf(backend), size);
const { numEntities, numRelations } = options.graph;
const shape = { lists: world, numEntities, numRelations, start: vectors };
const actor = createLinkWalker(executor, walker, shape, seed);
const critic = createLinkCritic(executor, walker, shape, seed);

let clock = startClock();
let steps = 0;
const rewards: number[] = [];
const trainer = new PpoTrainer({
  actor,
  optimizer: adamOf(actor.parameters, settings),
  critic: { network: critic, optimizer: adamOf(critic.parameters, settings) },
  collect: wholeWalks(new LinkQueryBatch(world, walks), Int32Array.from(world.queries.heads.keys())),
  settings,
  seed,
});
for (let update = 0; rewards.length === 0 || clock.wall() < seconds; update++) {
  const { steps: made, metrics } = await trainer.step(update);
  // Two rounds of warm-up.
  if (update < 2) {
    clock = startClock();
    continue;
  }
  steps += made;
  rewards.push(metrics['rollout/reward']!);
}
emitRate({
  variant: name,
  task: 'ppo-end-to-end',
  settings: {
    ...{ data: basename(folder), envs: walks, hidden: [hidden, hidden], n_steps: world.horizon },
    ...{ minibatch: 256, epochs: settings.updateEpochs, explorations, max_edges: more['max-edges'] },
  },
  count: steps,
  unit: 'env steps/s',
  spent: { wall: clock.wall(), cpu: clock.cpu() },
  quality: { reward_last_100: rewards.slice(-4).reduce((sum, reward) => sum + reward, 0) / 4, env_steps: steps },
});

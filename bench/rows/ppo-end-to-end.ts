/**
 * Environment steps a second of whole rounds of PPO, rollouts and updates together, as bench/peers/sb3_ppo.py measures it:
 * 1,024 steps a round, minibatches of 256 steps, 4 epochs, policy and critic apart with two hidden layers each. The peer walks
 * with 8 environments, 128 steps each; here the round's 512 walks of two steps go side by side.
 *
 *     node dist/bench/rows/ppo-end-to-end.js FOLDER [--hidden 64] [--explorations 1] [--backend host] [--seconds 5]
 *
 * FOLDER holds train.txt, valid.txt and test.txt with `head TAB relation TAB tail`. `--explorations` walks each query that many
 * times (fewer queries a round): states that walks share are computed once. `--backend` is `host`, or the backend that
 * large products are left to, such as `tensorflow`.
 */
import { basename } from 'node:path';
import { createVectorWalker } from '../../agents/vector-walker/vector-walker.js';
import { LinkQueryBatch, linkQueryWorld } from '../../envs/index.js';
import { backendOf, openBackend } from '../../src/tensor/backend.js';
import { ppo } from '../../trainers/ppo.js';
import { adamOf } from '../../trainers/ppo-phase.js';
import { ppoSettings } from '../../trainers/ppo-settings.js';
import { emitRate, startClock } from '../measure.js';
import { peerWalk, rowArguments } from './peer-walk.js';

process.env.TF_NUM_INTRAOP_THREADS = '1';
process.env.TF_NUM_INTEROP_THREADS = '1';

const defaults = { hidden: 64, explorations: 1 };
const { folder, seconds, seed, hidden, explorations, backend } = rowArguments(defaults, { backend: 'host' });
const walks = 512;
const settings = ppoSettings.parse({
  ...{ init: 'scratch', klCoef: 0, baseline: 'critic', gaeLambda: 0.95, gamma: 1 },
  ...{ samplesPerUpdate: walks / explorations, explorations, minibatchSamples: 128 / explorations, updateEpochs: 4 },
  ...{ learningRate: 3e-4, lrDecay: 'none', warmupUpdates: 0, adamEpsilon: 1e-5, updates: 1_000_000 },
});
const options = await peerWalk(folder);
const world = linkQueryWorld(options);
const { vectors, maxActions } = { vectors: options.vectors, maxActions: world.maxActions };
const products = backend === 'host' ? {} : { tf: (await openBackend(backendOf(backend))).tf };
const { actor, critic } = createVectorWalker({ vectors, maxActions, hidden: [hidden, hidden], seed, ...products });

let clock = startClock();
let steps = 0;
const rewards: number[] = [];
await ppo({
  actor,
  optimizer: adamOf(actor.parameters, settings),
  critic: { network: critic, optimizer: adamOf(critic.parameters, settings) },
  envs: new LinkQueryBatch(world, walks),
  walkable: Int32Array.from(world.queries.heads.keys()),
  settings,
  seed,
  onUpdate: ({ update, steps: made, metrics }) => {
    // Two rounds of warm-up.
    if (update <= 2) {
      clock = startClock();
      return false;
    }
    steps += made;
    rewards.push(metrics['rollout/reward']!);
    return clock.wall() >= seconds;
  },
});
emitRate({
  variant: backend === 'host' ? backend : `host with products of ${backend}`,
  task: 'ppo-end-to-end',
  settings: {
    ...{ data: basename(folder), envs: walks, hidden: [hidden, hidden], n_steps: world.horizon },
    ...{ minibatch: 256, epochs: settings.updateEpochs, explorations },
  },
  count: steps,
  unit: 'env steps/s',
  spent: { wall: clock.wall(), cpu: clock.cpu() },
  quality: { reward_last_100: rewards.slice(-4).reduce((sum, reward) => sum + reward, 0) / 4, env_steps: steps },
});

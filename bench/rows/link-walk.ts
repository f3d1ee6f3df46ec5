/**
 * Environment steps a second of training a walker of link queries, and where the time goes: whole rounds of policy gradient
 * on `kgwalk/LinkQuery-v1`, everything out of an entity walkable, with the walker's own network in the loop.
 *
 *     node dist/bench/rows/link-walk.js FOLDER [--walks 2560] [--explorations 20] [--horizon 3] [--dim 64] [--algorithm ppo]
 *                                              [--backend auto] [--seconds 20]
 *
 * FOLDER holds train.txt, valid.txt and test.txt with `head TAB relation TAB tail`. A round is `--walks` walks, the same
 * query walked `--explorations` times; PPO goes over it twice, REINFORCE once. Shares are of wall time: `environment`,
 * `policy` (probabilities while walking), `choice` (drawing actions, keeping what was seen), `update`.
 */
import { basename } from 'node:path';
import { createLinkWalker } from '../../agents/path-walker/network.js';
import { linkWalkerSettings } from '../../agents/path-walker/settings.js';
import { readLinkData } from '../../datasets/links/read-splits.js';
import { LinkQueryBatch, linkQueryWorld } from '../../envs/index.js';
import type { VectorReset } from '../../envs/vector-env.js';
import { executorOf, openExecutor } from '../../src/nn/open-executor.js';
import { PpoTrainer } from '../../trainers/ppo.js';
import { wholeWalks } from '../../trainers/rollout.js';
import { adamOf } from '../../trainers/ppo-phase.js';
import { ppoSettings } from '../../trainers/ppo-settings.js';
import { emitRate, startClock } from '../measure.js';
import { rowArguments } from './peer-walk.js';

const numbers = { walks: 2560, explorations: 20, horizon: 3, dim: 64, seconds: 20 };
const { folder, walks, explorations, horizon, dim, seconds, seed, algorithm, backend } = rowArguments(numbers, {
  algorithm: 'ppo',
  backend: 'auto',
});
const { graph, train } = await readLinkData(folder, basename(folder));
const world = linkQueryWorld({ graph, queries: train, horizon });
const { executor, name } = await openExecutor(executorOf(backend));
const network = linkWalkerSettings.parse({ vectorDim: dim });
const { numEntities, numRelations } = graph;
const actor = createLinkWalker(executor, network, { lists: world, numEntities, numRelations }, seed);
const samplesPerUpdate = Math.round(walks / explorations);
const isPpo = algorithm === 'ppo';
const settings = ppoSettings.parse({
  ...{ init: 'scratch', klCoef: 0, entropyCoef: 0.02, learningRate: 1e-3, lrDecay: 'none', warmupUpdates: 0 },
  ...{ algorithm, baseline: isPpo ? 'group-mean' : 'moving-average', updateEpochs: isPpo ? 2 : 1 },
  ...{ samplesPerUpdate, explorations, updates: 1_000_000 },
  minibatchSamples: isPpo ? Math.ceil(samplesPerUpdate / 4) : samplesPerUpdate,
});

/** Wall milliseconds by what they went to, since the warm-up. */
const nothing = { environment: 0, policy: 0, walking: 0 };
const spent = { ...nothing };
let begun = performance.now();

class TimedBatch extends LinkQueryBatch {
  override reset(options?: VectorReset) {
    begun = performance.now();
    return inEnvironment(() => super.reset(options));
  }

  override step(actions: ArrayLike<number>) {
    const result = inEnvironment(() => super.step(actions));
    // All walks have the same length: after the last step nothing is left to walk, and learning begins.
    if (result.live.length === 0) spent.walking += performance.now() - begun;
    return result;
  }
}

let clock = startClock();
let steps = 0;
let rounds = 0;
const trainer = new PpoTrainer({
  actor: {
    ...actor,
    score: (requests) => {
      const begun = performance.now();
      const scored = actor.score(requests);
      const scoring = performance.now() - begun;
      return {
        ...scored,
        // Walks alone infer: updates go back from `logits`.
        infer: async () => {
          const before = performance.now();
          const scores = await scored.infer!();
          spent.policy += scoring + performance.now() - before;
          return scores;
        },
      };
    },
  },
  optimizer: adamOf(actor.parameters, settings),
  collect: wholeWalks(
    new TimedBatch(world, samplesPerUpdate * explorations),
    Int32Array.from(world.queries.heads.keys()),
  ),
  settings,
  seed,
});
for (let update = 0; rounds === 0 || clock.wall() < seconds; update++) {
  const { steps: made } = await trainer.step(update);
  // Two rounds of warm-up.
  if (update < 2) {
    clock = startClock();
    Object.assign(spent, nothing);
    continue;
  }
  steps += made;
  rounds++;
}
const wall = clock.wall();
const shareOf = (milliseconds: number) => Number((milliseconds / 1000 / wall).toFixed(3));
emitRate({
  variant: name,
  task: 'link-walk',
  settings: { data: basename(folder), walks: samplesPerUpdate * explorations, explorations, horizon, dim, algorithm },
  count: steps,
  unit: 'env steps/s',
  spent: { wall, cpu: clock.cpu() },
  quality: {
    rounds,
    environment: shareOf(spent.environment),
    policy: shareOf(spent.policy),
    choice: shareOf(spent.walking - spent.environment - spent.policy),
    update: shareOf(1000 * wall - spent.walking),
    walking_steps_per_second: Math.round(steps / (spent.walking / 1000)),
  },
});

function inEnvironment<T>(work: () => T): T {
  const before = performance.now();
  const result = work();
  spent.environment += performance.now() - before;
  return result;
}

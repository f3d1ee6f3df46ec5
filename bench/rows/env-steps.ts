/**
 * Environment steps a second with random legal actions, as bench/peers/env_python.py measures it: walks of two steps that
 * answer (head, relation, ?), observations of three vectors of 64, at most 49 edges and a stay, nothing hidden, masks read at
 * every step. One environment, then copies stepped together over columns.
 *
 *     node dist/bench/rows/env-steps.js FOLDER [--envs 8] [--seconds 5]
 *
 * FOLDER holds train.txt, valid.txt and test.txt with `head TAB relation TAB tail`.
 */
import { basename } from 'node:path';
import { LinkQueryBatch, LinkQueryEnv, linkQueryWorld, type LinkQueryWorld } from '../../envs/index.js';
import { Rng } from '../../src/run/seeds.js';
import { emitRate, repeatFor } from '../measure.js';
import { peerWalk, rowArguments } from './peer-walk.js';

const { folder, seconds, seed, envs: copies } = rowArguments({ envs: 8 });
const world = linkQueryWorld(await peerWalk(folder));
const settings = { data: basename(folder), hops: 2, max_actions: world.maxActions, dim: 64 };
/** Draws made beforehand, as the peer draws them in bulk. */
const rng = Rng.named(seed, 'bench/actions');
const draws = Float64Array.from({ length: 1 << 16 }, () => rng.uniform());
let masksRead = 0;

await measure({ envs: 1 }, singleSteps(world));
await measure({ envs: copies, vector: 'columns' }, columnSteps(world, copies));
if (masksRead === 0) throw new Error('expected legal stays, got none');

async function measure(more: Record<string, unknown>, work: () => number): Promise<void> {
  const { count, spent } = await repeatFor(work, seconds / 2, 5);
  emitRate({ task: 'env-steps', settings: { ...settings, ...more }, count, unit: 'steps/s', spent });
}

function singleSteps(shared: LinkQueryWorld): () => number {
  const env = new LinkQueryEnv(shared);
  let { observation } = env.reset({ seed });
  return () => {
    for (const draw of draws) {
      const { actionMask } = observation;
      masksRead += actionMask[0]!;
      const step = env.step(Math.floor(draw * actionMask.length));
      observation = step.terminated ? env.reset().observation : step.observation;
    }
    return draws.length;
  };
}

function columnSteps(shared: LinkQueryWorld, numEnvs: number): () => number {
  const batch = new LinkQueryBatch(shared, numEnvs, 'sameStep');
  batch.reset({ seed });
  const actions = new Int32Array(numEnvs);
  return () => {
    for (let at = 0; at + numEnvs <= draws.length; at += numEnvs) {
      for (let i = 0; i < numEnvs; i++) {
        actions[i] = Math.floor(draws[at + i]! * batch.counts[i]!);
        masksRead += batch.masks[i * batch.maxActions + actions[i]!]!;
      }
      batch.step(actions);
    }
    return draws.length - (draws.length % numEnvs);
  };
}

/** Behaviour cloning: the walker learns to give the gold walks of train high probability, hop by hop. */
import type { Policy } from '../../agents/walker/policy.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { Rng } from '../../src/run/seeds.js';
import type { AdamW } from '../../src/tensor/adamw.js';
import { explainedLater, finiteLoss } from '../../src/tensor/diverged.js';
import { cloneEpochs, type CloneCourse } from './epochs.js';
import { goldWalks, sampleCandidates, type GoldWalk } from './gold-states.js';
import { lossesByWalk, type WalkShare } from './losses-by-walk.js';
import { cloningLoss, type CloningLoss } from './objective.js';

/** What learns from what, from where on, and who is told. */
export interface CloneOptions extends CloneCourse {
  policy: Policy;
  optimizer: AdamW;
  train: readonly WalkSample[];
  valid: readonly WalkSample[];
}

/** As `cloneEpochs`, over the gold walks of samples. */
export async function clone(options: CloneOptions): Promise<void> {
  const { policy, train, valid } = options;
  const { graph, rules } = policy.featurizer.parts;
  const golds = goldWalks(train, graph, rules, madeFromSamples('training', 'cloning'));
  const validGolds = goldWalks(valid, graph, rules, madeFromSamples('choice', 'loss after an epoch'));
  for (const walks of [golds, validGolds]) await policy.reader?.read(walks.flatMap(({ states }) => states));
  await cloneEpochs(options, {
    count: golds.length,
    update: (places, step, learningRate) =>
      update(
        options,
        Array.from(places, (place) => golds[place]!),
        step,
        learningRate,
      ),
    validLoss: () => meanLoss(policy, validGolds),
  });
}

async function update(
  { policy, optimizer, settings, seed }: CloneOptions,
  walks: readonly GoldWalk[],
  step: number,
  learningRate: number,
) {
  const { head, featurizer } = policy;
  const { graph, rules } = featurizer.parts;
  const candidates = Rng.named(seed, 'clone/candidates', step);
  const states = walks
    .flatMap((walk) => walk.states)
    .map((gold) => sampleCandidates(gold, graph, rules, settings.maxCandidates, candidates));
  const weights = walks.flatMap(({ states, hops }) => states.map(() => (hops > 1 ? settings.twoHopWeight : 1)));
  const batch = featurizer.batch(states);
  let scores: Float32Array | undefined;
  let loss: CloningLoss | undefined;
  const lossOf = ({ from, to, begin, end, offsets }: WalkShare) =>
    cloningLoss(scores!.subarray(begin, end), { offsets }, states.slice(from, to), weights.slice(from, to), 1).total;
  const gradNorm = await explainedLater(
    () => ({
      place: { step: step + 1 },
      ...(loss && { loss: loss.total / walks.length }),
      ...(scores && { samples: lossesByWalk(walks, batch.offsets, lossOf) }),
    }),
    () =>
      optimizer.minimize(
        [
          {
            outputs: () => head.logits(batch, Rng.named(seed, 'clone/dropout', step)),
            slope: (logits) => {
              scores = logits;
              loss = cloningLoss(logits, batch, states, weights, walks.length);
              finiteLoss(loss.total);
              return loss.gradient;
            },
          },
        ],
        learningRate,
      ),
  );
  head.weightsChanged();
  return { loss: loss!.total / walks.length, gradNorm };
}

/** Mean negative log-likelihood of gold walks over all legal actions, in nats a walk. */
async function meanLoss(policy: Policy, walks: readonly GoldWalk[]): Promise<number> {
  const walksPerChunk = 64;
  let total = 0;
  for (let begin = 0; begin < walks.length; begin += walksPerChunk) {
    const states = walks.slice(begin, begin + walksPerChunk).flatMap((walk) => walk.states);
    const batch = policy.featurizer.batch(states);
    const ones = new Uint8Array(states.length).fill(1);
    total += cloningLoss(await policy.head.infer(batch), batch, states, ones, 1).total;
  }
  return total / walks.length;
}

import { expect, test } from '@jest/globals';
import { actionLogProbs } from '../../../trainers/actor.js';
import { walkerActor } from '../../../agents/dialogue-walker/policy.js';
import { hitsGold } from '../../../envs/dialogue-walk/hits.js';
import { applyAction, initialState, type WalkState } from '../../../envs/dialogue-walk/rules.js';
import { goldWalks } from '../../../agents/dialogue-walker/demonstrations.js';
import { ExpectedRewardTrainer } from '../../../agents/dialogue-walker/expected-reward.js';
import { adamOf } from '../../../trainers/ppo-phase.js';
import { ppo } from '../../fixtures/run-trainers.js';
import { wholeWalks } from '../../../trainers/rollout.js';
import { ppoSettings, type PpoSettings } from '../../../trainers/ppo-settings.js';
import { expectClose, gradientsOf } from '../../fixtures/gradient-check.js';
import { isLong, often } from '../../fixtures/long-tests.js';
import {
  recordedTrees,
  rowNumbers,
  tableActor,
  tableCritic,
  treeActions,
  treeStep,
  width,
} from '../../fixtures/random-walks.js';
import { toyWalker } from '../../fixtures/toy-policy.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

/** The policy gradient and nothing else, of weights that stay where they are. */
const plain: Partial<PpoSettings> = {
  ...{ updateEpochs: 1, normalizeAdvantage: 'none', klCoef: 0, entropyCoef: 0, maxGradNorm: 0 },
  ...{ learningRate: 0, lrDecay: 'none', warmupUpdates: 0 },
};

/** Steps of every walk in a tree without ends. */
const steps = 3;
const samples = [0, 1, 2, 3];

test.each(isLong ? (['none', 'group-mean', 'critic'] as const) : (['critic'] as const))(
  'the gradient of a first step, baseline %s, is on average that of all walks there are',
  async (baseline) => {
    const kind = { seed: 5, ends: false, cuts: false };
    const rounds = often(400, 4000);
    const explorations = 4;
    const perRound = { samplesPerUpdate: samples.length, minibatchSamples: samples.length, explorations };
    const settings = ppoSettings.parse({ ...plain, ...perRound, baseline, gaeLambda: 1, updates: rounds });
    const rowOf = rowNumbers();
    const actor = tableActor(kind.seed, rowOf);
    const network = baseline === 'critic' ? tableCritic(kind.seed, rowOf) : undefined;
    const optimizer = adamOf(actor.parameters, settings);
    const critic = network && { network, optimizer: adamOf(network.parameters, settings) };
    const { envs } = recordedTrees(kind, samples.length * explorations, rowOf);
    const scores = (await actor.parameters.export())['scores']!.data;

    /** Every walk of every sample: probability times return times the gradients of its log-probability. */
    const expected = new Float64Array(scores.length);
    const visit = (sample: number, path: string, probability: number, sum: number, grads: [number, number][]) => {
      const legal = treeActions(kind, sample, path);
      const row = rowOf({ sample, path, legal });
      const powers = legal.map((action) => Math.exp(scores[row * width + action]!));
      const shares = powers.map((power) => power / powers.reduce((a, b) => a + b, 0));
      legal.forEach((action, index) => {
        const own = legal.map((other, i): [number, number] => [row * width + other, Number(i === index) - shares[i]!]);
        const { path: next, reward, terminated } = treeStep(kind, sample, path, action);
        const [p, r, all] = [probability * shares[index]!, sum + reward, [...grads, ...own]];
        if (!terminated) return visit(sample, next, p, r, all);
        for (const [cell, grad] of all) expected[cell]! -= (p * r * grad) / (samples.length * steps);
      });
    };
    for (const sample of samples) visit(sample, '', 1, 0, []);
    // Measured from the mean of a group that a walk is part of, a return counts (K − 1) / K.
    if (baseline === 'group-mean') expected.forEach((_, i) => (expected[i]! *= (explorations - 1) / explorations));

    const sum = new Float64Array(scores.length);
    const squares = new Float64Array(scores.length);
    const seen = new Int32Array(scores.length);
    let before: Float32Array = new Float32Array(scores.length);
    await ppo({
      ...{ actor, optimizer, critic, settings, seed: 3, collect: wholeWalks(envs, Int32Array.from(samples)) },
      async onUpdate() {
        // Adam's first moment is 0.9 of the one before and 0.1 of the gradient.
        const moment = (await optimizer.exportState('')).tensors['first/scores']!.data as Float32Array;
        moment.forEach((value, i) => {
          const gradient = (value - 0.9 * before[i]!) / 0.1;
          sum[i]! += gradient;
          squares[i]! += gradient ** 2;
          seen[i]! += Number(Math.abs(gradient) > 1e-6);
        });
        before = moment;
      },
    });
    const far: number[] = [];
    let [clearest, total, moving] = [0, 0, 0];
    expected.forEach((value, i) => {
      const mean = sum[i]! / rounds;
      const error = Math.sqrt((squares[i]! / rounds - mean ** 2) / (rounds - 1));
      if (error < 1e-7) return expect(mean).toBeCloseTo(value, 6);
      // A state that is hardly ever come to has an error that cannot be measured.
      if (seen[i]! < 0.15 * rounds) return;
      const z = (mean - value) / error;
      if (Math.abs(z) > 4.5) far.push(i);
      clearest = Math.max(clearest, Math.abs(value) / error);
      total += z ** 2;
      moving++;
    });
    expect(moving).toBeGreaterThan(40);
    expect(far).toEqual([]);
    expect(total / moving).toBeLessThan(1.6);
    // A gradient of another length would be seen: the largest gradients are many errors away from 0.
    expect(clearest).toBeGreaterThan(15);
    envs.close();
    for (const made of [optimizer, critic?.optimizer, actor, network]) made?.dispose();
  },
);

test.each(isLong ? (['candidate', 'pa-mlp'] as const) : (['candidate'] as const))(
  'gradient `exact` is that of all walks there are, in every weight of the %s head',
  async (head) => {
    const { graph, samples: dialogues } = toyTwoHop();
    const rules = { horizon: 2, equalAtStep1: false };
    const { policy: make } = await toyWalker({ graph, samples: dialogues }, rules, { head });
    const policy = make(3);
    const { parameters } = policy.head;
    const requests: { task: (typeof dialogues)[number]['task']; state: WalkState }[] = [];
    const grads: number[][] = [];
    for (const { task, gold } of dialogues) {
      const visit = async (state: WalkState, probability: number, trail: [number, number][]): Promise<void> => {
        if (state.done) {
          const reward = Number(hitsGold(graph, state, gold, 'path'));
          for (const [at, index] of trail) {
            const { logProbs } = await actionLogProbs(walkerActor(policy), [requests[at]!]);
            logProbs.forEach((logProb, i) => {
              const grad = Number(i === index) - Math.exp(logProb);
              grads[at]![i]! -= (probability * reward * grad) / dialogues.length;
            });
          }
          return;
        }
        const at = requests.push({ task, state }) - 1;
        const { logProbs } = await actionLogProbs(walkerActor(policy), [{ task, state }]);
        grads.push(Array.from(logProbs, () => 0));
        for (const [index, logProb] of logProbs.entries()) {
          const next = applyAction(graph, state, index, rules);
          await visit(next, probability * Math.exp(logProb), [...trail, [at, index]]);
        }
      };
      await visit(initialState(graph, task.start, rules), 1, []);
    }
    const batch = policy.featurizer.batch(requests);
    const exact = { outputs: () => policy.head.logits(batch), grad: () => Float32Array.from(grads.flat()) };
    const gradients = await gradientsOf(exact, parameters);
    const expected = parameters.names.map((name) => Array.from(gradients[name]!.data));

    const settings = ppoSettings.parse({ ...plain, updates: 1, samplesPerUpdate: dialogues.length });
    const optimizer = adamOf(parameters, settings);
    const walks = goldWalks(dialogues, graph, rules);
    expect(walks).toHaveLength(dialogues.length);
    const trainer = new ExpectedRewardTrainer({ actor: walkerActor(policy), optimizer, walks, settings, seed: 1 });
    await trainer.prepare();
    for (let at = 0; at < settings.updates; at++) await trainer.step(at);
    const { tensors } = await optimizer.exportState('');
    parameters.names.forEach((name, i) => {
      expectClose(
        Array.from(tensors[`first/${name}`]!.data, (moment) => moment / 0.1),
        expected[i]!,
      );
    });
    expect(Math.max(...expected.flat().map(Math.abs))).toBeGreaterThan(0.01);
    optimizer.dispose();
    policy.head.dispose();
  },
);

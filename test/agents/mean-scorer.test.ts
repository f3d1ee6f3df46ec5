import { describe, expect, test } from '@jest/globals';
import { actionLogProbs, type ScoredActions, type StateScorer } from '../../trainers/actor.js';
import { meanScorer } from '../../agents/mean-scorer.js';
import { beamSearch, walkLogProbs } from '../../agents/dialogue-walker/agent.js';
import type { StateRequest } from '../../agents/dialogue-walker/features/featurizer.js';
import { walkScorer } from '../../agents/dialogue-walker/policy.js';
import { walkCollector } from '../../agents/top-paths.js';
import { defaultWalkRules } from '../../envs/dialogue-walk/rules.js';
import { expectClose } from '../fixtures/gradient-check.js';
import { randomize } from '../fixtures/toy-walker.js';
import { toyWalker } from '../fixtures/toy-policy.js';
import { toyTwoHop } from '../fixtures/toy-walks.js';

interface State {
  task: { id: string };
  logits: number[][];
  prepared?: string;
}

/** Reads the logits that a state says it has. @param mask leaves out the first score of each state */
function scripted(member: number, mask = false, seen: State[] = []): StateScorer<State> {
  return {
    parameters: undefined as never,
    numScores: ({ logits }) => logits[member]!.length + Number(mask),
    maxInferenceScores: 2,
    prepare: async (requests) => {
      for (const request of requests) {
        request.prepared ??= `by ${member}`;
        seen.push(request);
      }
    },
    score(requests): ScoredActions {
      const lists = requests.map(({ logits }) => [...(mask ? [99] : []), ...logits[member]!]);
      const offsets = new Int32Array(requests.length + 1);
      const legal: number[] = [];
      lists.forEach((list, s) => {
        offsets[s + 1] = offsets[s]! + list.length - Number(mask);
        const begin = lists.slice(0, s).flat().length;
        list.forEach((_, i) => (!mask || i > 0) && legal.push(begin + i));
      });
      const scoredOffsets = Int32Array.from(offsets, (end, s) => end + (mask ? s : 0));
      return {
        offsets,
        ...(mask && { masked: { scoredOffsets, legal: Int32Array.from(legal) } }),
        logits: () => [] as never,
        infer: () => Promise.resolve(Float32Array.from(lists.flat())),
      };
    },
  };
}

const softmax = (logits: number[]) => {
  const sum = logits.reduce((total, value) => total + Math.exp(value), 0);
  return logits.map((value) => value - Math.log(sum));
};

describe('the mean of several networks', () => {
  const states: State[] = [
    {
      task: { id: 'a' },
      logits: [
        [1, 2, 3],
        [0, 5, 0],
      ],
    },
    { task: { id: 'b' }, logits: [[7], [-7]] },
    {
      task: { id: 'c' },
      logits: [
        [100, 99],
        [-4, -1],
      ],
    },
  ];
  const expected = states.flatMap(({ logits }) => {
    const own = logits.map(softmax);
    return softmax(own[0]!.map((value, i) => (value + own[1]![i]!) / 2));
  });

  test('is that of their log-probabilities, made to sum to 1, masked ones among them', async () => {
    for (const second of [scripted(1), scripted(1, true)]) {
      const mean = meanScorer<State>([{ scorer: scripted(0) }, { scorer: second }]);
      const { logProbs, offsets } = await actionLogProbs(mean, states);
      expectClose(logProbs, expected, 1e-5);
      expect([...offsets]).toEqual([0, 3, 4, 6]);
    }
  });

  test('lets each member prepare a separate request, the same each time', async () => {
    const seen: State[][] = [[], []];
    const members = seen.map((list, member) => ({ scorer: scripted(member, false, list) as never }));
    const mean = meanScorer<State>(members);
    await mean.prepare!(states);
    await mean.prepare!(states);
    expect(seen[0]!.map(({ prepared }) => prepared)).toEqual(Array(6).fill('by 0'));
    expect(seen[1]!.map(({ prepared }) => prepared)).toEqual(Array(6).fill('by 1'));
    expect(seen[0]![0]).toBe(seen[0]![3]);
    expect(states.map(({ prepared }) => prepared)).toEqual([undefined, undefined, undefined]);
  });

  test('is no trained network', () => {
    const mean = meanScorer<State>([{ scorer: scripted(0) }]);
    expect(() => mean.score(states).logits()).toThrow('is not trained');
  });
});

test('walkers of other features rank walks as one, and one of equal members ranks as it does alone', async () => {
  const world = toyTwoHop();
  const tasks = world.samples.map(({ task }) => task);
  const [usual, bare] = [
    await toyWalker(world, defaultWalkRules),
    await toyWalker(world, defaultWalkRules, { edgeFeatures: false }),
  ];
  const policies = [usual.policy(1), bare.policy(2)];
  for (const [i, policy] of policies.entries()) await randomize(policy.head.parameters, i + 1);
  const { graph, rules } = walkScorer(policies[0]!);
  const meanOf = (...of: typeof policies) => ({
    ...{ graph, rules },
    actor: meanScorer<StateRequest>(of.map((one) => ({ scorer: walkScorer(one).actor }))),
  });
  const collector = () => walkCollector(graph, { beamWidth: 50 });
  const alone = await beamSearch(policies[0]!, tasks, 50, collector());
  const twice = await beamSearch(meanOf(policies[0]!, policies[0]!), tasks, 50, collector());
  expect(twice.map(({ paths }) => paths.map(({ path }) => path))).toEqual(
    alone.map(({ paths }) => paths.map(({ path }) => path)),
  );
  const both = meanOf(...policies);
  const ranked = await beamSearch(both, tasks, 50, collector());
  const given = tasks.map((task, i) => ({ task, paths: ranked[i]!.paths.map(({ path }) => path) }));
  const logProbs = await walkLogProbs(both, given);
  ranked.forEach(({ paths }, i) => {
    expectClose(
      paths.map(({ logProb }) => logProb),
      logProbs[i]!,
      1e-4,
    );
    // All walks of the toy world fit into the beam.
    if (paths.length > 0) expect(paths.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0)).toBeCloseTo(1, 4);
  });
  const own = await walkLogProbs(policies[0]!, given);
  expect(logProbs).not.toEqual(own);
  for (const { head } of policies) head.dispose();
});

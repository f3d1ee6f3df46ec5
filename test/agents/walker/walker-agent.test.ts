import { describe, expect, test } from '@jest/globals';
import { encodeTasks } from '../../../agents/walker/vectors.js';
import { walkerAgent } from '../../../agents/walker/walker-agent.js';
import type { Policy } from '../../../agents/walker/policy.js';
import type { WalkTask } from '../../../datasets/walk-sample.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { toyFeaturizer } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const world = toyTwoHop();
const tasks = world.samples.map(({ task }) => task);
/** The first coordinates of a state's text steer it: answers hang on the dialogue. */
const head = {
  infer: async ({ tails, stateOf, context, numStates }) =>
    Float32Array.from(tails, (tail, i) => 3 * Math.sin(tail * context[(stateOf[i]! * context.length) / numStates]!)),
} as Policy['head'];

async function agentOf(beamWidth = 5, delays: number[] = []) {
  const featurizer = await toyFeaturizer(world);
  featurizer.texts = undefined;
  const encoder = hashedEncoder(16);
  const settings = { lastMessageTokens: 96, windowTokens: 128, windowMessages: 3, nameTokens: 32 };
  const encode = async (asked: readonly WalkTask[]) => {
    const texts = await encodeTasks(encoder, asked, { settings });
    for (let turns = delays.shift() ?? 0; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
    return texts;
  };
  return walkerAgent({ head, featurizer }, { name: 'toy', beamWidth, encode });
}

describe('a walker as an agent', () => {
  test('answers every task in order, with no more paths than its beam is wide', async () => {
    const agent = await agentOf(3);
    const done: number[] = [];
    const answers = await agent.answer(tasks, (count) => done.push(count));
    expect(answers).toHaveLength(tasks.length);
    answers.forEach(({ paths }, i) => {
      expect(paths.length).toBeLessThanOrEqual(3);
      for (const { path } of paths) expect(path[0]![0]).toBe(tasks[i]!.start);
    });
    expect(done).toEqual([tasks.length]);
  });

  test('answers many tasks as it answers each', async () => {
    const agent = await agentOf();
    const many = Array.from({ length: 40 }, (_, i) => tasks[i % tasks.length]!);
    const alone = await Promise.all(tasks.map(async (task) => (await agent.answer([task]))[0]));
    expect(await agent.answer(many)).toEqual(many.map((_, i) => alone[i % tasks.length]));
    expect(new Set(alone.map((answer) => JSON.stringify(answer))).size).toBeGreaterThan(1);
  });

  test('serves calls at the same time as one after the other', async () => {
    const long = Array.from({ length: 33 }, (_, i) => tasks[i % 2]!);
    const agent = await agentOf(5, [0, 0, 1, 0]);
    const expected = [await agent.answer(long), await agent.answer(tasks.slice(2))];
    expect(await Promise.all([agent.answer(long), agent.answer(tasks.slice(2))])).toEqual(expected);
  });
});

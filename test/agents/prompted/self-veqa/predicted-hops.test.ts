import { expect, test } from '@jest/globals';
import { ask, chainOf, townTask } from './town-asker.js';

const repaired = chainOf('~purchased_by', 'repaired_by');

test('the length of chains comes from a classifier trained on train', async () => {
  const { proposals } = await ask({ rounds: [[repaired]] }, { hops: 'predicted', task: { hops: undefined! } });
  expect(proposals[0]!.allowed.every(({ length }) => length === 2)).toBe(true);
  const lives = {
    question: 'where does Orla Brandt live',
    topics: [{ ...townTask.topics[0]!, span: [11, 22] as const }],
  };
  const one = await ask({ rounds: [[chainOf('lives_in')]] }, { hops: 'predicted', task: lives });
  expect(one.proposals[0]!.hops).toBe(1);
});

/** Heads that normalise over edges by themselves, where edges into the start are illegal. */
import { expect, test } from '@jest/globals';
import { logFanOut } from '../../../agents/walker/heads/diff-kg.js';
import { toyWalker } from '../../fixtures/toy-policy.js';
import { randomize, reachableStates } from '../../fixtures/toy-walker.js';
import { graphOf, sampleOf } from '../../fixtures/toy-walks.js';

const graph = graphOf('way back', [
  ['start', 'to', 'start'],
  ['start', 'to', 'left'],
  ['start', 'to', 'right'],
  ['start', 'by', 'right'],
  ['left', 'to', 'end'],
  ['left', 'to', 'start'],
  ['left', 'to', 'right'],
  ['left', 'by', 'start'],
  ['right', 'to', 'start'],
  ['right', 'to', 'end'],
]);
const world = { graph, samples: [sampleOf(graph, 'one', 'which way', 'start', [['start', 'to', 'left']])] };
const rules = { horizon: 2, equalAtStep1: false, noReturn: true };
const states = reachableStates(world, rules);

async function walkerOf(walker: Parameters<typeof toyWalker>[2]) {
  const { head, featurizer } = (await toyWalker(world, rules, { edgeFeatures: false, ...walker })).policy(1);
  await randomize(head.parameters, 2);
  head.weightsChanged();
  const batch = featurizer.batch(states);
  expect(Array.from(batch.tails.filter((tail) => tail === graph.entityId('start')))).toEqual([]);
  const logits = await head.infer(batch);
  head.dispose();
  return { batch, logits };
}

test.each(['hitkg', 'seq2path'] as const)('the %s head gives its whole mass to what is legal', async (head) => {
  const { batch, logits } = await walkerOf({ head, recurrentUnits: 5 });
  for (let s = 0; s < batch.numStates; s++) {
    const shares = Array.from(logits.subarray(batch.offsets[s], batch.offsets[s + 1]), Math.exp);
    expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 5);
  }
});

test('the diff-kg head divides a relation among its legal edges', async () => {
  const [divided, ignored] = [
    await walkerOf({ head: 'diff-kg' }),
    await walkerOf({ head: 'diff-kg', fanOut: 'ignored' }),
  ];
  const { batch } = divided;
  const key = (i: number) => `${batch.stateOf[i]} ${batch.relations[i]}`;
  const fans = Array.from(
    batch.tails,
    (_, i) => Array.from(batch.tails.keys()).filter((j) => key(i) === key(j)).length,
  );
  expect(fans).toContain(2);
  expect(Array.from(logFanOut(graph, batch, true), (log) => Math.round(Math.exp(log)))).toEqual(fans);
  divided.logits.forEach((logit, i) => expect(ignored.logits[i]! - logit).toBeCloseTo(Math.log(fans[i]!), 5));
});

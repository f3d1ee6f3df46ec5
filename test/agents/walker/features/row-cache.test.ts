import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Featurizer, type StateRequest } from '../../../../agents/walker/features/featurizer.js';
import { reachableStates, toyFeaturizer } from '../../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../../fixtures/toy-walks.js';

const world = toyTwoHop();
const states = reachableStates(world);
const toy = await toyFeaturizer(world);
const featurizerOf = (featureBytes: number) => {
  const featurizer = new Featurizer({ ...toy.parts, featureBytes });
  featurizer.texts = toy.texts;
  return featurizer;
};
/** States in any order, each with all actions or the even ones of them. */
const orders = fc.array(fc.tuple(fc.nat(states.length - 1), fc.boolean()), { minLength: 1, maxLength: 9 });
const chosen = (order: readonly [number, boolean][], recurs: boolean): StateRequest[] =>
  order.map(([i, sampled]) => {
    const request = { ...states[i]!, recurs };
    if (!sampled) return request;
    const count = toy.batch([states[i]!]).tails.length;
    const actions = Int32Array.from({ length: Math.ceil(count / 2) }, (_, k) => 2 * k);
    return { ...request, actions };
  });

test.each([
  ['all of', 2 ** 20],
  ['a few of', 3000],
  ['none of', 0],
])('batches of states that recur are to the bit those of states that do not, where %s them are kept', (_, bytes) => {
  const featurizer = featurizerOf(bytes);
  fc.assert(
    fc.property(orders, (order) => {
      expect(featurizer.batch(chosen(order, true))).toEqual(toy.batch(chosen(order, false)));
    }),
    { numRuns: 60 },
  );
});

test('what is kept is not made again, and what is kept of other texts is not taken', () => {
  const featurizer = featurizerOf(2 ** 20);
  const recurring = states.map((state) => ({ ...state, recurs: true }));
  const before = featurizer.batch(recurring);
  const { texts } = featurizer;
  const turned = ({ matrix, ...others }: NonNullable<typeof texts>['last']) => ({
    ...others,
    matrix: matrix.map((value) => -value),
  });
  const other = { ...texts!, last: turned(texts!.last), window: turned(texts!.window) };
  // Kept rows do not hear of vectors that change in place.
  const held = texts!.last.matrix.slice();
  texts!.last.matrix.fill(0);
  expect(featurizer.batch(recurring).edgeFeatures).toEqual(before.edgeFeatures);
  texts!.last.matrix.set(held);
  featurizer.texts = other;
  const after = featurizer.batch(recurring);
  expect(after.edgeFeatures).not.toEqual(before.edgeFeatures);
  toy.texts = other;
  expect(after).toEqual(toy.batch(states));
  toy.texts = texts;
});

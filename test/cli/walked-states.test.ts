import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { laterPaths, laterStates } from '../../cli/walked-states.js';
import { applyAction, initialState, numActions, type WalkState } from '../../envs/dialogue-walk/rules.js';
import type { Graph } from '../../src/kg/graph.js';
import { tinySettings } from '../fixtures/tiny-training.js';
import { graphOf, sampleOf } from '../fixtures/toy-walks.js';

/** States after the first in which a walk is not over, one by one. */
function walkedLater(graph: Graph, start: number, horizon: number): number {
  const rules = { horizon, equalAtStep1: true };
  const below = (state: WalkState): number =>
    Array.from({ length: numActions(graph, state, rules) }, (_, action) => applyAction(graph, state, action, rules))
      .filter(({ done }) => !done)
      .reduce((sum, next) => sum + 1 + below(next), 0);
  return below(initialState(graph, start, rules));
}

test('paths by degrees are the states that walks can come to', () => {
  const place = fc.integer({ min: 0, max: 4 }).map((id) => `e${id}`);
  const edge = fc.tuple(place, fc.constantFrom('r', 's'), place);
  fc.assert(
    fc.property(
      fc.uniqueArray(edge, { minLength: 1, maxLength: 9, selector: String }),
      fc.integer({ min: 1, max: 4 }),
      (edges, horizon) => {
        const graph = graphOf('random', edges);
        const counted = [...laterPaths(graph, horizon)];
        expect(counted).toEqual(counted.map((_, start) => walkedLater(graph, start, horizon)));
      },
    ),
  );
});

const hub = graphOf(
  'hub',
  Array.from({ length: 40 }, (_, i) => ['hub', 'to', `leaf ${i}`]),
);
const samples = (count: number) =>
  Array.from({ length: count }, (_, i) => sampleOf(hub, `s${i}`, `message ${i}`, 'hub', [['hub', 'to', 'leaf 0']]));
const planned = (...overrides: string[]) =>
  laterStates(
    { graph: hub, train: samples(4), valid: samples(2) },
    tinySettings('clone.enabled=false', 'ppo.init=scratch', 'ppo.klCoef=0', 'ppo.evalEvery=4', ...overrides),
  );

test('walks meet a state a step at most, and never more than there are', () => {
  // Four rounds of two of the four samples are two passes.
  expect(planned('ppo.explorations=8')).toMatchObject({ reachable: 6 * 40, training: 4 * 2 * 8, visits: 8 + 2 + 2 });
  expect(planned('ppo.explorations=30').training).toBe(4 * 40);
  expect(planned('ppo.explorations=8', 'ppo.trainHorizon=1').training).toBe(0);
  expect(planned('ppo.explorations=8', 'env.horizon=1')).toMatchObject({ reachable: 0, training: 0, valid: 0 });
  expect(planned('ppo.explorations=8', 'clone.enabled=true').training).toBe(4 * (2 * 8 + 1));
});

test('beams meet as many states as they are wide, once more for the best', () => {
  expect(planned('evaluation.beamWidth=25', 'ppo.evalSamples=1').valid).toBe(40 + 25);
});

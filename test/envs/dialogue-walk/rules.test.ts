import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { makeEnv } from '../../../envs/index.js';
import {
  actionOf,
  actionTriple,
  applyAction,
  defaultWalkRules,
  initialState,
  mayStay,
  numActions,
  type WalkRules,
  type WalkState,
} from '../../../envs/dialogue-walk/rules.js';
import { Graph, unknownId, pathKey } from '../../../src/kg/graph.js';
import { argmaxSegment, segmentLogSoftmax } from '../../../src/tensor/categorical.js';
import { graphOf, toyTwoHop } from '../../fixtures/toy-walks.js';
import { checkProperty } from '../../fixtures/property.js';

const chain = graphOf('chain', [
  ['a', 'r', 'b'],
  ['b', 's', 'c'],
]);

describe('rules of a walk', () => {
  test('staying is legal from the second step on', () => {
    const state = initialState(chain, 0, defaultWalkRules);
    expect(mayStay(state, defaultWalkRules)).toBe(false);
    expect(numActions(chain, state, defaultWalkRules)).toBe(1);
    const second = applyAction(chain, state, 0, defaultWalkRules);
    expect(numActions(chain, second, defaultWalkRules)).toBe(2);
    expect(actionTriple(chain, second, 1)).toEqual([1, chain.equalRelation, 1]);
  });

  test('equalAtStep1 allows a stay at the start, which ends the walk', () => {
    const rules: WalkRules = { horizon: 3, equalAtStep1: true };
    const state = initialState(chain, 0, rules);
    expect(numActions(chain, state, rules)).toBe(2);
    const stayed = applyAction(chain, state, 1, rules);
    expect(stayed).toMatchObject({ current: 0, hop: 1, done: true });
    expect(numActions(chain, stayed, rules)).toBe(0);
  });

  test('a walk ends at the horizon', () => {
    const first = applyAction(chain, initialState(chain, 0, defaultWalkRules), 0, defaultWalkRules);
    expect(first.done).toBe(false);
    const second = applyAction(chain, first, 0, defaultWalkRules);
    expect(second).toMatchObject({ start: 0, current: 2, hop: 2, done: true });
    expect(second.path).toEqual([
      [0, 0, 1],
      [1, 1, 2],
    ]);
  });

  test('a start without edges is over before it began, unless it may stay', () => {
    for (const start of [2, unknownId]) {
      expect(initialState(chain, start, defaultWalkRules).done).toBe(true);
      const rules = { horizon: 2, equalAtStep1: true };
      expect(numActions(chain, initialState(chain, start, rules), rules)).toBe(1);
    }
  });

  test('a dead end leaves one action, staying', () => {
    const rules = { horizon: 3, equalAtStep1: false };
    let state = initialState(chain, 0, rules);
    state = applyAction(chain, applyAction(chain, state, 0, rules), 0, rules);
    expect(state.done).toBe(false);
    expect(numActions(chain, state, rules)).toBe(1);
    expect(actionTriple(chain, state, 0)).toEqual([2, chain.equalRelation, 2]);
  });

  test('actionOf refuses edges of other heads, unknown edges and stays that are not legal', () => {
    const state = initialState(chain, 0, defaultWalkRules);
    expect(actionOf(chain, state, [0, 0, 1], defaultWalkRules)).toBe(0);
    expect(actionOf(chain, state, [1, 1, 2], defaultWalkRules)).toBe(-1);
    expect(actionOf(chain, state, [0, 1, 1], defaultWalkRules)).toBe(-1);
    expect(actionOf(chain, state, [0, chain.equalRelation, 0], defaultWalkRules)).toBe(-1);
  });
});

/** Graphs of 1 to 12 entities with isolated nodes, self loops and parallel relations. */
const anyGraph = fc
  .record({
    entities: fc.integer({ min: 1, max: 12 }),
    relations: fc.integer({ min: 1, max: 4 }),
    edges: fc.array(fc.tuple(fc.nat(11), fc.nat(3), fc.nat(11)), { maxLength: 40 }),
  })
  .map(({ entities, relations, edges }) => {
    const column = (at: number, n: number) => Int32Array.from(edges, (edge) => edge[at]! % n);
    return new Graph(
      'any',
      Array.from({ length: entities }, (_, i) => `e${i}`),
      Array.from({ length: relations }, (_, i) => `r${i}`),
      { heads: column(0, entities), relations: column(1, relations), tails: column(2, entities) },
    );
  });
const anyRules = fc.record({ horizon: fc.integer({ min: 1, max: 3 }), equalAtStep1: fc.boolean() });

/** All finished walks from a state, by the definition of the action set and not by the code under test. */
function enumerate(graph: Graph, state: WalkState, rules: WalkRules): string[] {
  const found: string[] = [];
  const visit = (current: number, hop: number, path: string[], stayed: boolean) => {
    const steps: [number, number][] = [];
    for (let edge = 0; edge < graph.numEdges; edge++) {
      const inside = edge >= graph.offsets[current]! && edge < graph.offsets[current + 1]!;
      if (inside) steps.push([graph.relations[edge]!, graph.tails[edge]!]);
    }
    if (hop >= 1 || rules.equalAtStep1) steps.push([graph.equalRelation, current]);
    if (hop === rules.horizon || stayed || steps.length === 0) {
      if (hop > 0) found.push(path.join(';'));
      return;
    }
    for (const [relation, tail] of steps) {
      visit(tail, hop + 1, [...path, `${current},${relation},${tail}`], relation === graph.equalRelation);
    }
  };
  visit(state.start, 0, [], false);
  return found.sort();
}

/** A full-width beam over the rules, with made-up logits. */
function beam(graph: Graph, start: WalkState, rules: WalkRules): WalkState[] {
  let live = [start];
  const finished: WalkState[] = [];
  while (live.length > 0) {
    const next: WalkState[] = [];
    for (const state of live) {
      for (let action = 0; action < numActions(graph, state, rules); action++) {
        const after = applyAction(graph, state, action, rules);
        (after.done ? finished : next).push(after);
      }
    }
    live = next;
  }
  return finished;
}

describe('legal actions on any graph', () => {
  test('beam finds exactly the legal walks, and actionOf inverts actionTriple', () => {
    checkProperty(
      fc.property(anyGraph, anyRules, fc.nat(11), (graph, rules, pick) => {
        const state = initialState(graph, pick % graph.numEntities, rules);
        const walks = beam(graph, state, rules);
        expect(walks.map((walk) => pathKey(walk.path)).sort()).toEqual(enumerate(graph, state, rules));
        for (let action = 0; action < numActions(graph, state, rules); action++) {
          expect(actionOf(graph, state, actionTriple(graph, state, action), rules)).toBe(action);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('B-ARK-7: step, greedy and beam see the same actions, and step refuses every other', () => {
    checkProperty(
      fc.property(anyGraph, anyRules, fc.nat(11), (graph, rules, pick) => {
        const start = pick % graph.numEntities;
        const state = initialState(graph, start, rules);
        fc.pre(!state.done);
        const env = makeEnv('kgwalk/OpenDialKG-v1', { graph, samples: [{ task: taskAt(start), gold }], rules });
        for (const walk of beam(graph, state, rules)) {
          let { observation } = env.reset({ options: { sample: 0 } });
          let at = state;
          for (const triple of walk.path) {
            const legal = numActions(graph, at, rules);
            expect(observation.actionMask).toEqual(new Uint8Array(legal).fill(1));
            expect(observation.tails.length).toBe(graph.degree(at.current));
            expect(() => env.step(legal)).toThrow(/got action/);
            const action = actionOf(graph, at, triple, rules);
            at = applyAction(graph, at, action, rules);
            const result = env.step(action);
            observation = result.observation;
            expect([observation.current, observation.hop, result.terminated]).toEqual([at.current, at.hop, at.done]);
          }
          expect(pathKey(observation.path)).toBe(pathKey(walk.path));
        }
        const logits = Float32Array.from({ length: numActions(graph, state, rules) }, (_, i) => Math.sin(7 * i));
        const logProbs = segmentLogSoftmax(logits, Int32Array.of(0, logits.length));
        env.reset({ options: { sample: 0 } });
        const greedy = argmaxSegment(logProbs, 0, logits.length);
        expect(env.step(greedy).observation.path).toEqual([actionTriple(graph, state, greedy)]);
      }),
      { numRuns: 40 },
    );
  });
});

const gold = { path: [], target: unknownId, inGraph: false };
function taskAt(start: number) {
  return { ...toyTwoHop().samples[0]!.task, start, startName: `e${start}` };
}

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { WalkSample } from '../../../datasets/walk-sample.js';
import { defaultWalkRules, numActions } from '../../../envs/dialogue-walk/rules.js';
import { Rng } from '../../../src/run/seeds.js';
import {
  goldStates,
  goldWalks,
  sampleCandidates,
  withNode,
  type GoldState,
} from '../../../agents/dialogue-walker/demonstrations.js';
import { graphOf, sampleOf, toyTwoHop, walkOf } from '../../fixtures/toy-walks.js';

const { graph, samples } = toyTwoHop();
const id = (name: string) => graph.entityId(name);
const goldOf = (walk: string, of = graph) => sampleOf(of, walk, '', walk.split(' ')[0]!, walkOf(walk));
const three = goldOf('film directed_by nolan directed tenet starring washington');

describe('states of a gold walk', () => {
  test('of two hops are its start and its middle, with its edges as golds', () => {
    const states = goldStates(samples[0]!, graph, defaultWalkRules);
    expect(states.map(({ state }) => [state.hop, state.current])).toEqual([
      [0, id('film')],
      [1, id('nolan')],
    ]);
    const edges = states.map(({ state, gold }) => graph.offsets[state.current]! + gold);
    expect(edges).toEqual(samples[0]!.gold.path.map((triple) => graph.edgeIndex(...triple)));
  });

  test('of one hop continue with staying', () => {
    const [first, second] = goldStates(samples[3]!, graph, defaultWalkRules);
    expect(graph.tails[graph.offsets[id('film')]! + first!.gold]).toBe(id('heist'));
    expect(second!.state.current).toBe(id('heist'));
    // A dead end: staying is its only action.
    expect([second!.gold, graph.degree(id('heist'))]).toEqual([0, 0]);
  });

  test('stop at a horizon of one', () => {
    expect(goldStates(samples[3]!, graph, { horizon: 1, equalAtStep1: false })).toHaveLength(1);
  });

  test('of three hops under a horizon of three are three, and a shorter one ends with its stay', () => {
    const rules = { horizon: 3, equalAtStep1: false };
    expect(goldStates(three, graph, rules)).toHaveLength(3);
    expect(goldStates(samples[3]!, graph, rules)).toHaveLength(2);
  });

  test.each<[string, WalkSample]>([
    ['longer than the horizon', three],
    ['with an edge that the graph lacks', goldOf('film genre nolan')],
    ['whose second edge the graph lacks', goldOf('film directed_by nolan starring page')],
    ['from a start that the graph lacks', goldOf('Solaris genre heist')],
    ['from a dead end', goldOf('heist genre film')],
  ])('do not exist for a gold %s', (_, sample) => {
    expect(goldStates(sample, graph, defaultWalkRules)).toEqual([]);
    expect(goldWalks([sample, samples[1]!], graph, defaultWalkRules)).toHaveLength(1);
  });

  test('of all samples say how long each gold is', () => {
    expect(goldWalks(samples, graph, defaultWalkRules).map(({ hops }) => hops)).toEqual([2, 1, 2, 1, 2]);
  });
});

describe('sampled candidates', () => {
  const hub = graphOf('hub', [
    ...Array.from({ length: 50 }, (_, i) => ['hub', 'to', `leaf-${i}`] as const),
    ['door', 'to', 'hub'],
  ]);
  /** At the hub on the second hop: 50 edges and staying. */
  const atHub = goldStates(goldOf('door to hub to leaf-17', hub), hub, defaultWalkRules)[1]!;
  const stayingGold: GoldState = { ...atHub, gold: 50 };

  test('are the state itself where it has no more actions than may be listed', () => {
    for (const most of [51, 64]) {
      expect(sampleCandidates(atHub, hub, defaultWalkRules, most, new Rng(1))).toBe(atHub);
    }
  });

  test('always hold the gold and staying, are distinct, ascending and as many as asked', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 50 }), fc.integer(), fc.boolean(), (most, seed, stays) => {
        const gold = stays ? stayingGold : atHub;
        const sampled = sampleCandidates(gold, hub, defaultWalkRules, most, new Rng(seed));
        const actions = Array.from(sampled.actions!);
        expect(actions).toHaveLength(most);
        expect(actions).toEqual([...new Set(actions)].sort((a, b) => a - b));
        expect(actions[sampled.gold]).toBe(gold.gold);
        expect(actions).toContain(50);
        expect(Math.max(...actions)).toBeLessThan(numActions(hub, gold.state, defaultWalkRules));
      }),
    );
  });

  test('stand for all actions: their weights sum to the number of actions', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 50 }), fc.integer(), (most, seed) => {
        const { actions, gold, logWeights } = sampleCandidates(atHub, hub, defaultWalkRules, most, new Rng(seed));
        const weights = Array.from(logWeights!, Math.exp);
        expect(weights[gold]).toBe(1);
        expect(weights[actions!.indexOf(50)]).toBe(1);
        expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(51, 3);
      }),
    );
  });

  test('hold all that is as good as the gold, and something for the rest however much that is', () => {
    const alike = Int32Array.of(3, 9, atHub.gold, 41).sort();
    for (const most of [3, 4, 20]) {
      const sampled = sampleCandidates({ ...atHub, alike }, hub, defaultWalkRules, most, new Rng(most));
      const { actions, logWeights } = sampled;
      expect(actions).toHaveLength(Math.max(most, 6));
      expect(sampled.alike!.map((index) => actions![index]!)).toEqual(alike);
      expect(actions![sampled.gold]).toBe(atHub.gold);
      expect(Array.from(logWeights!, Math.exp).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(51, 3);
    }
  });

  test('name every other action equally often', () => {
    const rng = Rng.named(1, 'test/candidates');
    const counts = new Array<number>(51).fill(0);
    const draws = 4000;
    for (let i = 0; i < draws; i++) {
      for (const action of sampleCandidates(atHub, hub, defaultWalkRules, 9, rng).actions!) counts[action]!++;
    }
    // Seven of the 49 others a draw; four standard errors of a share of 1/7.
    counts.forEach((count, action) => {
      if (action === 50 || action === atHub.gold) expect(count).toBe(draws);
      else expect(Math.abs(count / draws - 1 / 7)).toBeLessThan(4 * Math.sqrt(6 / 49 / draws));
    });
  });
});

describe('what leads where the gold leads', () => {
  const ends = (gold: GoldState, rules = defaultWalkRules) => {
    const { current } = gold.state;
    return Array.from(withNode(gold, graph, rules).alike!, (action) =>
      action === graph.degree(current)
        ? 'stay'
        : graph.relationNames[graph.relations[graph.offsets[current]! + action]!],
    );
  };

  test('is staying in addition to a gold loop, where it is legal', () => {
    const rules = { horizon: 2, equalAtStep1: true };
    const [first] = goldStates(goldOf('film sequel_of film'), graph, rules);
    expect(ends(first!, rules)).toEqual(['sequel_of', 'stay']);
  });

  test('is every relation to its entity', () => {
    const [first] = goldStates(samples[1]!, graph, defaultWalkRules);
    expect(ends(first!).sort()).toEqual(['directed_by', 'written_by']);
  });

  test('is staying, and loops as well', () => {
    const endsOf = (walk: string) => goldStates(goldOf(walk), graph, defaultWalkRules).map((gold) => ends(gold));
    expect(endsOf('tenet directed_by nolan')[1]).toEqual(['stay']);
    expect(endsOf('film sequel_of film')).toEqual([['sequel_of'], ['sequel_of', 'stay']]);
  });
});

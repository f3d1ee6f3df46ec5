/** The states of a gold walk and what it did in each: teacher forcing. */
import type { WalkSample } from '../../datasets/walk-sample.js';
import { actionOf, applyAction, initialState, numActions, type WalkRules, type WalkState } from '../../envs/rules.js';
import type { Graph } from '../../src/kg/graph.js';
import type { Rng } from '../../src/run/seeds.js';
import type { StateRequest } from '../../agents/walker/features/featurizer.js';

/** A state, and the place of the gold among its listed actions. */
export interface GoldState extends StateRequest {
  state: WalkState;
  /** Position of the gold action among the listed actions. */
  gold: number;
  /** ln of how many unlisted actions each listed one stands for: added to its logit. Absent when all are listed. */
  logWeights?: Float32Array;
}

/** All states of one gold walk. */
export interface GoldWalk {
  states: GoldState[];
  /** Edges of the gold path. */
  hops: number;
}

/**
 * Gold walks of all samples that have one in the graph.
 * @param note called for each of them, with `madeFromSamples` of what they are for
 */
export function goldWalks(
  samples: readonly WalkSample[],
  graph: Graph,
  rules: WalkRules,
  note?: (sample: WalkSample) => void,
): GoldWalk[] {
  return samples.flatMap((sample) => {
    const states = goldStates(sample, graph, rules);
    if (states.length === 0) return [];
    note?.(sample);
    return [{ states, hops: sample.gold.path.length }];
  });
}

/**
 * One state a hop up to the horizon: gold walks that end earlier stay where they are. Empty where the gold is not in
 * the graph or longer than the horizon.
 */
export function goldStates({ task, gold }: WalkSample, graph: Graph, rules: WalkRules): GoldState[] {
  const states: GoldState[] = [];
  let state = initialState(graph, task.start, rules);
  for (let hop = 0; !state.done; hop++) {
    const triple = gold.path[hop] ?? ([state.current, graph.equalRelation, state.current] as const);
    const action = actionOf(graph, state, triple, rules);
    if (action < 0) return [];
    states.push({ task, state, gold: action });
    state = applyAction(graph, state, action, rules);
  }
  return gold.path.length > states.length ? [] : states;
}

/**
 * Lists at most `maxCandidates` actions of a state: the gold one, staying, and a uniform sample of the others, each
 * standing for as many as were left out (sampled softmax with a uniform proposal).
 */
export function sampleCandidates(
  gold: GoldState,
  graph: Graph,
  rules: WalkRules,
  maxCandidates: number,
  rng: Rng,
): GoldState {
  const count = numActions(graph, gold.state, rules);
  if (count <= maxCandidates) return gold;
  const degree = graph.degree(gold.state.current);
  const always = new Set([gold.gold, ...(count > degree ? [degree] : [])]);
  const others = count - always.size;
  const drawn = new Set<number>(always);
  while (drawn.size < maxCandidates) drawn.add(rng.integer(count));
  const actions = Int32Array.from(drawn).sort();
  const weight = Math.log(others / (maxCandidates - always.size));
  return {
    ...gold,
    actions,
    gold: actions.indexOf(gold.gold),
    logWeights: Float32Array.from(actions, (action) => (always.has(action) ? 0 : weight)),
  };
}

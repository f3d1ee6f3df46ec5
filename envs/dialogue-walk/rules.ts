/**
 * The rules of a walk over edges, as pure functions: which actions a state has, where each leads, when the walk ends.
 * `step`, greedy and beam all call these, so training and evaluation can never see different action sets. Which edges there
 * are to choose from is said by the graph that they are given: `walkGraph` cuts it where settings ask for shorter lists.
 *
 * Actions of a state: action `i < degree` walks edge `graph.offsets[current] + i`; action `degree`, where it exists,
 * is Equal: staying. Every index below `numActions` is legal and no other is, so there is nothing to mask or pad.
 */
import type { Graph, Path, Triple } from '../../src/kg/graph.js';
import type { EnvSettings } from '../settings.js';

/** Legal moves of a walk. */
export interface WalkRules {
  /** Steps a walk may take, stays included; at least 1. */
  horizon: number;
  /** True if staying is legal at the first step; from the second step on it always is. */
  equalAtStep1: boolean;
}

/** Two steps, no stay at the first: the setting of every published OpenDialKG walker. */
export const defaultWalkRules: WalkRules = { horizon: 2, equalAtStep1: false };

/** The rules that settings state. */
export function walkRulesOf({ horizon, equalAtStep1 }: Pick<EnvSettings, 'horizon' | 'equalAtStep1'>): WalkRules {
  return { horizon, equalAtStep1 };
}

/** State of a walk. Immutable: `applyAction` makes a new one. */
export interface WalkState {
  /** Entity id where the walk began, or `unknownId`. */
  readonly start: number;
  /** Entity id where it is now. */
  readonly current: number;
  /** Steps taken, 0 before the first. */
  readonly hop: number;
  /** Steps taken as triples, stays included; `canonicalPath` removes those. */
  readonly path: Path;
  /** True if the walk is over: at the horizon, after a stay, or without legal actions. */
  readonly done: boolean;
}

/** The state before the first step; already `done` when the start has no legal action (no edges, not in the graph). */
export function initialState(graph: Graph, start: number, rules: WalkRules): WalkState {
  const state = { start, current: start, hop: 0, path: [], done: false };
  return { ...state, done: numActions(graph, state, rules) === 0 };
}

/** True if staying is legal in `state`. */
export function mayStay(state: WalkState, rules: WalkRules): boolean {
  return !state.done && (state.hop > 0 || rules.equalAtStep1);
}

/** Length of the action list: out-edges, plus one where staying is legal; 0 once the walk is over. O(1). */
export function numActions(graph: Graph, state: WalkState, rules: WalkRules): number {
  return state.done ? 0 : graph.degree(state.current) + Number(mayStay(state, rules));
}

/**
 * The triple of `action`: an edge, or [current, `graph.equalRelation`, current] for staying. O(1).
 * @param action index in [0, `numActions`), not checked: this is the hot path of beams
 */
export function actionTriple(graph: Graph, state: WalkState, action: number): Triple {
  if (action === graph.degree(state.current)) return [state.current, graph.equalRelation, state.current];
  const edge = graph.offsets[state.current]! + action;
  return [state.current, graph.relations[edge]!, graph.tails[edge]!];
}

/**
 * The state after `action`. Staying ends the walk at once: every later step could only stay again or contradict it.
 * @param action index in [0, `numActions`), not checked: this is the hot path of beams
 */
export function applyAction(graph: Graph, state: WalkState, action: number, rules: WalkRules): WalkState {
  const triple = actionTriple(graph, state, action);
  const hop = state.hop + 1;
  const done = hop >= rules.horizon || triple[1] === graph.equalRelation;
  return { start: state.start, current: triple[2], hop, path: [...state.path, triple], done };
}

/**
 * The index of a step in its state's action list, or -1 where it is not legal. O(log degree).
 * @param triple an edge from the current entity, or a stay written with `graph.equalRelation`
 */
export function actionOf(graph: Graph, state: WalkState, [head, relation, tail]: Triple, rules: WalkRules): number {
  if (state.done || head !== state.current) return -1;
  if (relation === graph.equalRelation) return tail === head && mayStay(state, rules) ? graph.degree(head) : -1;
  const edge = graph.edgeIndex(head, relation, tail);
  return edge < 0 ? -1 : edge - graph.offsets[head]!;
}

/** A state of a walk that is known in whole, with what is done in it. */
export interface KnownStep {
  state: WalkState;
  /** Index in its list of actions. */
  action: number;
}

/**
 * The states of the walk that takes `path` from `start` and, where that ends before the horizon, stays. Undefined where the
 * rules or the graph do not let it: a start without actions, an edge that is not there, a path longer than the horizon.
 */
export function stepsAlong(graph: Graph, start: number, path: Path, rules: WalkRules): KnownStep[] | undefined {
  const steps: KnownStep[] = [];
  let state = initialState(graph, start, rules);
  for (let hop = 0; !state.done; hop++) {
    const triple = path[hop] ?? ([state.current, graph.equalRelation, state.current] as const);
    const action = actionOf(graph, state, triple, rules);
    if (action < 0) return undefined;
    steps.push({ state, action });
    state = applyAction(graph, state, action, rules);
  }
  return steps.length === 0 || path.length > steps.length ? undefined : steps;
}

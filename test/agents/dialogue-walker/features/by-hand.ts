/** Features of edges by their names, to be compared with what is computed by hand. */
import { expect } from '@jest/globals';
import { defaultWalkRules, numActions, type WalkState } from '../../../../envs/dialogue-walk/rules.js';
import type { Graph } from '../../../../src/kg/graph.js';

/** Feature value of a count of train walks. */
export const c = (count: number) => Math.log(1 + count) / 3;

/** A value for each legal action of a state, by feature. @param write writes rows of as many numbers as there are names */
export function featuresOf(
  graph: Graph,
  state: WalkState,
  names: readonly string[],
  write: (actions: Int32Array, out: Float32Array) => void,
): Record<string, number[]> {
  const actions = Int32Array.from(Array(numActions(graph, state, defaultWalkRules)).keys());
  const out = new Float32Array(actions.length * names.length);
  write(actions, out);
  return Object.fromEntries(
    names.map((name, f) => [name, Array.from(actions, (_, i) => out[i * names.length + f]!)] as const),
  );
}

/** Compares those that are named. */
export function expectFeatures(actual: Record<string, number[]>, expected: Record<string, number[]>): void {
  for (const [name, values] of Object.entries(expected)) {
    expect({ [name]: actual[name] }).toEqual({ [name]: values.map((value) => expect.closeTo(value, 5)) });
  }
}

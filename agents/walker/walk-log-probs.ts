/** What a policy thinks of walks that it is given. */
import { setImmediate } from 'node:timers/promises';
import { legalActions, stepsAlong } from '../../envs/dialogue-walk/rules.js';
import { pathKey } from '../../src/kg/graph.js';
import { actionLogProbs } from '../actor.js';
import type { GivenWalks } from '../agent.js';
import type { StateRequest } from './features/featurizer.js';
import { type Policy, type WalkScorer, walkScorer } from './policy.js';

/** States that are scored together. */
const statesAtOnce = 512;

/** See `Agent.logProbs`. States that walks of a task share are scored once. */
export async function walkLogProbs(by: Policy | WalkScorer, given: readonly GivenWalks[]): Promise<number[][]> {
  const { graph, rules, actor } = walkScorer(by);
  const states: StateRequest[] = [];
  /** For each path of each task: the places of its states, and what is done there; undefined where it is not legal. */
  const walks = given.map(({ task, paths }) => {
    const places = new Map<string, number>();
    return paths.map((path) =>
      stepsAlong(graph, task.start, path, rules)?.map(({ state, action }) => {
        const key = pathKey(state.path);
        if (!places.has(key)) places.set(key, states.push({ task, state }) - 1);
        return { at: places.get(key)!, action };
      }),
    );
  });
  const byState: Float32Array[] = [];
  for (let begin = 0; begin < states.length; begin += statesAtOnce) {
    const { logProbs, offsets } = await actionLogProbs(actor, states.slice(begin, begin + statesAtOnce));
    for (let i = 1; i < offsets.length; i++) byState.push(logProbs.slice(offsets[i - 1], offsets[i]));
    await setImmediate(); // lets interrupts through
  }
  const placeOf = ({ state }: StateRequest, action: number) =>
    legalActions(graph, state, rules)?.indexOf(action) ?? action;
  return walks.map((paths) =>
    paths.map((steps) =>
      steps ? steps.reduce((sum, { at, action }) => sum + byState[at]![placeOf(states[at]!, action)]!, 0) : NaN,
    ),
  );
}

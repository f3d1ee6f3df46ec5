/** Log-probabilities of given walks. */
import { setImmediate } from 'node:timers/promises';
import { stepsAlong } from '../../envs/dialogue-walk/rules.js';
import { pathKey } from '../../src/kg/graph.js';
import { actionLogProbs } from '../actor.js';
import type { GivenWalks } from '../agent.js';
import type { StateRequest } from './features/featurizer.js';
import { type Policy, type WalkScorer, walkScorer } from './policy.js';

/** States that are scored together. */
const statesAtOnce = 512;
/** The same where every entity competes in each. */
const statesWrittenAtOnce = 64;

/** See `Agent.logProbs`. States that walks of a task share are scored once. */
export async function walkLogProbs(by: Policy | WalkScorer, given: readonly GivenWalks[]): Promise<number[][]> {
  const { graph, rules, actor, writer } = walkScorer(by);
  const states: StateRequest[] = [];
  /** For each path of each task: the places of its states, and what is done there; undefined where it is not legal. */
  const walks = given.map(({ task, paths }) => {
    const places = new Map<string, number>();
    return paths.map((path) =>
      stepsAlong(graph, task.start, path, rules)?.map(({ state, action }) => {
        // What is written freely is normalised by itself: nothing but the step has to be listed.
        const key = writer ? `${pathKey(state.path)} ${action}` : pathKey(state.path);
        const listed = writer && { actions: Int32Array.of(action) };
        if (!places.has(key)) places.set(key, states.push({ task, state, ...listed }) - 1);
        return { at: places.get(key)!, action };
      }),
    );
  });
  const byState: Float32Array[] = [];
  const atOnce = writer ? statesWrittenAtOnce : statesAtOnce;
  for (let begin = 0; begin < states.length; begin += atOnce) {
    const { logProbs, offsets } = await actionLogProbs(actor, states.slice(begin, begin + atOnce));
    for (let i = 1; i < offsets.length; i++) byState.push(logProbs.slice(offsets[i - 1], offsets[i]));
    await setImmediate(); // lets interrupts through
  }
  const placeOf = ({ actions }: StateRequest, action: number) => actions?.indexOf(action) ?? action;
  return walks.map((paths) =>
    paths.map((steps) =>
      steps ? steps.reduce((sum, { at, action }) => sum + byState[at]![placeOf(states[at]!, action)]!, 0) : NaN,
    ),
  );
}

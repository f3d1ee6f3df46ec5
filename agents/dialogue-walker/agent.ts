/** A trained walker as an agent: answers by beam search, which ranks every complete walk that is met. */
import { setImmediate } from 'node:timers/promises';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { applyAction, initialState, stepsAlong, type WalkState } from '../../envs/dialogue-walk/rules.js';
import { type Graph, type Path, pathKey } from '../../src/kg/graph.js';
import type { ArkBeam } from '../../src/metrics/ranks.js';
import { actionLogProbs, type ActionLogProbs } from '../../trainers/actor.js';
import type { Agent, Answer, GivenWalks } from '../agent.js';
import { arkBeam } from '../ark-beam.js';
import { boundedHeap } from '../bounded-heap.js';
import { type Ranking, walkCollector, type WalkCollector } from '../top-paths.js';
import type { StateRequest, TaskVectors } from './features/featurizer.js';
import { freeBeam } from './free-beam.js';
import { type Policy, type WalkScorer, walkScorer } from './policy.js';

interface WalkerAgentOptions {
  name: string;
  /** At least the largest k that is evaluated. */
  beamWidth: number;
  /** Added to the score of walks of two or more hops when ranking. Default 0. */
  twoHopBonus?: number;
  arkBeam?: boolean;
  note?: string;
  /** Encodes the texts of tasks before they are walked; absent where the policy's featurizer holds them already. */
  encode?: ((tasks: readonly WalkTask[]) => Promise<TaskVectors>) | undefined;
}

/** Tasks whose beams grow together. */
export const tasksPerBatch = 16;

/** Wraps a policy; the caller keeps and disposes its head. */
export function walkerAgent(
  policy: Policy,
  { name, note, beamWidth, twoHopBonus = 0, arkBeam = false, encode }: WalkerAgentOptions,
): Agent {
  const { graph } = policy.featurizer.parts;
  const scorerOf = async (tasks: readonly WalkTask[]) => {
    const texts = await encode?.(tasks);
    return walkScorer(texts ? { ...policy, featurizer: policy.featurizer.over(texts) } : policy);
  };
  return beamAgent(graph, scorerOf, { name, beamWidth, twoHopBonus, arkBeam, note });
}

/** @param scorerOf what ranks walks of some tasks, whose texts it has read */
export function beamAgent(
  graph: Graph,
  scorerOf: (tasks: readonly WalkTask[]) => Promise<WalkScorer>,
  { name, note, beamWidth, twoHopBonus = 0, arkBeam = false }: Omit<WalkerAgentOptions, 'encode'>,
): Agent {
  const collector = walkCollector(graph, { beamWidth, twoHopBonus });
  return {
    name,
    note,
    answer: async (tasks: readonly WalkTask[], onProgress) => {
      const scorer = await scorerOf(tasks);
      const answers: Answer[] = [];
      for (let begin = 0; begin < tasks.length; begin += tasksPerBatch) {
        const group = tasks.slice(begin, begin + tasksPerBatch);
        const { writer } = scorer;
        const rankings = writer
          ? await freeBeam({ ...scorer, writer }, group, { beamWidth, twoHopBonus })
          : await beamSearch(scorer, group, beamWidth, collector, arkBeam);
        answers.push(...rankings.map((ranking) => ({ ...ranking, cost: {} })));
        onProgress?.(answers.length);
        // Lets progress lines and interrupts through.
        await setImmediate();
      }
      return answers;
    },
    logProbs: async (given) => walkLogProbs(await scorerOf(given.map(({ task }) => task)), given),
  };
}

interface PartialWalk {
  state: WalkState;
  logProb: number;
  /** Position of the walk it extends in the list of all partial walks, -1 for none. */
  parent: number;
  /** Edge index of its last step, -1 before the first. */
  edge: number;
}

interface TaskWalks {
  task: WalkTask;
  all: PartialWalk[];
  /** Positions in `all` of unfinished walks, best first. */
  live: number[];
  complete: CompleteWalk[];
  arkBeam?: ArkBeam;
}

interface CompleteWalk {
  /** Position of the walk before its last step, or -1. */
  prefix: number;
  edge: number;
  logProb: number;
}

/**
 * Ranks walks of several tasks at once, so that the network sees full batches.
 * At each step the `beamWidth` most probable partial walks are expanded by all their legal actions; with a horizon of
 * two the second step is not pruned at all.
 * @param collector used by one task after another
 * @param withArkBeam whether to keep LLM-ARK's beam too, out of the same scores; meant for a horizon of two and a `beamWidth` of at
 *   least `arkBeamWidth`
 */
export async function beamSearch(
  by: Policy | WalkScorer,
  tasks: readonly WalkTask[],
  beamWidth: number,
  collector: WalkCollector,
  withArkBeam = false,
): Promise<Ranking[]> {
  const { graph, rules, actor } = walkScorer(by);
  const walks = tasks.map((task): TaskWalks => {
    const state = initialState(graph, task.start, rules);
    return { task, all: [{ state, logProb: 0, parent: -1, edge: -1 }], live: state.done ? [] : [0], complete: [] };
  });
  for (let hop = 0; hop < rules.horizon; hop++) {
    const requests = walks.flatMap(({ task, all, live }) => live.map((i) => ({ task, state: all[i]!.state })));
    if (requests.length === 0) break;
    const { logProbs, offsets } = await actionLogProbs(actor, requests);
    let request = 0;
    for (const walk of walks) {
      if (withArkBeam && hop === 1) walk.arkBeam = arkBeamOf(graph, walk, { logProbs, offsets }, request);
      const open = boundedHeap(beamWidth);
      for (const i of walk.live) {
        const partial = walk.all[i]!;
        const begin = offsets[request]!;
        const count = offsets[++request]! - begin;
        const degree = graph.degree(partial.state.current);
        const ends = hop + 1 >= rules.horizon;
        for (let action = 0; action < count; action++) {
          const logProb = partial.logProb + logProbs[begin + action]!;
          if (action === degree) walk.complete.push({ prefix: partial.parent, edge: partial.edge, logProb });
          else if (ends)
            walk.complete.push({ prefix: i, edge: graph.offsets[partial.state.current]! + action, logProb });
          else open.offer(logProb, action, i, action, logProb);
        }
      }
      walk.live = open.drain().map(({ a: parent, b: action, value: logProb }) => {
        const { state } = walk.all[parent]!;
        const edge = graph.offsets[state.current]! + action;
        return walk.all.push({ state: applyAction(graph, state, action, rules), logProb, parent, edge }) - 1;
      });
    }
  }
  return walks.map(({ task, all, complete, arkBeam: kept }) => {
    collector.begin(task);
    // The root has no step: a walk right after it has no prefix.
    for (const { prefix, edge, logProb } of complete) collector.add(prefix > 0 ? prefix : -1, edge, logProb);
    const ranking = collector.finish((prefix): Path => all[prefix]!.state.path);
    return withArkBeam ? { ...ranking, arkBeam: kept ?? arkBeam(graph, task, [], () => {}) } : ranking;
  });
}

/**
 * LLM-ARK's beam of one task, whose walks have taken one step. Walks that ended there are not in it: its reference masks staying.
 * @param request position in `offsets` of the first of its live walks
 */
function arkBeamOf(
  graph: Graph,
  { task, all, live }: TaskWalks,
  { logProbs, offsets }: ActionLogProbs,
  request: number,
): ArkBeam {
  const firsts = live.map((i) => all[i]!.edge);
  return arkBeam(graph, task, firsts, (slot, offer) => {
    const { state, logProb } = all[live[slot]!]!;
    const begin = offsets[request + slot]!;
    const degree = graph.degree(state.current);
    for (let action = 0; action < offsets[request + slot + 1]! - begin; action++) {
      const edge = action === degree ? -1 : graph.offsets[state.current]! + action;
      offer(edge, logProb + logProbs[begin + action]!);
    }
  });
}

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

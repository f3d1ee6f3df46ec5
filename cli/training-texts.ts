/** The texts that a training would encode, in lists that can be shared out. */
import { StateReader } from '../agents/walker/policy.js';
import type { WalkTask } from '../datasets/walk-sample.js';
import { applyAction, initialState, walkRulesOf, type WalkState } from '../envs/dialogue-walk/rules.js';
import type { RunSettings } from '../presets/index.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { PlannedWalks, TextGroup, TrainingPlan } from '../tasks/task.js';

/** Texts of one kind, generated on demand: those of walks are many. */
export interface TextList {
  count: number;
  texts(begin: number, end: number): Promise<readonly string[]>;
  /** Encoding options of training. */
  options: { maxTokens?: number; overlong?: 'refuse' };
}

/** State of a task's walk. */
interface TaskState {
  task: WalkTask;
  state: WalkState;
}

/** @param later includes states after one step, in addition to the first ones, among those read one by one */
export function textLists(
  { texts, walks }: TrainingPlan,
  settings: RunSettings,
  encoder: StateEncoder,
  later: boolean,
): TextList[] {
  return [
    ...distinctTexts(texts).map(({ texts: own, maxTokens }): TextList => {
      return {
        count: own.length,
        texts: (begin, end) => Promise.resolve(own.slice(begin, end)),
        options: { maxTokens },
      };
    }),
    ...(walks ? [stateTexts(walks, settings, encoder, later)] : []),
  ];
}

/** Every text in the first group that asks for it; blank ones in none. */
export function distinctTexts(groups: readonly TextGroup[]): TextGroup[] {
  const known = new Set(['']);
  return groups.map(({ texts, maxTokens }) => ({
    texts: [...new Set(texts)].filter((text) => !known.has(text) && known.add(text)),
    maxTokens,
  }));
}

/** States that walks begin in, but for those in which they are over. */
export function firstStates({ graph, train, valid }: PlannedWalks, { env }: RunSettings): TaskState[] {
  const rules = walkRulesOf(env);
  return [...train, ...valid]
    .map(({ task }) => ({ task, state: initialState(graph, task.start, rules) }))
    .filter(({ state }) => !state.done);
}

/** Those of a task side by side, as a walk meets them: what they begin with is evaluated once. */
function stateTexts(walks: PlannedWalks, settings: RunSettings, encoder: StateEncoder, later: boolean): TextList {
  const { graph } = walks;
  const rules = walkRulesOf(settings.env);
  const reader = new StateReader(encoder, graph, settings.stateText);
  const states = firstStates(walks, settings).flatMap((first) => {
    const edges = later ? graph.degree(first.task.start) : 0;
    const next = Array.from({ length: edges }, (_, edge) => applyAction(graph, first.state, edge, rules));
    return [first, ...next.filter(({ done }) => !done).map((state) => ({ task: first.task, state }))];
  });
  return {
    count: states.length,
    texts: (begin, end) => reader.texts(states.slice(begin, end)),
    options: { overlong: 'refuse' },
  };
}

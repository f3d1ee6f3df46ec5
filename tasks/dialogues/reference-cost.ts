/**
 * What the reference implementation of LLM-ARK would have spent on the walks that were made: it encodes every copy of an
 * exploration by itself, the state that a walk begins in and each that a step leads to, the last one too. Counted, text by text.
 */
import type { StateRequest } from '../../agents/walker/features/featurizer.js';
import type { StateReader } from '../../agents/walker/policy.js';
import type { DialogueWalkObservation } from '../../envs/dialogue-walk/dialogue-walk-env.js';
import type { BatchedEnv, VectorStep } from '../../envs/vector-env.js';
import { pathKey } from '../../src/kg/graph.js';

type Envs = BatchedEnv<DialogueWalkObservation>;

/** Forward passes over whole texts, and their tokens, special ones aside. */
export interface TextCost {
  encodes: number;
  tokens: number;
}

/** Watches environments. */
export interface ReferenceCost {
  /** The same environments, watched. */
  envs: Envs;
  /** The cost of all walks since the last call. */
  take(): Promise<TextCost>;
}

/** @param reader of the states that the walker encodes */
export function referenceCost(envs: Envs, reader: StateReader): ReferenceCost {
  let seen = new Map<string, { state: Pick<StateRequest, 'task' | 'state'>; times: number }>();
  let live: Int32Array = new Int32Array(0);
  const watch = (step: VectorStep<DialogueWalkObservation>, copies: Iterable<number>) => {
    for (const copy of copies) {
      const { task, start, current, hop, path } = step.observations[copy]!;
      const key = `${task.id} ${pathKey(path)}`;
      const known = seen.get(key);
      if (known) known.times++;
      else seen.set(key, { state: { task, state: { start, current, hop, path, done: false } }, times: 1 });
    }
    live = step.live;
    return step;
  };
  return {
    envs: {
      spec: envs.spec,
      actionSpace: envs.actionSpace,
      observationSpace: envs.observationSpace,
      numEnvs: envs.numEnvs,
      reset: (options) => {
        const step = envs.reset(options);
        return watch(step, step.live);
      },
      step: (actions) => watch(envs.step(actions), live),
      close: () => envs.close(),
    },
    async take() {
      const states = [...seen.values()];
      seen = new Map();
      const counts = await reader.encoder.countTokens(await reader.texts(states.map(({ state }) => state)));
      const cost = { encodes: 0, tokens: 0 };
      states.forEach(({ times }, i) => {
        cost.encodes += times;
        cost.tokens += times * counts[i]!;
      });
      return cost;
    },
  };
}

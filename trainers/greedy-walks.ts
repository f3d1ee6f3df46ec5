/** Greedy walks (argmax actions) of a policy: cheap metrics for learning curves. */
import { setImmediate } from 'node:timers/promises';
import { actionLogProbs, type Actor } from './actor.js';
import type { BatchedEnv } from '../envs/vector-env.js';
import { throwIfStopped } from '../src/run/stop.js';
import { argmaxSegment } from '../src/nn/categorical.js';

/** Result of one walk. */
export interface GreedyWalk<Observation> {
  observation: Observation;
  /** Environment's `info` of the last step, such as `f1`; that of the reset if nothing could be walked. */
  info: Record<string, unknown>;
}

/** Progress callback and abort signal. */
export type GreedyOptions = { onProgress?: (done: number) => void; signal?: AbortSignal | undefined };

/**
 * Walks samples in parallel, one per copy of the environment.
 * @param samples indices of the env's samples
 * @throws WorkbenchError `stopped` once the signal is aborted
 */
export async function greedyWalks<Observation, Request>(
  actor: Actor<Observation, Request>,
  envs: BatchedEnv<Observation>,
  samples: Int32Array,
  { onProgress, signal }: GreedyOptions = {},
): Promise<GreedyWalk<Observation>[]> {
  const walks: GreedyWalk<Observation>[] = [];
  for (let begin = 0; begin < samples.length; begin += envs.numEnvs) {
    throwIfStopped(signal);
    const chunk = samples.subarray(begin, begin + envs.numEnvs);
    let step = envs.reset({ options: Array.from(chunk, (sample) => ({ sample })) });
    while (step.live.length > 0) {
      const requests = Array.from(step.live, (copy) => actor.requestOf(step.observations[copy]!));
      const { logProbs, offsets } = await actionLogProbs(actor, requests);
      const actions = new Int32Array(chunk.length);
      step.live.forEach((copy, i) => {
        const index = argmaxSegment(logProbs, offsets[i]!, offsets[i + 1]!);
        actions[copy] = actor.envAction?.(requests[i]!, index) ?? index;
      });
      step = envs.step(actions);
    }
    step.observations.forEach((observation, copy) => walks.push({ observation, info: step.infos[copy]! }));
    onProgress?.(walks.length);
    await setImmediate();
  }
  return walks;
}

/** A trained walker as an agent: answers by beam search. */
import { setImmediate } from 'node:timers/promises';
import type { WalkTask } from '../../datasets/walk-sample.js';
import type { Agent, Answer } from '../agent.js';
import { walkCollector } from '../top-paths.js';
import { beamSearch } from './beam.js';
import type { TaskVectors } from './features/featurizer.js';
import type { Policy } from './policy.js';

/** How the agent is called, how it ranks, and who encodes its texts. */
export interface WalkerAgentOptions {
  name: string;
  /** At least the largest k that is evaluated. */
  beamWidth: number;
  /** Added to the score of walks of two or more hops when ranking. Default 0. */
  twoHopBonus?: number;
  /** Whether answers hold LLM-ARK's beam as well. Default false. */
  arkBeam?: boolean;
  note?: string;
  /** Encodes the texts of tasks before they are walked; absent where the policy's featurizer holds them already. */
  encode?: (tasks: readonly WalkTask[]) => Promise<TaskVectors>;
}

/** Tasks whose beams grow together. */
export const tasksPerBatch = 16;

/** Wraps a policy; the caller keeps and disposes its head. */
export function walkerAgent(
  policy: Policy,
  { name, note, beamWidth, twoHopBonus = 0, arkBeam = false, encode }: WalkerAgentOptions,
): Agent {
  const collector = walkCollector(policy.featurizer.parts.graph, { beamWidth, twoHopBonus });
  return {
    name,
    ...(note !== undefined && { note }),
    answer: async (tasks: readonly WalkTask[], onProgress) => {
      const texts = await encode?.(tasks);
      const reader = texts ? { ...policy, featurizer: policy.featurizer.over(texts) } : policy;
      const answers: Answer[] = [];
      for (let begin = 0; begin < tasks.length; begin += tasksPerBatch) {
        const group = tasks.slice(begin, begin + tasksPerBatch);
        const rankings = await beamSearch(reader, group, beamWidth, collector, arkBeam);
        answers.push(...rankings.map((ranking) => ({ ...ranking, cost: {} })));
        onProgress?.(answers.length);
        // Lets progress lines and interrupts through.
        await setImmediate();
      }
      return answers;
    },
  };
}

/** Repeats the walks that train took from the same start: how much of a score is recall. */
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import type { Agent } from '../agent.js';
import { rankingAgent } from './baseline.js';
import type { BaselineContext } from './baseline.js';
import { uniformScores } from './random.js';

/**
 * Train golds of the task's start by count, then every other walk as `random` has it: that model counts as one more
 * observation, so nothing unseen ranks above anything seen. A start that train never had gets `random` alone.
 */
export function memoryBaseline(context: BaselineContext): Agent {
  const { graph, train } = context;
  const keyOf = (first: number, second: number) => first * (graph.numEdges + 1) + second + 1;
  /** By start, then by walk (a key of its edges; -1 for none): how often train took it. */
  const memories = new Map<number, Map<number, number>>();
  const note = madeFromSamples('memory', 'walks of a start', { counts: ['start and end'] });
  for (const sample of train) {
    const { gold } = sample;
    if (!gold.inGraph || gold.path.length > 2) continue;
    note(sample);
    const [first, second] = gold.path;
    const counts = memories.get(first![0]) ?? new Map<number, number>();
    const key = keyOf(graph.edgeIndex(...first!), second ? graph.edgeIndex(...second) : -1);
    memories.set(first![0], counts.set(key, (counts.get(key) ?? 0) + 1));
  }

  return rankingAgent({ name: 'memory' }, context, (task: WalkTask) => {
    const unseen = uniformScores(graph, task.start);
    const counts = memories.get(task.start);
    if (!counts) return unseen;
    const logTotal = Math.log([...counts.values()].reduce((sum, count) => sum + count, 1));
    const blend = (logProb: number, count: number) =>
      (count > 0 ? Math.log(count + Math.exp(logProb)) : logProb) - logTotal;
    return {
      oneHop: (edge) => blend(unseen.oneHop(edge), counts.get(keyOf(edge, -1)) ?? 0),
      twoHops: (first) => {
        const unseenAfter = unseen.twoHops(first);
        return (second) => blend(unseenAfter(second), counts.get(keyOf(first, second)) ?? 0);
      },
    };
  });
}

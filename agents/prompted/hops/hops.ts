/** Number of relations in a question (hops): the switch for its source, and the sources. */
import type { z } from 'zod';
import { choice } from '../../registry.js';
import type { QuestionTask } from '../../../datasets/question.js';
import type { HopSource, QuestionAgentResources, QuestionSession } from '../../question-agent.js';

const sources = ['given', 'predicted', 'none'] as const;

/** Switch of agents that walk every length if the hop count is unknown. */
export const hopsSwitch = choice(sources, 'given').describe(
  'Source of the hop count: given (the data set), predicted (a classifier trained on train), or none: all lengths up to the longest count.',
);

/** Switch of agents with their own stopping rule. */
export const hopsOrEndSwitch = choice(['auto', ...sources], 'auto').describe(
  'Source of the hop count: given (the data set), predicted (a classifier trained on train), or none: the agent stops as in its paper. auto is none, or given when candidates are scored by likelihood.',
);

/** Values of either switch. */
export type HopsSetting = z.output<typeof hopsOrEndSwitch>;

/** Source of the hop count by the switch. @param byLikelihood true when candidates are scored */
export function hopSourceFor(hops: HopsSetting, byLikelihood: boolean): HopSource {
  if (hops !== 'auto') return hops;
  return byLikelihood ? 'given' : 'none';
}

/** Number of relations of a question; undefined if unknown. */
export type HopsOf = (
  task: QuestionTask,
  session: Pick<QuestionSession, 'trace' | 'signal'> & { client: Pick<QuestionSession['client'], 'byLikelihood'> },
) => Promise<number | undefined>;

/**
 * Opens the source of the hop count. To be called in `create`.
 * @throws WorkbenchError `data` when it is to be predicted and train has no chains
 */
export async function openHops(
  resources: Pick<QuestionAgentResources, 'encoder' | 'train'>,
  setting: HopsSetting,
): Promise<HopsOf> {
  const predict = setting === 'predicted' ? await predictedHops(resources) : undefined;
  return (task, { client, trace, signal }) => {
    if (predict) return predict(task, signal);
    if (hopSourceFor(setting, client.byLikelihood) === 'none') return Promise.resolve(undefined);
    if (setting === 'given' && task.hops === undefined)
      trace({ event: 'note', text: 'the number of hops is not given' });
    return Promise.resolve(task.hops);
  };
}

/** Hop counts from a classifier over question vectors, trained here on the chains of train questions. */
async function predictedHops({
  encoder,
  train,
}: Pick<QuestionAgentResources, 'encoder' | 'train'>): Promise<
  (task: QuestionTask, signal?: AbortSignal) => Promise<number>
> {
  const { hopPredictor } = await import('./hop-predictor.js');
  const vectors = await encoder();
  const predict = await hopPredictor(vectors, train());
  return async (task, signal) => (await predict([task], signal))[0]!;
}

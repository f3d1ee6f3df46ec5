/** Number of relations in a question (hops): the switch for its source, and the sources. */
import type { z } from 'zod';
import { choice } from '../../registry.js';
import type { QuestionTask } from '../../../datasets/question.js';
import type { HopAccuracy, HopSource, QuestionAgentResources, QuestionSession } from '../../question-agent.js';

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
export interface HopsOf {
  (
    task: QuestionTask,
    session: Pick<QuestionSession, 'trace' | 'signal'> & { client: Pick<QuestionSession['client'], 'byLikelihood'> },
  ): Promise<number | undefined>;
  /** Accuracy of a classifier, where one is used. */
  accuracy?: HopAccuracy | undefined;
}

/**
 * Opens the source of the hop count: a classifier is trained here on the chains of train questions. To be called in `create`.
 * @throws WorkbenchError `data` when it is to be predicted and train has no chains
 */
export async function openHops(
  { encoder, train }: Pick<QuestionAgentResources, 'encoder' | 'train'>,
  setting: HopsSetting,
): Promise<HopsOf> {
  if (setting === 'predicted') {
    const { hopPredictor } = await import('./hop-predictor.js');
    const { predict, heldOut: accuracy } = await hopPredictor(await encoder(), train());
    const predicted: HopsOf = async (task, { trace, signal }) => {
      const [hops] = await predict([task], signal);
      trace({ event: 'hops', predicted: hops! });
      return hops;
    };
    return Object.assign(predicted, { accuracy });
  }
  return (task, { client, trace }) => {
    if (hopSourceFor(setting, client.byLikelihood) === 'none') return Promise.resolve(undefined);
    if (setting === 'given' && task.hops === undefined)
      trace({ event: 'note', text: 'the number of hops is not given' });
    return Promise.resolve(task.hops);
  };
}

/** How many relations a question asks for: who tells it to an agent, the switch for that, and the telling. */
import { z } from 'zod';
import type { QuestionTask } from '../../../datasets/question.js';
import { openBackend } from '../../../src/tensor/backend.js';
import type { HopsTeller, QuestionAgentResources, QuestionSession } from '../../question-agent.js';

const tellers = ['given', 'predicted', 'none'] as const;

/** Of agents that walk every length where nobody tells. */
export const hopsSwitch = z
  .enum(tellers)
  .default('given')
  .describe(
    'Who tells how many relations the question asks for: the data set, a classifier trained on train, or nobody; then every length up to the longest counts.',
  );

/** Of agents that know an end of their own. */
export const hopsOrEndSwitch = z
  .enum(['auto', ...tellers])
  .default('auto')
  .describe(
    'Who tells how many relations the question asks for: the data set, a classifier trained on train, or nobody; then the agent ends as in its paper. auto is nobody, but the data set where candidates are scored by likelihood.',
  );

/** Values of either switch. */
export type HopsSetting = z.output<typeof hopsOrEndSwitch>;

/** Who tells, by the switch. @param byLikelihood whether candidates are scored */
export function hopsTeller(hops: HopsSetting, byLikelihood: boolean): HopsTeller {
  if (hops !== 'auto') return hops;
  return byLikelihood ? 'given' : 'none';
}

/** The number of relations of a question; undefined where nobody tells. */
export type HopsOf = (
  task: QuestionTask,
  session: Pick<QuestionSession, 'trace' | 'signal'> & { client: Pick<QuestionSession['client'], 'byLikelihood'> },
) => Promise<number | undefined>;

/**
 * The number as the switch has it told. To be called in `create`.
 * @throws WorkbenchError `data` where it is to be predicted and train knows no chain
 */
export async function openHops(
  resources: Pick<QuestionAgentResources, 'encoder' | 'train'>,
  setting: HopsSetting,
): Promise<HopsOf> {
  const predict = setting === 'predicted' ? await predictedHops(resources) : undefined;
  return (task, { client, trace, signal }) => {
    if (predict) return predict(task, signal);
    if (hopsTeller(setting, client.byLikelihood) === 'none') return Promise.resolve(undefined);
    if (setting === 'given' && task.hops === undefined)
      trace({ event: 'note', text: 'the number of hops is not given' });
    return Promise.resolve(task.hops);
  };
}

/** As a classifier over question vectors tells it, trained here and now on the chains of train questions. */
async function predictedHops({
  encoder,
  train,
}: Pick<QuestionAgentResources, 'encoder' | 'train'>): Promise<
  (task: QuestionTask, signal?: AbortSignal) => Promise<number>
> {
  // Loaded on first need: all others do without tensors.
  const { hopPredictor } = await import('./hop-predictor.js');
  const vectors = await encoder();
  const { tf } = await openBackend('auto', { rows: 256, inputs: vectors.dim, units: 4 });
  const predict = await hopPredictor(tf, vectors, train());
  return async (task, signal) => (await predict([task], signal))[0]!;
}

/** How many relations a question asks for: as the data set tells it, or as its text does. */
import type { QuestionTask } from '../../../datasets/question.js';
import { openBackend } from '../../../src/tensor/backend.js';
import type { QuestionAgentResources } from '../../question-agent.js';

/** The number of relations of a question; undefined where nobody knows. */
export type HopsOf = (task: QuestionTask, signal?: AbortSignal) => Promise<number | undefined>;

/** As the data set tells it. */
export const givenHops: HopsOf = ({ hops }) => Promise.resolve(hops);

/**
 * As a classifier over question vectors tells it, trained here and now on the chains of train questions. To be called in `create`.
 * @throws WorkbenchError `data` where train knows no chain
 */
export async function predictedHops({
  encoder,
  train,
}: Pick<QuestionAgentResources, 'encoder' | 'train'>): Promise<HopsOf> {
  // Loaded on first need: all others do without tensors.
  const { hopPredictor } = await import('./hop-predictor.js');
  const vectors = await encoder();
  const { tf } = await openBackend('auto', { rows: 256, inputs: vectors.dim, units: 4 });
  const predict = await hopPredictor(tf, vectors, train());
  return async (task, signal) => (await predict([task], signal))[0]!;
}

/** Which questions are asked: those that can be scored, or a seeded sample of them. */
import type { QuestionSample } from '../../datasets/question.js';
import { sampled } from '../../src/run/seeds.js';

/** What is asked, and how many are not, by reason. */
export interface DrawnQuestions {
  samples: QuestionSample[];
  /** Questions that nobody can be scored on, by reason; they are not asked. */
  excluded: Record<string, number>;
}

/**
 * @param limit draw so many, the same for every agent, in the order of the data set. Default all
 * @param seed of the draw
 */
export function drawQuestions(all: readonly QuestionSample[], limit = Infinity, seed = 0): DrawnQuestions {
  const samples = all.filter(({ task, gold }) => task.form === 'truth' || gold.answers.length > 0);
  const excluded: Record<string, number> =
    samples.length === all.length ? {} : { 'no gold answer': all.length - samples.length };
  return { samples: sampled(samples, limit, 'evaluate/questions', seed), excluded };
}

/**
 * Chain-of-thought prompting: the reasoning first, then the answer, from the model's memory alone.
 *
 * Inputs: the question. Calls: 1. Stop: after the reply. Output: names, mapped to entities of that name.
 * @source Wei et al. 2022, "Chain-of-thought prompting elicits reasoning in large language models"
 */
import { directAnswerEntry } from '../direct-answer.js';

/** The agent `cot` with its switches. */
export const cotEntry = directAnswerEntry('cot');

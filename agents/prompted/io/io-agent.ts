/**
 * IO prompting: question in, answer out. The floor of every table: what the model knows without the graph.
 *
 * Inputs: the question. Calls: 1. Stop: after the reply. Output: names, mapped to entities of that name.
 * @source Brown et al. 2020, as used by Think-on-Graph (Sun et al. 2024) with fixed exemplars
 */
import { directAnswerEntry } from '../direct-answer.js';

/** The agent `io` with its switches. */
export const ioEntry = directAnswerEntry('io');

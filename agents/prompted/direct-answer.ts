/** Answering from the model's memory alone, in one call: what IO and CoT prompting share. */
import { z } from 'zod';
import { choice } from '../registry.js';
import type { QuestionAgent, QuestionAgentEntry } from '../question-agent.js';
import { domains, exemplarsFor, truthExemplars } from './exemplars.js';
import { unlessSpent } from './facts.js';
import { type AnswerPrompts, decideAnswer, saidAnswers } from './frontier-steps.js';

const settings = z.strictObject({
  exemplars: choice(['auto', 'none', ...domains], 'auto').describe(
    'Domain of the solved questions in the prompt; auto chooses by the data set, none shows none (zero shots).',
  ),
});

const tasks = {
  io: 'Answer the question from what you know, with names only. Give every answer, best first.',
  cot: 'Answer the question from what you know. Think in one or two short sentences, then give names only: every answer, best first.',
};
const truthTasks = {
  io: 'Say whether the statement is true or false.',
  cot: 'Think about the statement in one short sentence, then say whether it is true or false.',
};

function promptsOf(name: 'io' | 'cot', dataset: string, exemplars: z.output<typeof settings>['exemplars']) {
  const withReasoning = name === 'cot';
  return {
    task: tasks[name],
    examples: exemplars === 'none' ? [] : exemplarsFor(dataset, exemplars, withReasoning),
    truthTask: truthTasks[name],
    truthExamples: exemplars === 'none' ? [] : truthExemplars(withReasoning),
  };
}

/** Question with reasoning before the answer, for agents without findings. */
export const alonePrompts = (dataset: string): AnswerPrompts => promptsOf('cot', dataset, 'auto');

/** @param name `io` or `cot`: without or with the reasoning before the answer */
const directAnswerEntry = (name: 'io' | 'cot'): QuestionAgentEntry<typeof settings> => ({
  settings,
  needs: ['model'],
  create({ dataset, names }, { exemplars }): QuestionAgent {
    const prompts = promptsOf(name, dataset, exemplars);
    return {
      name,
      note: 'answers from the model alone, without the graph',
      topicGiven: false,
      prompted: true,
      async answer(task, { client, trace }) {
        const options = { phase: name, withReasoning: name === 'cot' };
        const decided = await unlessSpent(decideAnswer(task, client, [], prompts, options));
        const stop = decided === undefined ? 'budget' : decided.reply ? 'answered' : 'unparsed';
        trace({ event: 'stop', reason: stop });
        return {
          ...saidAnswers(task, decided?.reply?.answers ?? [], { names }),
          text: decided?.text,
          evidence: [],
          degraded: decided?.reply === undefined,
          stop,
          cost: {},
        };
      },
    };
  },
});

/**
 * IO prompting: question in, answer out. The floor of every table: what the model knows without the graph.
 *
 * Inputs: the question. Calls: 1. Stop: after the reply. Output: names, mapped to entities of that name.
 * @source Brown et al. 2020, as used by Think-on-Graph (Sun et al. 2024) with fixed exemplars
 */
export const ioEntry = directAnswerEntry('io');

/**
 * Chain-of-thought prompting: the reasoning first, then the answer, from the model's memory alone. All else as `io`.
 * @source Wei et al. 2022, "Chain-of-thought prompting elicits reasoning in large language models"
 */
export const cotEntry = directAnswerEntry('cot');

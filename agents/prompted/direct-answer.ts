/** Answering from the model's memory alone, in one call: what IO and CoT prompting share. */
import { z } from 'zod';
import { choice } from '../registry.js';
import type { AnswerDecision } from '../../src/llm/decision.js';
import type { QuestionAgent, QuestionAgentEntry } from '../question-agent.js';
import { domains, exemplarsFor, truthExemplars } from './exemplars.js';
import { groundNames, truthOf, unlessSpent } from './facts.js';
import type { AnswerPrompts } from './frontier-steps.js';

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

/** Question with reasoning before the answer, for agents without findings. */
export function alonePrompts(dataset: string): AnswerPrompts {
  return {
    task: tasks.cot,
    examples: exemplarsFor(dataset, 'auto', true),
    truthTask: truthTasks.cot,
    truthExamples: truthExemplars(true),
  };
}

/** @param name `io` or `cot`: without or with the reasoning before the answer */
function directAnswerEntry(name: 'io' | 'cot'): QuestionAgentEntry<typeof settings> {
  const withReasoning = name === 'cot';
  return {
    settings,
    needs: ['model'],
    create({ dataset, names }, { exemplars }): QuestionAgent {
      const examples = exemplars === 'none' ? [] : exemplarsFor(dataset, exemplars, withReasoning);
      return {
        name,
        note: 'answers from the model alone, without the graph',
        topicGiven: false,
        prompted: true,
        async answer({ id, question, form }, { client, trace }) {
          const truth = form === 'truth';
          const decision: AnswerDecision = {
            kind: 'answer',
            phase: name,
            questionId: id,
            question,
            task: (truth ? truthTasks : tasks)[name],
            examples: truth && exemplars !== 'none' ? truthExemplars(withReasoning) : examples,
            evidence: [],
            form,
            withReasoning,
            final: true,
          };
          const decided = await unlessSpent(client.decide(decision));
          const answers = decided?.reply?.answers ?? [];
          const stop = decided === undefined ? 'budget' : decided.reply ? 'answered' : 'unparsed';
          trace({ event: 'stop', reason: stop });
          return {
            ...(truth ? { entities: [], literals: [], ...truthOf(answers) } : groundNames(answers, names)),
            ...(decided && { text: decided.text }),
            evidence: [],
            degraded: decided?.reply === undefined,
            stop,
            cost: {},
          };
        },
      };
    },
  };
}

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

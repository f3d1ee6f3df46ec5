/** Prompts of RoG and GCR, with solved instances of a made-up orchard. */
import type { Example, RewriteReply } from '../../../src/llm/decision.js';
import type { AnswerPrompts } from '../frontier-steps.js';

export const answerPrompts: AnswerPrompts = {
  task: 'Answer the question from the facts, which lie on the paths that were found. Give every answer that they show, by name, best first.',
  examples: [
    {
      question: 'who planted the trees that grow beside Mill Pond',
      evidence: [
        ['Old Pippin', 'grows_beside', 'Mill Pond'],
        ['Old Pippin', 'planted_by', 'Runa Teal'],
      ],
      reply: { answers: ['Runa Teal'] },
    },
  ],
  truthTask: 'Say whether the statement is true or false, from the facts, which lie on the paths that were found.',
  truthExamples: [
    {
      question: 'true or false: Runa Teal planted the Old Pippin',
      evidence: [['Old Pippin', 'planted_by', 'Runa Teal']],
      reply: { answers: ['true'] },
    },
  ],
};

/** Prompt for plans in the model's own words. */
export const planTask =
  'Plan sequences of relations that lead from the entity in the question to its answer, the most reasonable first. Write each as relation → relation, with ~ before a relation that is followed backwards.';

export const planExamples: readonly Example<RewriteReply>[] = [
  {
    question: 'who planted the trees that grow beside Mill Pond',
    reply: { texts: ['~grows_beside → planted_by', '~grows_beside → owned_by'] },
  },
];

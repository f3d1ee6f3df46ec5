/** What RoG and GCR ask for at the end, with a solved instance of a made-up orchard. */
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

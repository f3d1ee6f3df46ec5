/** Prompts of KG-GPT, with worked examples of an invented valley of mills and potters. */
import type { ChooseManyReply, Example, RewriteReply } from '../../../src/llm/decision.js';
import type { AnswerPrompts } from '../frontier-steps.js';

export const splitTask =
  'Split the question into short sentences that each speak of one relation, in the order in which they are followed. The first sentence names the entity that the question starts from.';

export const splitExamples: readonly Example<RewriteReply>[] = [
  {
    question: 'in which hamlets stand the mills that Dorn Hale restored',
    reply: { texts: ['Dorn Hale restored mills', 'the mills stand in hamlets'] },
  },
  { question: 'what is the glaze of the Ember Bowl', reply: { texts: ['the Ember Bowl has a glaze'] } },
];

export const relationTask =
  'Choose the relations that this part of the question speaks of, best first. They may be followed either way.';

/** The same when each direction is offered separately. */
export const directedRelationTask =
  'Choose the relations that this part of the question speaks of, best first. A ~ marks one that is followed backwards.';

export const relationExamples: readonly Example<ChooseManyReply>[] = [
  {
    question: 'in which hamlets stand the mills that Dorn Hale restored',
    context: [
      { label: 'Part', lines: ['the mills stand in hamlets'] },
      { label: 'Path', lines: ['Dorn Hale → ~restored_by'] },
    ],
    candidates: ['built_in', 'powered_by', 'owned_by', 'located_in'],
    reply: { choices: [3] },
  },
  {
    question: 'which pupils of Sela Orn made vases',
    context: [
      { label: 'Part', lines: ['Sela Orn had pupils'] },
      { label: 'Path', lines: ['Sela Orn'] },
    ],
    candidates: ['born_in', 'taught', 'made', 'apprenticed_to'],
    reply: { choices: [1, 3] },
  },
];

export const answerPrompts: AnswerPrompts = {
  task: 'Answer the question from the facts, by name. Give every answer that they show, best first.',
  examples: [
    {
      question: 'in which hamlets stand the mills that Dorn Hale restored',
      evidence: [
        ['Fallow Mill', 'restored_by', 'Dorn Hale'],
        ['Fallow Mill', 'located_in', 'Undercombe'],
        ['Tide Mill', 'restored_by', 'Dorn Hale'],
        ['Tide Mill', 'located_in', 'Sarn'],
        ['Tide Mill', 'built_in', '1811'],
      ],
      reply: { answers: ['Undercombe', 'Sarn'] },
    },
  ],
  truthTask: 'Say whether the statement is true or false, from the facts.',
  truthExamples: [
    {
      question: 'true or false: Fallow Mill stands in Sarn',
      evidence: [['Fallow Mill', 'located_in', 'Undercombe']],
      reply: { answers: ['false'] },
    },
    {
      question: 'true or false: Dorn Hale restored a mill in Sarn',
      evidence: [
        ['Tide Mill', 'restored_by', 'Dorn Hale'],
        ['Tide Mill', 'located_in', 'Sarn'],
      ],
      reply: { answers: ['true'] },
    },
  ],
};

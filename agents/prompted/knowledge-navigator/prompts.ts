/** Prompts of KnowledgeNavigator, with worked examples of an invented coast of lighthouses. */
import type { ChooseManyReply, ChooseOneReply, Example, RewriteReply } from '../../../src/llm/decision.js';
import type { AnswerPrompts } from '../frontier-steps.js';

export const paraphraseTask =
  'Write questions that mean the same as this one in other words. They keep every name as it is and add nothing.';

export const paraphraseExamples: readonly Example<RewriteReply>[] = [
  {
    question: 'which keepers tended the lights that Hale Corrin raised',
    reply: {
      texts: [
        'who were the keepers of the lights built by Hale Corrin',
        'the lights put up by Hale Corrin were kept by whom',
      ],
    },
  },
  {
    question: 'in which bay lies the Skerry Light',
    reply: { texts: ['what bay is the Skerry Light in', 'the Skerry Light can be found in which bay'] },
  },
];

const from = 'to follow next from where the path ends, so that the question is answered';
export const relationTask = `Choose the relation ${from}.`;
export const relationsTask = `Choose the relations ${from}, best first.`;

/** Additional instruction when each direction is offered separately. */
export const directionNote = ' A ~ marks a relation that is followed backwards.';

const shown = [
  {
    question: 'which keepers tended the lights that Hale Corrin raised',
    context: [{ label: 'Path', lines: ['Hale Corrin → ~raised_by'] }],
    candidates: ['height', 'lit_in', 'colour', 'kept_by'],
  },
  {
    question: 'who pays for the lamps of the Skerry Light',
    context: [{ label: 'Path', lines: ['Skerry Light'] }],
    candidates: ['lies_in', 'has_lamp', 'raised_by'],
  },
];

export const relationExamples: readonly Example<ChooseOneReply>[] = [
  { ...shown[0]!, reply: { choice: 3 } },
  { ...shown[1]!, reply: { choice: 1 } },
];

export const relationsExamples: readonly Example<ChooseManyReply>[] = [
  { ...shown[0]!, reply: { choices: [3] } },
  { ...shown[1]!, reply: { choices: [1, 2] } },
];

export const answerPrompts: AnswerPrompts = {
  task: 'Answer the question from the facts, by name. Give every answer that they show, best first.',
  examples: [
    {
      question: 'which keepers tended the lights that Hale Corrin raised',
      evidence: [
        ['Skerry Light', 'raised_by', 'Hale Corrin'],
        ['Skerry Light', 'kept_by', 'Una Brock'],
        ['Skerry Light', 'kept_by', 'Per Lund'],
        ['Gull Light', 'raised_by', 'Hale Corrin'],
        ['Gull Light', 'kept_by', 'Isa Thorne'],
      ],
      reply: { answers: ['Una Brock', 'Per Lund', 'Isa Thorne'] },
    },
  ],
  truthTask: 'Say whether the statement is true or false, from the facts.',
  truthExamples: [
    {
      question: 'true or false: Per Lund kept the Gull Light',
      evidence: [['Gull Light', 'kept_by', 'Isa Thorne']],
      reply: { answers: ['false'] },
    },
    {
      question: 'true or false: Una Brock kept a light that Hale Corrin raised',
      evidence: [
        ['Skerry Light', 'raised_by', 'Hale Corrin'],
        ['Skerry Light', 'kept_by', 'Una Brock'],
      ],
      reply: { answers: ['true'] },
    },
  ],
};

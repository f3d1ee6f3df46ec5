/** Prompts of FiSKE, with solved instances from a made-up town: the answers follow from the instances alone. */
import type { Example, ExtractReply, MatchReply } from '../../../src/llm/decision.js';
import type { AnswerPrompts } from '../frontier-steps.js';

export const clueTask =
  'List the key phrases of the question: the names in it, and the words that say how things are related. Copy them from the question.';

export const clueExamples: readonly Example<ExtractReply>[] = [
  {
    question: 'which person repaired the clocks that Orla Brandt bought',
    reply: { items: ['Orla Brandt', 'bought', 'repaired'] },
  },
  { question: 'what year was the Harbour clock built in', reply: { items: ['Harbour clock', 'year', 'built'] } },
];

export const relationTask =
  'Match relations to the phrases of the question that they express. Score each match from 0 to 10. Leave out relations that express none.';

export const relationExamples: readonly Example<MatchReply>[] = [
  {
    question: 'which person repaired the clocks that Orla Brandt bought',
    candidates: ['born_in', '~purchased_by', '~sold_by'],
    targets: ['bought', 'repaired'],
    reply: { matches: [{ candidate: 1, target: 0, score: 9 }] },
  },
];

export const entityTask =
  'Match entities, each given with the relation that leads to it, to the phrases of the question that they stand for. Score each match from 0 to 10. Leave out entities that stand for none.';

export const entityExamples: readonly Example<MatchReply>[] = [
  {
    question: 'which person repaired the clocks that Orla Brandt bought',
    candidates: ['~purchased_by → Harbour clock', '~purchased_by → Blue lamp'],
    targets: ['clocks', 'repaired'],
    reply: { matches: [{ candidate: 0, target: 0, score: 9 }] },
  },
];

export const answerPrompts: AnswerPrompts = {
  task: 'Answer the question from the facts, by name. Give every answer that they show, best first.',
  examples: [
    {
      question: 'which person repaired the clocks that Orla Brandt bought',
      evidence: [
        ['Harbour clock', 'purchased_by', 'Orla Brandt'],
        ['Harbour clock', 'repaired_by', 'Jon Weil'],
      ],
      reply: { answers: ['Jon Weil'] },
    },
  ],
  truthTask: 'Say whether the statement is true or false, from the facts.',
  truthExamples: [
    {
      question: 'true or false: Jon Weil repaired the Harbour clock',
      evidence: [['Harbour clock', 'repaired_by', 'Jon Weil']],
      reply: { answers: ['true'] },
    },
  ],
};

/** Tasks of the phase `direct-answer`, without facts. */
export const aloneTasks = {
  task: 'Answer the question. Think in one or two short sentences, then give names only: every answer, best first, or an empty list if you do not know.',
  truthTask: 'Think about the statement in one short sentence, then say whether it is true or false.',
};

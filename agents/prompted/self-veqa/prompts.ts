/** Prompts of Self-VEQA, with solved instances from a made-up town. */
import type { ChainsReply, Example, JudgeReply } from '../../../src/llm/decision.js';

export const proposeTask =
  'Find chains of relations that lead from the entity in the question to its answer. Give the most reasonable chain first, and make every chain different. Follow the solved questions.';

/** Relations of the example: they bear the ids behind those of the graph. */
export const exampleRelations: readonly string[] = ['~purchased_by', 'repaired_by', 'sold_by'];

/** @param firstId the id of the first of `exampleRelations` */
export const proposeExamples = (firstId: number): readonly Example<ChainsReply>[] => [
  {
    question: 'which person repaired the clocks that Orla Brandt bought',
    reply: {
      chains: [
        [firstId, firstId + 1],
        [firstId, firstId + 2],
      ],
    },
  },
];

export const verifyTask =
  'Each candidate is a chain of relations with the answers that it leads to. Choose the one that answers the question, judged by the facts, and say why. If none does, choose 0 and say what is wrong.';

export const verifyExamples: readonly Example<JudgeReply>[] = [
  {
    question: 'which person repaired the clocks that Orla Brandt bought',
    evidence: [
      ['Harbour clock', 'purchased_by', 'Orla Brandt'],
      ['Harbour clock', 'repaired_by', 'Jon Weil'],
    ],
    candidates: [
      'Orla Brandt → ~purchased_by → sold_by → Mia Kop (1)',
      'Orla Brandt → ~purchased_by → repaired_by → Jon Weil (1)',
    ],
    reply: { choice: 1, reason: 'It ends at who repaired what she bought.', answers: [] },
  },
  {
    question: 'in what year was the Harbour clock built',
    candidates: ['Harbour clock → repaired_by → Jon Weil (1)'],
    reply: { choice: -1, reason: 'It ends at a person, but a year is asked for.', answers: [] },
  },
];

/** Task of the phase `verify` with written answers, as in the paper. */
export const writtenTask =
  'The context lists chains of relations with the answers that they lead to. If one of them answers the question, judged by the facts, copy all its answers. Otherwise say what is wrong.';

export const writtenExamples: readonly Example<JudgeReply>[] = [
  {
    question: 'which person repaired the clocks that Orla Brandt bought',
    evidence: [
      ['Harbour clock', 'purchased_by', 'Orla Brandt'],
      ['Harbour clock', 'repaired_by', 'Jon Weil'],
    ],
    context: [{ label: 'Chains', lines: ['Orla Brandt → ~purchased_by → repaired_by → Jon Weil (1)'] }],
    reply: { choice: 0, reason: 'It ends at who repaired what she bought.', answers: ['Jon Weil'] },
  },
  {
    question: 'in what year was the Harbour clock built',
    context: [{ label: 'Chains', lines: ['Harbour clock → repaired_by → Jon Weil (1)'] }],
    reply: { choice: -1, reason: 'It ends at a person, but a year is asked for.', answers: [] },
  },
];

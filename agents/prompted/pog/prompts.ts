/** Prompts of Plan-on-Graph, with worked examples of an invented guild of map makers. */
import type { ChooseManyReply, Example, JudgeReply, RewriteReply } from '../../../src/llm/decision.js';
import { type AnswerPrompts, verdictsAlone } from '../frontier-steps.js';

const question = 'which rivers are shown on the charts that Ysolde Marn engraved';
const objectives = {
  label: 'Objectives',
  lines: ['find the charts that Ysolde Marn engraved', 'find the rivers that they show'],
};

export const objectiveTask =
  'Split the question into objectives, one for every step on the way from the entity in the question to the answer.';

export const objectiveExamples: readonly Example<RewriteReply>[] = [
  { question, reply: { texts: [...objectives.lines] } },
  { question: 'when was the Low Survey published', reply: { texts: ['find the date of the Low Survey'] } },
];

export const relationTask =
  'Choose the relations to follow next from where the path ends, so that the objectives are reached and the question is answered; best first, and as many as fit.';

export const relationExamples: readonly Example<ChooseManyReply>[] = [
  {
    question,
    context: [objectives, { label: 'Path', lines: ['Ysolde Marn → ~engraved_by'] }],
    candidates: ['scale', 'printed_in', 'depicts', '~cites'],
    reply: { choices: [2] },
  },
  {
    question: 'who taught the founders of the Low Survey',
    context: [{ label: 'Path', lines: ['Low Survey'] }],
    candidates: ['led_by', 'published', 'founded_by'],
    reply: { choices: [2, 0] },
  },
];

export const entityTask =
  'Choose the entities that the path should go on from or end at, so that the question is answered; best first, and all that fit.';

export const entityExamples: readonly Example<ChooseManyReply>[] = [
  {
    question: 'which rivers are shown on the sea charts that Ysolde Marn engraved',
    context: [{ label: 'Path', lines: ['Ysolde Marn → ~engraved_by'] }],
    candidates: ['Portrait of a Duke', 'Sea chart of Vell', 'Sea chart of the Teeth'],
    reply: { choices: [1, 2] },
  },
];

export const memoryTask =
  'Say in short sentences what is known by now of the objectives: keep what the memory holds and is still of use, and add what the facts show.';

export const memoryExamples: readonly Example<RewriteReply>[] = [
  {
    question,
    evidence: [
      ['Sea chart of Vell', 'engraved_by', 'Ysolde Marn'],
      ['Sea chart of the Teeth', 'engraved_by', 'Ysolde Marn'],
    ],
    context: [objectives, { label: 'Memory', lines: [] }],
    reply: {
      texts: ['Ysolde Marn engraved the Sea chart of Vell and the Sea chart of the Teeth', 'no river is known'],
    },
  },
];

const judged =
  'The candidates are the paths that were explored, each with the number of entities that it leads to; memory and facts show what is known.';

export const judgeTask = `${judged} Choose the path that ends at what the question asks for, and give every answer. Choose 0 if something is missing.`;

/** The same where the answers are not asked for. */
export const verdictTask = `${judged} Choose the path that ends at what the question asks for. Choose 0 if something is missing.`;

export const judgeExamples: readonly Example<JudgeReply>[] = [
  {
    question,
    evidence: [['Sea chart of Vell', 'engraved_by', 'Ysolde Marn']],
    context: [
      objectives,
      { label: 'Memory', lines: ['Ysolde Marn engraved the Sea chart of Vell', 'no river is known'] },
    ],
    candidates: ['Ysolde Marn → ~engraved_by (1)'],
    reply: { choice: -1, reason: 'The chart is known, its rivers are not.', answers: [] },
  },
  {
    question: 'when was the Low Survey published',
    evidence: [
      ['Low Survey', 'led_by', 'Bram Tolk'],
      ['Low Survey', 'published', '1742'],
    ],
    candidates: ['Low Survey → led_by (1)', 'Low Survey → published (1)'],
    reply: { choice: 1, reason: 'The second path ends at its date.', answers: ['1742'] },
  },
];

export const verdictExamples = verdictsAlone(judgeExamples);

export const reflectTask =
  'What was found does not answer the question. Choose the entities among those left behind that should be come back to, best first; none if those that the paths lead to are the right ones to go on from.';

export const reflectExamples: readonly Example<ChooseManyReply>[] = [
  {
    question,
    context: [{ label: 'Paths', lines: ['Ysolde Marn → ~engraved_by → Portrait of a Duke'] }],
    candidates: ['Frame of a mirror', 'Sea chart of Vell'],
    reply: { choices: [1] },
  },
  {
    question: 'who taught the founder of the Low Survey',
    context: [{ label: 'Paths', lines: ['Low Survey → founded_by → Bram Tolk'] }],
    candidates: ['Sella Brand', '1742'],
    reply: { choices: [] },
  },
];

export const answerPrompts: AnswerPrompts = {
  task: 'Answer the question from the facts, by name. Give every answer that they show, best first.',
  examples: [
    {
      question,
      evidence: [
        ['Sea chart of Vell', 'engraved_by', 'Ysolde Marn'],
        ['Sea chart of Vell', 'depicts', 'Upper Ouse'],
        ['Sea chart of the Teeth', 'engraved_by', 'Ysolde Marn'],
        ['Sea chart of the Teeth', 'depicts', 'Grey Run'],
      ],
      reply: { answers: ['Upper Ouse', 'Grey Run'] },
    },
  ],
  truthTask: 'Say whether the statement is true or false, from the facts.',
  truthExamples: [
    {
      question: 'true or false: the Sea chart of Vell shows the Grey Run',
      evidence: [['Sea chart of Vell', 'depicts', 'Upper Ouse']],
      reply: { answers: ['false'] },
    },
    {
      question: 'true or false: the Low Survey was published in 1742',
      evidence: [['Low Survey', 'published', '1742']],
      reply: { answers: ['true'] },
    },
  ],
};

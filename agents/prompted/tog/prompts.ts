/** Prompts of Think-on-Graph, with worked examples of an invented archipelago. */
import type { Example, JudgeReply, ScoreReply } from '../../../src/llm/decision.js';
import type { AnswerPrompts } from '../frontier-steps.js';

export const relationTask =
  'Score each relation from 0 to 10 by how much following it, where the path ends, helps to answer the question. 0 means that it does not help.';

export const relationExamples: readonly Example<ScoreReply>[] = [
  {
    question: 'what language do people speak on the island where Tamsin Orrel was born',
    context: [
      { label: 'Path', lines: ['Tamsin Orrel → born_on'] },
      { label: 'Entity', lines: ['Skarn'] },
    ],
    candidates: ['area', '~born_on', 'language', 'settled_in'],
    reply: { scores: [0, 1, 10, 0] },
  },
];

export const entityTask =
  'Score each entity from 0 to 10 by how likely it is on the way to the answer of the question. 0 means that it is not.';

export const entityExamples: readonly Example<ScoreReply>[] = [
  {
    question: 'which ship that docked at Port Vell was built before 1900',
    context: [{ label: 'Path', lines: ['Port Vell → ~docked_at'] }],
    candidates: ['Grey Heron (1884)', 'Lark (1931)', 'Old Brindle (1899)'],
    reply: { scores: [9, 0, 9] },
  },
];

export const judgeTask =
  'Decide whether the facts suffice to answer the question. If they do, give every answer that they show, by name.';

export const judgeExamples: readonly Example<JudgeReply>[] = [
  {
    question: 'who built the ship that Tamsin Orrel sailed',
    evidence: [
      ['Tamsin Orrel', 'sailed', 'Grey Heron'],
      ['Grey Heron', 'built_by', 'Ivo Marr'],
    ],
    reply: { choice: 0, reason: 'The builder is given.', answers: ['Ivo Marr'] },
  },
  {
    question: 'what language do people speak on the island where Tamsin Orrel was born',
    evidence: [['Tamsin Orrel', 'born_on', 'Skarn']],
    reply: { choice: -1, reason: 'The language of Skarn is missing.', answers: [] },
  },
];

export const judgeWaysTask =
  'Decide which of the relation paths, from the thing that the question names, leads to what it asks for. If none does, say so.';

export const bestWays: readonly Example<JudgeReply>[] = [
  {
    question: 'who built the ship that Tamsin Orrel sailed',
    candidates: ['born_on → language', 'sailed → built_by', 'sailed'],
    reply: { choice: 1, reason: 'Ships sailed, then their builders.', answers: [] },
  },
];

export const answerPrompts: AnswerPrompts = {
  task: 'Answer the question from the facts, by name. Give every answer that they show, best first.',
  examples: [
    {
      question: 'who built the ships that Tamsin Orrel sailed',
      evidence: [
        ['Tamsin Orrel', 'sailed', 'Grey Heron'],
        ['Grey Heron', 'built_by', 'Ivo Marr'],
        ['Tamsin Orrel', 'sailed', 'Lark'],
        ['Lark', 'built_by', 'Ada Finch'],
      ],
      reply: { answers: ['Ivo Marr', 'Ada Finch'] },
    },
  ],
  truthTask: 'Say whether the statement is true or false, from the facts.',
  truthExamples: [
    {
      question: 'true or false: Ivo Marr built the Grey Heron',
      evidence: [['Grey Heron', 'built_by', 'Ivo Marr']],
      reply: { answers: ['true'] },
    },
  ],
};

/** Without facts: tasks of `finalPolicy: cot` when the depth is exhausted. */
export const aloneTasks = {
  task: 'Answer the question. Think in one or two short sentences first.',
  truthTask: 'Say whether the statement is true or false. Think in one or two short sentences first.',
};

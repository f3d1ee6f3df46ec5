/** Prompts of StructGPT, with worked examples of an invented mountain railway. */
import type { ChooseOneReply, Example, ExtractReply, JudgeReply } from '../../../src/llm/decision.js';
import { type AnswerPrompts, verdictsAlone } from '../frontier-steps.js';

export const relationTask =
  'Choose the relation to follow next from where the path ends, so that it leads to the answer of the question.';

export const relationExamples: readonly Example<ChooseOneReply>[] = [
  {
    question: 'who drew the plans of the stations on the Kesten line',
    context: [{ label: 'Path', lines: ['Kesten line → has_station'] }],
    candidates: ['altitude', 'opened_in', '~stop_before', 'designed_by'],
    reply: { choice: 3 },
  },
  {
    question: 'which tunnels were dug by the company that Edda Ruys led',
    context: [{ label: 'Path', lines: ['Edda Ruys'] }],
    candidates: ['born_in', 'head_of', 'pupil_of'],
    reply: { choice: 1 },
  },
];

export const constraintTask =
  'List what the question says that narrows its answer down: names, dates and kinds, as the question writes them.';

export const constraintExamples: readonly Example<ExtractReply>[] = [
  { question: 'who drove the snow plough on the Kesten line in 1911', reply: { items: ['snow plough', '1911'] } },
];

export const judgeTask =
  'The candidate is the path that was walked, with the number of entities that it leads to; the facts show it. Choose it if it ends at what the question asks for, and give every answer. Choose 0 if something is missing.';

/** The same where the answers are not asked for. */
export const verdictTask =
  'The candidate is the path that was walked, with the number of entities that it leads to; the facts show it. Choose it if it ends at what the question asks for. Choose 0 if something is missing.';

export const judgeExamples: readonly Example<JudgeReply>[] = [
  {
    question: 'who drew the plans of the stations on the Kesten line',
    evidence: [
      ['Kesten line', 'has_station', 'Upper Ruvo'],
      ['Kesten line', 'has_station', 'Tarn'],
    ],
    candidates: ['Kesten line → has_station (2)'],
    reply: { choice: -1, reason: 'These are stations, and their architects are missing.', answers: [] },
  },
  {
    question: 'in what year did the bridge at Tarn open',
    evidence: [
      ['Tarn', 'has_bridge', 'Larch viaduct'],
      ['Larch viaduct', 'opened_in', '1906'],
    ],
    candidates: ['Tarn → has_bridge → opened_in (1)'],
    reply: { choice: 0, reason: 'The year of the bridge is given.', answers: ['1906'] },
  },
];

export const verdictExamples = verdictsAlone(judgeExamples);

export const answerPrompts: AnswerPrompts = {
  task: 'Answer the question from the facts, by name. Give every answer that they show, best first.',
  examples: [
    {
      question: 'who drew the plans of the stations on the Kesten line',
      evidence: [
        ['Kesten line', 'has_station', 'Upper Ruvo'],
        ['Upper Ruvo', 'designed_by', 'Pieter Aune'],
        ['Kesten line', 'has_station', 'Tarn'],
        ['Tarn', 'designed_by', 'Sive Holl'],
      ],
      reply: { answers: ['Pieter Aune', 'Sive Holl'] },
    },
  ],
  truthTask: 'Say whether the statement is true or false, from the facts.',
  truthExamples: [
    {
      question: 'true or false: Sive Holl drew the plans of Upper Ruvo',
      evidence: [['Upper Ruvo', 'designed_by', 'Pieter Aune']],
      reply: { answers: ['false'] },
    },
    {
      question: 'true or false: the bridge at Tarn opened in 1906',
      evidence: [
        ['Tarn', 'has_bridge', 'Larch viaduct'],
        ['Larch viaduct', 'opened_in', '1906'],
      ],
      reply: { answers: ['true'] },
    },
  ],
};

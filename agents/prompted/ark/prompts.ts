/** What LLM-ARK's prompting baselines ask, in words and worked examples of an invented town. */
import type { AnswerReply, ChooseManyReply, Example } from '../../../src/llm/decision.js';

const steps = 'one or two steps';

/** What `ark-standard` and `ark-normal` ask. */
export const writeTask = `A speaker moves from an entity to what will be talked about next, in ${steps} through a knowledge graph. Write the steps as triples "head | relation | tail", the first from the entity, the second from the tail of the first.`;

/** What `ark-opa` asks. */
export const chooseTask = `A speaker moves from an entity to what will be talked about next, in ${steps} through a knowledge graph. Choose the paths that fit what was said, the most fitting first.`;

/** Labels of the context, the same in examples and questions. */
export const labels = { entity: 'Entity', history: 'Said before', paths: 'Walked before' } as const;

/** Solved instances of `writeTask`. */
export const writeExamples: readonly Example<AnswerReply>[] = [
  {
    question: 'I loved Moonlit Harbour. Who else wrote something like it?',
    context: [{ label: labels.entity, lines: ['Moonlit Harbour'] }],
    reply: { answers: ['Moonlit Harbour | written_by | Oda Venn', 'Oda Venn | ~written_by | The Long Pier'] },
  },
  {
    question: 'What kind of book is The Long Pier?',
    context: [{ label: labels.entity, lines: ['The Long Pier'] }],
    reply: { answers: ['The Long Pier | has_genre | Mystery'] },
  },
];

/** Solved instances of `chooseTask`. */
export const chooseExamples: readonly Example<ChooseManyReply>[] = [
  {
    question: 'What kind of book is The Long Pier?',
    context: [{ label: labels.entity, lines: ['The Long Pier'] }],
    candidates: ['written_by → Oda Venn', 'has_genre → Mystery', 'has_genre → Mystery, ~has_genre → Moonlit Harbour'],
    reply: { choices: [1] },
  },
];

/** Ships, who sailed them and who built them, with questions, for tests of the harness. */
import type { QuestionAgent, QuestionAnswer } from '../../../agents/question-agent.js';
import type { QuestionSample, QuestionTask } from '../../../datasets/question.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import type { QuestionAbout } from '../../../src/run/records.js';

const builder = new GraphBuilder();
for (const [head, relation, tail] of [
  ['Tamsin', 'sailed', 'Heron'],
  ['Tamsin', 'sailed', 'Lark'],
  ['Heron', 'built_by', 'Ivo'],
  ['Lark', 'built_by', 'Ada'],
  ['Ada', 'born_in', 'Skarn'],
  ['Skarn', 'lies_on', 'Vell'],
  ['Vell', 'flows_to', 'Sea'],
] as const) {
  builder.add(head, relation, tail);
}
export const harbour = builder.build('harbour', { addInverses: true });
export const id = (name: string) => harbour.entityId(name);
const chain = (...names: string[]) => names.map((name) => harbour.relationId(name));

/** A question about one topic, with the chains given as relation names. */
export function questionOf(
  name: string,
  topic: string,
  answers: readonly string[],
  more: Partial<QuestionSample['gold']> & { chain?: readonly string[]; task?: Partial<QuestionTask> } = {},
): QuestionSample {
  const { chain: names, task, ...gold } = more;
  return {
    task: {
      id: name,
      subset: 'toy',
      question: `${name} of ${topic}?`,
      topics: [{ name: topic, entity: id(topic) }],
      hops: 2,
      form: 'entities',
      ...task,
    },
    gold: {
      answers: answers.map((answer) => ({ name: answer, entity: id(answer) })),
      chains: names ? [chain(...names)] : [],
      ...gold,
    },
  };
}

export const about: QuestionAbout = {
  dataset: 'toy',
  graph: 'harbour',
  subsets: ['toy'],
  split: 'valid',
  holdOut: 'question',
  seed: 0,
  simulated: false,
  budget: null,
  budgetMode: 'strict',
  switches: {},
  topicGiven: true,
};

export const options = { graph: harbour, about, hashes: { dataset: 'd'.repeat(64) }, resamples: 50 };

/** An agent that asks no model and answers by a function, which may throw. */
export function agentOf(
  answer: (task: QuestionTask) => Partial<QuestionAnswer>,
  more: Partial<QuestionAgent> = {},
): QuestionAgent {
  return {
    name: 'toy',
    topicGiven: true,
    prompted: false,
    answer: (task) => new Promise((resolve) => resolve(answerOf(answer(task)))),
    ...more,
  };
}

/** An answer with the fields that matter to a test. */
export function answerOf(said: Partial<QuestionAnswer>): QuestionAnswer {
  return { entities: [], literals: [], evidence: [], degraded: false, stop: 'done', cost: {}, ...said };
}

export { chain as chainOf };

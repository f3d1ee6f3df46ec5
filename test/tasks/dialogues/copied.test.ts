import { expect, test } from '@jest/globals';
import { arkAgent, arkPrompts } from '../../../agents/prompted/ark/ark-agent.js';
import type { WalkTask } from '../../../datasets/walk-sample.js';
import { batchAsker } from '../../../evaluation/ask.js';
import type { Attempt } from '../../../evaluation/score.js';
import type { Answer } from '../../../agents/agent.js';
import type { QuestionClient } from '../../../src/llm/client/create-clients.js';
import type { Decision } from '../../../src/llm/decision.js';
import { dialogueMeasure } from '../../../tasks/dialogues/score.js';
import { rowOf } from '../../../tasks/dialogues/row.js';
import { graphOf, townFacts } from '../../agents/prompted/clock-town.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';

const graph = graphOf([...townFacts, ['Orla Brandt', 'born_in', 'Vell'], ['Orla Brandt', 'knows', 'Ida Rem']]);
const start = graph.entityId('Orla Brandt');
const gold = { path: [[start, graph.relationId('lives_in'), graph.entityId('Skarn')]] as const };
const tasks = ['d#1', 'd#2'].map((id): WalkTask => {
  const message = { sender: 'user', text: 'Where does she live?' } as const;
  return {
    id,
    dialogueId: 'd',
    sender: 'assistant',
    start,
    startName: 'Orla Brandt',
    messages: [message],
    earlierPaths: [],
  };
});

/** Rows of the tasks, asked of an agent whose model replies by the script. */
async function rowsOf(prompt: (typeof arkPrompts)[number], script: (decision: Decision) => unknown) {
  let open: ((task: { id: string }) => QuestionClient) | undefined;
  const clientFor = (id: string) => ({ client: open!({ id }).client, cost: () => ({}) });
  const asker = batchAsker(arkAgent(prompt, { graph, clientFor, beamWidth: 5 }), {
    batchSize: 2,
    useCalls: (openCalls) => (open = openCalls),
  });
  const attempts: Attempt<Answer>[] = [];
  const totals = () => ({ calls: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0, phases: {} });
  await asker.ask(tasks, (index, attempt) => (attempts[index] = attempt), {
    openCalls: () => ({ client: scriptedClient(script), calls: () => [], totals }),
    concurrency: 1,
  });
  const context = { graph, walked: graph, beamWidth: 5, seenTargets: new Set<number>(), withArk: false };
  return tasks.map((task, index) => {
    const sample = { task, gold: { ...gold, target: graph.entityId('Skarn'), inGraph: true } };
    return rowOf(sample as unknown as Parameters<typeof rowOf>[0], attempts[index], context);
  });
}

const copied = dialogueMeasure.valueOf('copied');

test.each(arkPrompts)(
  '%s: replies that are those of the example are counted, others too, what is not read is not',
  async (prompt) => {
    const shown = await rowsOf(prompt, ({ examples }) => examples[0]!.reply);
    expect(shown.map(copied)).toEqual([1, 1]);
    const own = await rowsOf(prompt, ({ kind }) => (kind === 'answer' ? { answers: ['a | b | c'] } : { choices: [4] }));
    expect(own.map(copied)).toEqual([0, 0]);
    expect((await rowsOf(prompt, () => undefined)).map(copied)).toEqual([undefined, undefined]);
    // A row that is read again counts the same.
    expect(copied(dialogueMeasure.row.parse(shown[0]))).toBe(1);
  },
);

test('of agents that ask no model nothing is counted', () => {
  const sample = { task: tasks[0]!, gold: { ...gold, target: graph.entityId('Skarn'), inGraph: true } };
  const context = { graph, walked: graph, beamWidth: 5, seenTargets: new Set<number>(), withArk: false };
  expect(
    rowOf(sample as unknown as Parameters<typeof rowOf>[0], { answer: { paths: [], answers: [], cost: {} } }, context),
  ).not.toHaveProperty('copied');
});

/** Bugs of Think-on-Graph’s exploration, by their ids in the catalogue: what each would break here. */
import { expect, test } from '@jest/globals';
import { questionAgents } from '../../agents/question-agents.js';
import type { Decision, JudgeDecision, ScoreDecision } from '../../src/llm/decision.js';
import { graphOf, resourcesOf, taskOf, type Facts } from '../agents/prompted/clock-town.js';
import { scriptedClient } from '../fixtures/scripted-client.js';

/** Explores these facts from Tamsin; what scores decides what is kept, and nothing ever suffices. */
async function explored(
  facts: Facts,
  scoreOf: (name: string) => number,
  { question = 'who built it', ...switches }: { question?: string; [name: string]: unknown } = {},
) {
  const graph = graphOf(facts);
  const agent = await questionAgents.create('tog', resourcesOf(graph), switches);
  const client = scriptedClient((decision: Decision) => {
    if (decision.kind === 'score') return { scores: decision.candidates.map(({ text }) => scoreOf(text)) };
    return decision.kind === 'judge' ? { choice: -1, reason: '', answers: [] } : { answers: [] };
  });
  const topics = [{ name: 'Tamsin', entity: graph.entityId('Tamsin') }];
  const answer = await agent.answer(taskOf({ question, topics }), { client, trace: () => {} });
  const of = <Kind extends Decision['kind']>(kind: Kind) =>
    client.asked.filter((one): one is Extract<Decision, { kind: Kind }> => one.kind === kind);
  const judged: readonly JudgeDecision[] = of('judge');
  const scored: readonly ScoreDecision[] = of('score');
  const offeredAt = (name: string) =>
    scored
      .filter(({ phase, subjects }) => phase === 'relation-prune' && subjects?.[0] === graph.entityId(name))
      .map(({ candidates }) => candidates.map(({ text }) => text));
  return { answer, evidence: judged.map((one) => one.evidence), offeredAt };
}

const fleet: Facts = [
  ['Tamsin', 'sailed', 'Wren'],
  ['Tamsin', 'sailed', 'Heron'],
  ['Tamsin', 'sailed', 'Gull'],
  ['Tamsin', 'sailed', 'Lark'],
];

test.each(['Wren', 'Heron', 'Gull', 'Lark'])(
  'B-TOG-2: the entity that was scored is the one that is kept: %s',
  async (ship) => {
    const byModel = await explored(fleet, (name) => (name === 'sailed' || name === ship ? 10 : 0), { depth: 1 });
    expect(byModel.evidence).toEqual([[['Tamsin', 'sailed', ship]]]);
    // Word overlap orders by score: the name in the question comes first, at any position.
    const byWords = await explored(fleet, () => 0, {
      ...{ prune: 'bm25', depth: 1, width: 1 },
      question: `who sailed ${ship}`,
    });
    expect(byWords.evidence).toEqual([[['Tamsin', 'sailed', ship]]]);
  },
);

test('B-TOG-5: a beam leaves by any relation but its own inverse, independent of the other beams', async () => {
  // The Heron was reached by `sailed`; who sailed the Lark, which was reached by `saw`, may be asked all the same.
  const facts: Facts = [
    ['Tamsin', 'sailed', 'Heron'],
    ['Heron', 'built_by', 'Ivo'],
    ['Tamsin', 'saw', 'Lark'],
    ['Orin', 'sailed', 'Lark'],
    ['Orin', 'saw', 'Heron'],
  ];
  for (const noReturn of ['edge', 'relation']) {
    const { offeredAt } = await explored(facts, () => 5, { noReturn, depth: 2, width: 5 });
    expect(offeredAt('Heron')).toEqual([['built_by', '~saw']]);
    expect(offeredAt('Lark')).toEqual([['~sailed']]);
  }
});

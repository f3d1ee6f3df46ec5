import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { openCompletionStore, replayModel } from '../../../../src/llm/client/completion-store.js';
import type {
  AnswerDecision,
  ChainsDecision,
  ChooseManyDecision,
  ChooseOneDecision,
  Decision,
  DecisionKind,
  JudgeDecision,
  MatchDecision,
  PathsDecision,
  ReplyOf,
} from '../../../../src/llm/decision.js';
import { readReply } from '../../../../src/llm/decisions/read-reply.js';
import { renderPrompt } from '../../../../src/llm/decisions/render-prompt.js';
import { textCandidate } from '../../../../src/llm/decisions/prompt-text.js';
import { maxReplyTokens, replyFormat, writeReply } from '../../../../src/llm/decisions/reply-forms.js';
import type { LanguageModel } from '../../../../src/llm/language-model.js';
import { scriptedModel } from '../../../fixtures/scripted-model.js';
import { answer, candidates, choose, clientsOf, score, storeFile } from './sample-decisions.js';

const likelihood = { choices: 'likelihood' as const };
const relationNames = ['drawn_by', '~kept_by', 'built_in'];
const relationName = (relation: number) => relationNames[relation]!;
const common = {
  ...{ questionId: 'q1', phase: 'pick', question: 'who?', task: 'Do it.' },
  ...{ examples: [], evidence: [] },
};
const many: ChooseManyDecision = {
  ...common,
  kind: 'choose-many',
  candidates: candidates('a', 'b', 'a', ''),
  maxChoices: 3,
};
const match: MatchDecision = { ...common, kind: 'match', candidates: candidates('a', 'b'), targets: ['who', 'where'] };
const judge: JudgeDecision = { ...common, kind: 'judge', candidates: candidates('a', 'b'), withAnswers: false };
const chains: ChainsDecision = {
  ...{ ...common, kind: 'chains', hops: 2, count: 2, relationName },
  examples: [{ question: 'where?', reply: { chains: [[2, 2]] } }],
  allowed: [
    [0, 1],
    [1, 0],
    [1, 2],
  ],
};
const paths: PathsDecision = {
  ...{ ...common, kind: 'paths', count: 2, relationName, entityName: String, examples: [] },
  allowed: [[[0, 0, 1]], [[0, 1, 2]]],
};
const offered: AnswerDecision = { ...answer, allowed: ['x', 'y'] };
const truth: AnswerDecision = { ...answer, form: 'truth' };

/** A model without log-probabilities. */
function naming(text: string | ((decision: Decision) => string), overrides: Partial<LanguageModel> = {}) {
  return scriptedModel((decision) => (typeof text === 'string' ? text : text(decision)), overrides);
}

async function decided<D extends Decision>(decision: D, text: string, overrides: Partial<LanguageModel> = {}) {
  const model = naming(text, overrides);
  const { client, calls } = clientsOf(model, openCompletionStore(storeFile()), likelihood).clientFor('q1');
  return { ...(await client.decide(decision)), asked: model.asked, calls: calls(), client };
}

const schemaOf = (decision: Decision) => JSON.stringify(replyFormat({ ...decision, byName: true }).jsonSchema);

describe('a model that cannot tell how likely texts are is asked for names', () => {
  test.each<[DecisionKind, Decision, string, object]>([
    ['choose-one', choose, '{"choice":"b"}', { choice: 1 }],
    ['choose-one', choose, '{"choice":"none of these"}', { choice: -1 }],
    ['choose-many', many, '{"choices":["b","a"]}', { choices: [1, 0, 2] }],
    ['choose-many', many, '{"choices":["(without a name)"]}', { choices: [3] }],
    ['choose-many', many, '{"choices":[]}', { choices: [] }],
    ['score', score, '{"best":["c","a","b"]}', { scores: [5, 3, 10, 0] }],
    [
      'match',
      match,
      '{"map":[{"candidate":"b","target":"who"}]}',
      { matches: [{ candidate: 1, target: 0, score: 10 }] },
    ],
    [
      'chains',
      chains,
      '{"chains":["~kept_by → built_in","drawn_by → ~kept_by"]}',
      {
        chains: [
          [1, 2],
          [0, 1],
        ],
      },
    ],
    ['paths', paths, '{"paths":["0 → ~kept_by → 2"]}', { paths: [1] }],
    ['judge', judge, '{"reason":"so","choice":"b"}', { choice: 1, reason: 'so', answers: [] }],
    ['judge', { ...judge, candidates: [] }, '{"reason":"so","choice":"no"}', { choice: -1, reason: 'so', answers: [] }],
    ['answer', offered, '{"answers":["y"]}', { answers: ['y'] }],
    ['answer', offered, '{"answers":["none of these"]}', { answers: [] }],
    ['answer', truth, '{"answer":"false"}', { answers: ['false'] }],
  ])('%s: %#', async (_, decision, text, reply) => {
    const done = await decided(decision, text);
    expect(done).toMatchObject({ reply, stage: 'constrained' });
    expect(done).not.toHaveProperty('confidence');
    expect(done.calls).toHaveLength(1);
    expect(done.client.byLikelihood).toBe(true);
    const own = { ...decision, byName: true };
    expect(readReply(own, writeReply(own, done.reply as ReplyOf<Decision>), { constrained: true })!.reply).toEqual(
      reply,
    );
  });

  test('each name once, and what may be chosen beside them, in an enumeration and, without numbers, in the prompt', async () => {
    const decision = { ...choose, candidates: candidates('drawn_by', 'kept by', 'drawn_by', '', '1731') };
    const { asked } = await decided(decision, '{"choice":"1731"}');
    const names = ['drawn_by', 'kept by', '(without a name)', '1731', 'none of these'];
    expect(asked[0]!.format!.jsonSchema).toMatchObject({ properties: { choice: { enum: names } } });
    expect(asked[0]!.body).toContain(`Candidates:\n${names.map((name) => `- ${name}`).join('\n')}\n`);
  });

  test('a candidate that is called as choosing nothing is can be chosen, and so can nothing', async () => {
    const decision = { ...choose, candidates: candidates('none of these', 'b') };
    expect((await decided(decision, '{"choice":"none of these"}')).reply).toEqual({ choice: 0 });
    expect((await decided(decision, '{"choice":"none of these."}')).reply).toEqual({ choice: -1 });
  });

  test('worked examples are by name, too, and a set of chains is listed as long as it is short', () => {
    const shown: ChooseOneDecision = {
      ...choose,
      examples: [{ question: 'where?', candidates: ['Skarn', 'Lark'], reply: { choice: 1 } }],
      byName: true,
    };
    expect(renderPrompt(shown).head).toContain('- Skarn\n- Lark\n- none of these\nReply: {"choice":"Lark"}');
    const { head, body } = renderPrompt({ ...chains, byName: true });
    expect(head).toContain('Reply: {"chains":["built_in → built_in"]}');
    expect(body).toContain('Chains:\n- drawn_by → ~kept_by\n');
    const long = { ...chains, allowed: Array.from({ length: 2000 }, (_, i) => [i % 3, 1 + (i % 2)]), byName: true };
    expect(renderPrompt(long).body).toContain('Relations:\n- built_in\n- drawn_by\n- ~kept_by\n');
  });

  test('names of other scripts have room for every byte as a token', () => {
    const names = { ...choose, candidates: ['ქართული სახელი ძალიან გრძელი', 'გ'].map(textCandidate), byName: true };
    const longest = Buffer.byteLength('{"choice":"ქართული სახელი ძალიან გრძელი"}');
    expect(maxReplyTokens(names)).toBeGreaterThanOrEqual(longest);
  });

  test('a list of chains without end is read at its beginning, each name the first chain that bears it', () => {
    const read = (chainsWritten: string[]) =>
      readReply({ ...chains, byName: true }, JSON.stringify({ chains: chainsWritten }), { constrained: true })?.reply;
    expect(read(['drawn_by → ~kept_by'])).toEqual({ chains: [[0, 1]] });
    expect(read([...Array.from({ length: 100_000 }, () => 'x'), 'drawn_by → ~kept_by'])).toBeUndefined();
  });

  test('what is free text is asked for as ever', async () => {
    const { asked } = await decided(answer, '{"answers":["x"]}');
    expect(asked[0]!.decision.byName).toBeUndefined();
  });

  test('nothing offered is nothing asked', async () => {
    const nothing = await decided({ ...score, candidates: [] }, '');
    expect(nothing).toMatchObject({ reply: { scores: [] }, asked: [], calls: [] });
    expect(await decided({ ...choose, candidates: [] }, '')).toMatchObject({ stage: 'unparsed', asked: [] });
    expect(await decided({ ...match, candidates: [] }, '')).toMatchObject({ reply: { matches: [] }, asked: [] });
  });
});

describe('replies that no enumeration bound', () => {
  const free = { constrained: false };
  test.each<[Decision, string, object]>([
    [choose, 'I would say "b".\n{"choice": "B"}', { choice: 1 }],
    [choose, '2. b', { choice: 1 }],
    [choose, 'none', { choice: -1 }],
    [many, '```json\n["b", "x", "b"]\n```', { choices: [1] }],
    [score, 'best: d; a', { scores: [5, 0, 0, 10] }],
    [match, 'b -> where', { matches: [{ candidate: 1, target: 1, score: 10 }] }],
    [chains, '{"chains":[["~kept_by","built_in"]]}', { chains: [[1, 2]] }],
    [judge, 'choice: a', { choice: 0 }],
    [{ ...judge, candidates: [] }, '{"choice": true}', { choice: 0 }],
    [offered, 'y', { answers: ['y'] }],
  ])('are read as far as a name is meant: %#', async (decision, text, reply) => {
    expect((await decided(decision, text, free)).reply).toMatchObject(reply);
  });

  test('a name that was not offered is asked for again, and then the agent is told that nothing could be read', async () => {
    const { stage, calls } = await decided(choose, '{"choice":"zebra"}');
    expect([stage, calls.map(({ stage: each }) => each)]).toEqual(['unparsed', ['unparsed', 'unparsed']]);
    expect((await decided(choose, '{"choice":"2"}')).stage).toBe('unparsed');
  });
});

test('hundreds of names that are nearly those of a hub are read without comparing each with all', () => {
  const hub = { ...score, candidates: candidates(...Array.from({ length: 10_000 }, (_, i) => `island number ${i}`)) };
  const written = [...Array.from({ length: 400 }, (_, i) => `iiland number x${i}`), 'Island Number 7'];
  const read = (names: readonly string[]) =>
    readReply({ ...hub, byName: true }, names.join('\n'), { constrained: false });
  expect(read(written.slice(0, 400))).toBeUndefined();
  expect(read(written.slice(-20))!.reply.scores[7]).toBe(10);
});

test('a hub of ten thousand names fits the context, and what is cut off scores nothing', async () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `island number ${i}`);
  const done = await decided({ ...score, candidates: candidates(...names) }, '{"best":["island number 7","zebra"]}', {
    contextLength: 4096,
  });
  expect((done.reply as { scores: number[] }).scores).toHaveLength(10_000);
  expect((done.reply as { scores: number[] }).scores.flatMap((one, i) => (one > 0 ? [[i, one]] : []))).toEqual([
    [7, 10],
  ]);
  expect(done.calls[0]!.cut.candidates).toBeGreaterThan(5000);
  expect(schemaOf({ ...score, candidates: candidates(...names) }).length).toBeLessThan(400_000);
});

test('a replay asks nobody and gives the same', async () => {
  const file = storeFile();
  const store = openCompletionStore(file);
  const asked = clientsOf(naming('{"choice":"b"}'), store, likelihood).clientFor('q1');
  const before = await asked.client.decide(choose);
  store.close();
  const bytes = readFileSync(file);
  const kept = openCompletionStore(file, { readOnly: true });
  const replayed = clientsOf(replayModel(kept), kept, likelihood).clientFor('q1');
  expect(await replayed.client.decide(choose)).toEqual(before);
  expect(replayed.calls()).toEqual(asked.calls());
  kept.close();
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

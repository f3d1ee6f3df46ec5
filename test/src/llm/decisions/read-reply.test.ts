import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Decision } from '../../../../src/llm/decision.js';
import { readReply, writeReply } from '../../../../src/llm/decisions/reply-forms.js';
import { anyDecisionAndReply } from '../../../fixtures/any-decision.js';
import {
  answerDecision,
  candidates,
  chainsDecision,
  chooseManyDecision,
  chooseOneDecision,
  extractDecision,
  harbours,
  judgeDecision,
  matchDecision,
  pathsDecision,
  rewriteDecision,
  scoreDecision,
} from '../../../fixtures/sample-decisions.js';
import { checkProperty } from '../../../fixtures/property.js';

function read(decision: Decision, text: string) {
  const found = readReply(decision, text, { constrained: false });
  return found && { ...found.reply, stage: found.stage };
}

describe('any valid reply', () => {
  test('is read as itself when written', () => {
    checkProperty(
      fc.property(anyDecisionAndReply, ({ decision, reply }) => {
        const text = writeReply(decision, reply);
        expect(readReply(decision, text, { constrained: false })).toEqual({ reply, stage: 'direct' });
        expect(readReply(decision, text, { constrained: true })).toEqual({ reply, stage: 'constrained' });
      }),
      { numRuns: 300 },
    );
  });

  test('is extracted from prose, code fences and chat terminators, the last of several', () => {
    const before = fc.constantFrom(
      'Sure! Here it is:\n',
      '```json\n',
      'Output: ',
      '<think>[maybe {"choice":1}]</think>',
      'As in [1], "this" is {odd: ',
      'First {"unrelated":[1,{"x":"}"}]} then ',
    );
    const after = fc.constantFrom('', '\n```', '<|im_end|>', '\nI hope this helps :] }', ' "unfinished');
    checkProperty(
      fc.property(anyDecisionAndReply, before, after, ({ decision, reply }, prefix, suffix) => {
        const found = readReply(decision, `${prefix}${writeReply(decision, reply)}${suffix}`, { constrained: true });
        expect(found).toEqual({ reply, stage: 'extracted' });
      }),
      { numRuns: 300 },
    );
  });
});

test.each([
  ['I think 2. <think>or {"choice":1}, since', undefined],
  ['<think>Number 2 or 1?', undefined],
  ['[THINK]{"choice":1}', undefined],
  ['<|channel|>analysis<|message|>1 or 2', undefined],
  ['{"choice":1} so far.</think>', undefined],
  ['{"choice":1} or 2</think>{"choice":2}', { choice: 1, stage: 'extracted' }],
  ['<thinking>{"choice":1}</thinking>\n2', { choice: 1, stage: 'repaired' }],
  ['<|channel|>analysis<|message|>1<|end|><|start|>assistant<|channel|>final<|message|>{"choice":2}', { choice: 1 }],
])('thoughts are no decision, and what follows them is: %s', (text, reply) => {
  const found = read(chooseOneDecision({ allowNone: false }), text);
  if (reply === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(reply);
});

const parts = { texts: ['Who owns Port Vell?', 'What did she build?'] };
const built = 'Port Vell → ~owns → Tamsin Orrel → built';

const repaired: readonly (readonly [Decision, string, object])[] = [
  [extractDecision(), "['Port Vell', 'ships',]", { items: ['Port Vell', 'ships'] }],
  [extractDecision(), "entities: ['Schindler's List', 'owner']", { items: ["Schindler's List", 'owner'] }],
  [extractDecision(), 'Key phrases:\n1. Port Vell\n2. ships', { items: ['Port Vell', 'ships'] }],
  [extractDecision(), 'Keywords: Port Vell; owner', { items: ['Port Vell', 'owner'] }],
  [extractDecision(), '{"items":["Port Vell","own', { items: ['Port Vell'] }],
  [chooseOneDecision(), '2', { choice: 1 }],
  [chooseOneDecision(), 'choice: 2', { choice: 1 }],
  [chooseOneDecision(), '**Answer:** built', { choice: 1 }],
  [chooseOneDecision(), '{"choice": "~Built"}', { choice: 2 }],
  [chooseOneDecision(), "{'choice': 2, 'sure': True}", { choice: 1 }],
  [chooseOneDecision(), '1. ~built', { choice: 2 }],
  [chooseOneDecision(), 'None.', { choice: -1 }],
  [chooseOneDecision(), '{"choice": 3', { choice: 2 }],
  [chooseManyDecision(), '3, 1', { choices: [2, 0] }],
  [chooseManyDecision(), '["built", "nothing like it", "OWNS"]', { choices: [1, 0] }],
  [chooseManyDecision(), '- ~built\n- owns', { choices: [2, 0] }],
  [chooseManyDecision(), 'owns; built', { choices: [0, 1] }],
  [chooseManyDecision(), '[1] or, if that fails, [1, 2]', { choices: [0, 1] }],
  [chooseManyDecision(), '{"choices":[3,2', { choices: [2, 1] }],
  [scoreDecision(), 'scores: 1, 10, 0', { scores: [1, 10, 0] }],
  [scoreDecision(), '[1, 10, 0,]', { scores: [1, 10, 0] }],
  [scoreDecision(), 'owns: 1\nbuilt: 10\n~built: 0', { scores: [1, 10, 0] }],
  [scoreDecision(), '1. built (Score: 9)\n2. owns (Score: 3)\n3. ~built (Score: 1)', { scores: [3, 9, 1] }],
  [scoreDecision(), '{"owns": 1, "~built": 2, "built": 3}', { scores: [1, 3, 2] }],
  [
    matchDecision(),
    '[[1,1,8],(2, 2, 7)]',
    {
      matches: [
        { candidate: 0, target: 0, score: 8 },
        { candidate: 1, target: 1, score: 7 },
      ],
    },
  ],
  [matchDecision(), '{"map":[{"c":1,"t":2,"s":8}', { matches: [{ candidate: 0, target: 1, score: 8 }] }],
  [
    matchDecision(),
    '[{"candidate":"built","clue":"ships","score":"6"}]',
    { matches: [{ candidate: 1, target: 1, score: 6 }] },
  ],
  [
    matchDecision(),
    '1 -> 2: 8\n3, 1, 2',
    {
      matches: [
        { candidate: 0, target: 1, score: 8 },
        { candidate: 2, target: 0, score: 2 },
      ],
    },
  ],
  [
    chainsDecision(),
    'Chain 1: [~owns, built]\nChain 2: [~owns, built_in]',
    {
      chains: [
        [1, 2],
        [1, 4],
      ],
    },
  ],
  [chainsDecision(), '~owns -> built_in_yaer', { chains: [[1, 5]] }],
  [chainsDecision(), '["~owns", "built"]', { chains: [[1, 2]] }],
  [chainsDecision(), '{"chains":[["owns","built"]]}', { chains: [[1, 2]] }],
  [rewriteDecision(), '1. Who owns Port Vell?\n2. What did she build?', parts],
  [rewriteDecision(), 'Here they are:\n- Who owns Port Vell?\n- What did she build?', parts],
  [rewriteDecision(), 'Question 1: Who owns Port Vell?\nQuestion 2: What did she build?', parts],
  [rewriteDecision(), '{"questions": ["Who owns Port Vell?", "What did she build?"]}', parts],
  [
    rewriteDecision(),
    '[{"part": "Who owns Port Vell?", "topic": "Port Vell"}, {"part": "What did she build?"}]',
    parts,
  ],
  [rewriteDecision(), '["Who owns Port Vell?"]\n["What did she build?"]', parts],
  [rewriteDecision(), '1. ["Who owns Port Vell?"] and 2. ["What did she build?"]', parts],
  [rewriteDecision(), "1. Who owns Port Vell?, ['Port Vell']\n2. What did she build?, []", parts],
  [rewriteDecision(), '1. Who owns [Port Vell]?', { texts: ['Who owns [Port Vell]?'] }],
  [rewriteDecision(), '[Port Vell] is owned by whom?', { texts: ['[Port Vell] is owned by whom?'] }],
  [rewriteDecision(), 'The parts are: ["Who owns Port Vell?"]', { texts: ['Who owns Port Vell?'] }],
  [rewriteDecision({ count: 1 }), '["a", "b"]', { texts: ['a'] }],
  [pathsDecision(), `Path 1: ${built} → Heron\nPath 2: ${built} → Heron (1884)`, { paths: [1, 2] }],
  [pathsDecision(), `["${built} → Heron"]\n["${built} → Heron (1884)"]`, { paths: [1, 2] }],
  [pathsDecision(), '["Port Vell", "~owns", "Tamsin Orrel", "built", "Heron"]', { paths: [1] }],
  [pathsDecision(), '{"paths":[["Port Vell", "~owns", "Tamsin Orrel"]]}', { paths: [0] }],
  [pathsDecision(), '"Port Vell" -> "~owns" -> "Tamsin Orrel" -> "built" -> "Heron"', { paths: [1] }],
  [pathsDecision(), '<PATH> Port Vell -> owns -> Tamsin Orel -> built -> Heron </PATH>', { paths: [1] }],
  [pathsDecision(), '{"paths":["Port Vell → ~owns → Tamsin Orrel", "Port V', { paths: [0] }],
  [judgeDecision(), 'Yes, the facts say so.', { choice: 0, reason: 'the facts say so.', answers: [] }],
  [judgeDecision(), "{'success': False, 'critique': 'no ship'}", { choice: -1, reason: 'no ship', answers: [] }],
  [judgeDecision(), 'reason: too few\nchoice: 0', { choice: -1, reason: 'too few', answers: [] }],
  [
    judgeDecision({ withAnswers: true }),
    '{Yes}. It is {Heron; Gull}.',
    { choice: 0, reason: 'It is {Heron; Gull}.', answers: ['Heron', 'Gull'] },
  ],
  [judgeDecision({ candidates: candidates('a', 'b') }), 'verdict: 2', { choice: 1, reason: '', answers: [] }],
  [answerDecision(), 'Heron', { answers: ['Heron'] }],
  [answerDecision(), '{Heron}', { answers: ['Heron'] }],
  [answerDecision(), 'First, look. So the answer is {Heron; Gull}.', { answers: ['Heron', 'Gull'] }],
  [answerDecision(), 'Answer: Heron; Gull', { answers: ['Heron', 'Gull'] }],
  [answerDecision(), '1. Heron\n2. Gull', { answers: ['Heron', 'Gull'] }],
  [answerDecision(), '{"answer": "Heron"}', { answers: ['Heron'] }],
  [answerDecision(), '{"answers":["Heron","Gu', { answers: ['Heron'] }],
  [answerDecision(), "I don't know.", { answers: [] }],
  [
    answerDecision({ withReasoning: true }),
    'It sails.\nAnswer: Heron',
    { answers: ['Heron'], reasoning: 'It sails. Answer:' },
  ],
  [answerDecision({ allowed: ['Heron', 'Gull'] }), '["gull"]', { answers: ['Gull'] }],
  [answerDecision({ form: 'truth' }), 'Yes, it does.', { answers: ['true'] }],
  [answerDecision({ form: 'truth' }), '{"answer": false}', { answers: ['false'] }],
];

test('of what is no part of the question, texts are cut at a word', () => {
  const long = 'and so on '.repeat(20);
  expect(read(rewriteDecision({ count: 1 }), JSON.stringify({ texts: [long, 'b'] }))).toEqual({
    texts: ['and so on '.repeat(12).trim()],
    stage: 'direct',
  });
});

test('of paths that read alike all are meant, and a name inside another is that name alone', () => {
  const twins = pathsDecision({ entityName: (entity) => (entity === 3 ? 'Heron' : harbours[entity]!), count: 3 });
  expect(read(twins, `{"paths":["${built} → Heron"]}`)).toEqual({ paths: [1, 2], stage: 'direct' });
  expect(read(pathsDecision(), `${built} → Heron (1884)`)).toMatchObject({ paths: [2] });
  expect(read(pathsDecision(), `${built} → Heron (18`)).toBeUndefined();
  expect(read(pathsDecision(), 'Port Vell → ~owns → Tamsin Orrel → built_in_year → 1885')).toBeUndefined();
});

test('lists within lists without end are no reply', () => {
  const nested = '['.repeat(7000) + ']'.repeat(7000);
  expect(read(pathsDecision(), nested)).toBeUndefined();
  expect(read(rewriteDecision(), nested)).toBeUndefined();
});

test('a path whose names hold arrows is found by its whole text', () => {
  const decision = pathsDecision({ entityName: (entity) => (entity === 2 ? 'a → b' : harbours[entity]!) });
  expect(read(decision, `{"paths":["${built} → a → b"]}`)).toMatchObject({ paths: [1] });
});

test.each(repaired)('%#: a reply that only means it is repaired', (decision, text, expected) => {
  expect(read(decision, text)).toEqual({ ...expected, stage: 'repaired' });
});

const unreadable: readonly (readonly [string, Decision, string])[] = [
  ['nothing', chooseOneDecision(), ''],
  ['a number out of range', chooseOneDecision(), '{"choice":4}'],
  ['none where one must be chosen', chooseOneDecision({ allowNone: false }), '{"choice":0}'],
  ['two different choices', chooseOneDecision(), 'owns\nbuilt'],
  ['B-SGPT-2: a sentence that contains a name', chooseOneDecision(), 'I would follow built here'],
  [
    'B-FISKE-4: digits inside a name',
    chooseOneDecision({ candidates: candidates('route 2', 'b', 'c') }),
    'take route 2 please',
  ],
  ['too few scores', scoreDecision(), '{"scores":[1,2]}'],
  ['too many scores', scoreDecision(), '{"scores":[1,2,3,4]}'],
  ['a score out of range', scoreDecision(), '{"scores":[1,2,11]}'],
  ['fractions of another scale', scoreDecision(), '{"scores":[0.4,0.4,0.2]}'],
  ['a candidate scored twice', scoreDecision(), 'owns: 1\nowns: 2\nbuilt: 3\n~built: 4'],
  ['scores that were cut off', scoreDecision(), '{"scores":[1,2'],
  ['chains that are not there', chainsDecision(), '{"chains":[["built","built"]]}'],
  ['a path that is not there', pathsDecision(), 'Heron → ~built → Tamsin Orrel → ~built → Heron'],
  ['paths that were only numbered', pathsDecision(), '[1, 2]'],
  ['an empty list of texts', rewriteDecision(), '{"texts":[]}'],
  ['no verdict', judgeDecision(), 'The facts are about ships.'],
  ['only choices that are not there', chooseManyDecision(), '{"choices":[7,9]}'],
  ['only pairs that are not there', matchDecision(), '{"map":[[9,9,9]]}'],
  ['the form itself', answerDecision(), '{"answers":[...]}'],
  ['the form itself', chooseOneDecision(), '{"choice":N}'],
  ['prose', answerDecision(), 'Ships sail.\nHarbours stay.'],
];

test.each(unreadable)('%s cannot be read', (_, decision, text) => {
  expect(read(decision, text)).toBeUndefined();
});

test('B-FISKE-4: a name that begins like another is that name alone', () => {
  const decision = chooseOneDecision({ candidates: candidates('place', 'place_of_birth', 'place_of_birth_2') });
  expect(read(decision, 'place')).toMatchObject({ choice: 0 });
  expect(read(decision, 'place_of_birth')).toMatchObject({ choice: 1 });
  expect(read(decision, 'Place_of_birth_2')).toMatchObject({ choice: 2 });
  expect(read(decision, 'place_of')).toBeUndefined();
});

test('a name with a typing error is taken only where no other is nearly as near', () => {
  const decision = chooseOneDecision({ candidates: candidates('directed_by', 'written_by', '~written_by') });
  expect(read(decision, 'directd_by')).toMatchObject({ choice: 0 });
  expect(read(decision, 'writen_by')).toBeUndefined();
  expect(read(decision, 'directed')).toBeUndefined();
});

test('numbers out of range are dropped, those in range are kept', () => {
  expect(read(chooseManyDecision(), '{"choices":[9,2,2,0]}')).toEqual({ choices: [1], stage: 'direct' });
  expect(read(matchDecision(), '{"map":[[1,1,3],[1,1,5],[1,9,9]]}')).toEqual({
    matches: [{ candidate: 0, target: 0, score: 5 }],
    stage: 'direct',
  });
});

test('a model abstains by an empty list, too, but a thing may be called unknown', () => {
  expect(read(answerDecision(), '{"answers":[]}')).toEqual({ answers: [], stage: 'direct' });
  expect(read(answerDecision(), '{"answers":["No answer"]}')).toEqual({ answers: [], stage: 'direct' });
  expect(read(answerDecision(), '{"answers":["Unknown"]}')).toEqual({ answers: ['Unknown'], stage: 'direct' });
  expect(read(answerDecision({ allowed: ['a'] }), '{"answers":[0]}')).toEqual({ answers: [], stage: 'direct' });
});

test('a chain without directions means all chains that exist with them', () => {
  const decision = chainsDecision({
    allowed: [
      [0, 2],
      [0, 3],
      [1, 2],
    ],
    count: 3,
  });
  expect(read(decision, '[["~owns","~built"]]')).toEqual({
    chains: [
      [0, 2],
      [0, 3],
      [1, 2],
    ],
    stage: 'repaired',
  });
});

test('a model that was bound but cut off is not called constrained', () => {
  expect(readReply(answerDecision(), '{"answers":["Heron","G', { constrained: true })?.stage).toBe('repaired');
});

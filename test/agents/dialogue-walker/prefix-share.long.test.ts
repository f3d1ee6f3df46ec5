import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { StateReader } from '../../../agents/dialogue-walker/policy.js';
import type { Message } from '../../../datasets/dialogue.js';
import type { WalkTask } from '../../../datasets/walk-sample.js';
import { applyAction, defaultWalkRules, initialState } from '../../../envs/dialogue-walk/rules.js';
import { stateTextSettings } from '../../../envs/settings.js';
import { openEncoder } from '../../../src/encoder/open-encoder.js';
import { encoderSettings } from '../../../src/encoder/settings.js';
import type { StateEncoder } from '../../../src/encoder/state-encoder.js';
import { graphOf } from '../../fixtures/toy-walks.js';

const modelPath = join(env.KGWALK_TEST_DATA ?? '', 'models/SmolLM2-135M-Instruct.Q4_1.gguf');
const available = env.KGWALK_TEST_DATA !== undefined && existsSync(modelPath);
if (!available) stderr.write('a real Llama is skipped: set KGWALK_TEST_DATA to the folder that holds models/\n');
const run = available ? test : test.skip;

const people = ['Ada Quill', 'Mara Lind', 'Jonas Vale', 'Ines Marlow'];
const relations = ['directed_by', 'written_by', 'starred_actors', 'starred_actors'];
const graph = graphOf(
  'film',
  people.map((person, i) => ['The Winter Sea', relations[i]!, person]),
);
const messages: Message[] = [
  { sender: 'user', text: 'Could you recommend a quiet film for the evening? I liked Glass Harbor a lot.' },
  { sender: 'assistant', text: 'Glass Harbor is by Ada Quill, who made Paper Moons too. Have you seen that one?' },
  { sender: 'user', text: 'I have, and I found it a little slow. What else is like it?' },
  { sender: 'assistant', text: 'There is The Winter Sea, a drama about a family on an island in the north.' },
  { sender: 'user', text: 'That sounds good. Who is in The Winter Sea, and who made it?' },
];
const task: WalkTask = {
  id: 'd1',
  dialogueId: 'd1',
  messages,
  sender: 'assistant',
  start: graph.entityId('The Winter Sea'),
  startName: 'The Winter Sea',
  earlierPaths: [],
};
const first = initialState(graph, task.start, defaultWalkRules);
const children = people.map((_, edge) => applyAction(graph, first, edge, defaultWalkRules));

let encoder: StateEncoder;
beforeAll(async () => {
  if (!available) return;
  const cacheFolder = mkdtempSync(join(tmpdir(), 'kgwalk-share-'));
  encoder = await openEncoder(encoderSettings.parse({ workers: 1, prefixReuse: 'auto' }), { modelPath, cacheFolder });
});
afterAll(() => encoder?.dispose());

run('B-ARK-17: of the tokens of states at step 2, at least 0.8 come from the prefix of their dialogue', async () => {
  const reader = new StateReader(encoder, graph, stateTextSettings.parse({ encode: 'per-step' }));
  await reader.read([{ task, state: first }]);
  const before = { ...encoder.counters };
  expect(before).toMatchObject({ encodes: 1, reusedTokens: 0 });
  // Two explorations of each.
  await reader.read([...children, ...children].map((state) => ({ task, state })));
  const { encodes, tokens, reusedTokens, askedTokens } = encoder.counters;
  expect(encodes - before.encodes).toBe(children.length);
  const reused = reusedTokens - before.reusedTokens;
  const all = tokens - before.tokens + reused;
  expect(reused / all).toBeGreaterThanOrEqual(0.8);
  expect(askedTokens - before.askedTokens).toBe(2 * all);
});

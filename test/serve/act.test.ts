/** Actions of a trained policy over HTTP and by frames: those that it takes in a program. */
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { importLinks } from '../../datasets/links/import-links.js';
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { MaskedBandit } from '../../envs/index.js';
import { ops } from '../../serve/env/frames.js';
import { linkSession, policySession } from '../../serve/env/policy-session.js';
import type { Session } from '../../serve/env/transports.js';
import { serve, type Serving } from '../../serve/server.js';
import { type LoadedPolicy, loadPolicy, trainPolicy } from '../../tasks/trainers.js';
import { loadLinkModel } from '../../tasks/links/model.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith } from '../fixtures/tiny-release.js';

const bugs: unknown[] = [];
let serving: Serving;
let policy: LoadedPolicy;
const seen = Array.from({ length: 8 }, (_, seed) => {
  const { observation, actionMask } = new MaskedBandit().reset({ seed }).observation;
  return { observation: [...observation], actionMask: [...actionMask] };
});

beforeAll(async () => {
  env.KGWALK_HOME = folderWith({});
  const folder = join(env.KGWALK_HOME, 'bandit');
  const settings = { totalSteps: 256, numEnvs: 4, numSteps: 64, hidden: [8], evalEpisodes: 5 };
  await trainPolicy({ makeEnv: () => new MaskedBandit(), settings, folder });
  policy = await loadPolicy(folder);
  serving = await serve({ roots: [env.KGWALK_HOME], port: 0, onBug: (error) => bugs.push(error) });
});
afterAll(async () => {
  await serving.close();
  policy.close();
  expect(bugs).toEqual([]);
});

async function post(body: object, type = 'application/json') {
  const headers = { 'Content-Type': type };
  const answer = await fetch(`${serving.url}api/act`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, ...((await answer.json()) as { action?: number; error?: { message: string } }) };
}

test('POST /api/act gives the actions of loadPolicy, sampled ones by their seeds, also at once', async () => {
  const sampled = { deterministic: false, seed: 5 };
  for (const options of [{}, sampled]) {
    const expected = await Promise.all(seen.map((one) => policy.act(one, options)));
    const replies = await Promise.all(seen.map((one) => post({ run: 'bandit', ...one, ...options })));
    expect(replies).toEqual(expected.map((action) => ({ status: 200, action })));
  }
});

test.each<[string, object, RegExp]>([
  ['a run that is not served', { run: '../bandit', ...seen[0] }, /expected a key of one run that is served/],
  ['no mask', { run: 'bandit', observation: seen[0]!.observation }, /with an actionMask of \d+, got/],
  ['another length', { run: 'bandit', ...seen[0], observation: [1] }, /observation: expected \d+ numbers/],
  ['no number', { run: 'bandit', ...seen[0], observation: ['x'] }, /observation.0: /],
  ['an unknown field', { run: 'bandit', ...seen[0], sample: true }, /Unrecognized key: "sample"/],
])('refuses %s in one line', async (_, body, message) => {
  const { status, error } = await post(body);
  expect({ status, message: error!.message }).toEqual({ status: 400, message: expect.stringMatching(message) });
});

test('takes JSON alone', async () => {
  expect(await post({ run: 'bandit', ...seen[0] }, 'text/plain')).toMatchObject({ status: 400 });
});

test('frames carry the answers to link queries that a program gets, and what is wrong', async () => {
  await importLinks({ from: folderWith(tinyLinkFiles), name: 'tiny' });
  const model = await loadLinkModel('rules', { dataset: 'tiny' });
  const { graph, test: asked } = await loadLinkDataset('tiny');
  const [head, relation] = [graph.entityName(asked.heads[0]!)!, graph.relationNames[asked.relations[0]!]!];
  const answers = await model.predict(head, relation, 3);
  expect(answers.length).toBeGreaterThan(0);
  expect(answers[0]).toMatchObject({
    score: expect.any(Number),
    rules: expect.arrayContaining([expect.objectContaining({ words: expect.any(String) })]),
  });
  const { ask, session } = askedBy(linkSession(model));
  expect(await ask(ops.predict, { head, relation, k: 3 })).toEqual({ op: ops.predict, answers });
  expect(await ask(ops.predict, { head: 'no entity', relation })).toMatchObject({ op: ops.error, code: 'usage' });
  expect(await ask(ops.predict, { head, relation, k: 0 })).toMatchObject({ op: ops.error, code: 'data' });
  expect(await ask(ops.act, {})).toMatchObject({ op: ops.error, code: 'usage' });
  await session.close();
});

/** A session, and requests to it with their replies. */
function askedBy(session: Session) {
  const ask = async (op: number, body: object) => {
    const reply = (await session.answer({ op, body: Buffer.from(JSON.stringify(body)) }))!;
    return { op: reply[4], ...(JSON.parse(reply.subarray(5).toString()) as object) };
  };
  return { session, ask };
}

test('frames carry the shape and the same actions, and what is wrong', async () => {
  const loaded = await loadPolicy(join(env.KGWALK_HOME!, 'bandit'));
  const { session, ask } = askedBy(policySession(loaded));
  expect(await ask(ops.hello, { protocol: 1 })).toMatchObject({ op: ops.hello, actions: policy.actions, masked: true });
  for (const observation of seen) {
    expect(await ask(ops.act, { observation })).toEqual({ op: ops.act, action: await policy.act(observation) });
  }
  expect(await ask(ops.act, { observation: [0] })).toMatchObject({ op: ops.error, code: 'data' });
  expect(await ask(ops.step, {})).toMatchObject({ op: ops.error, code: 'usage' });
  expect(await session.answer({ op: ops.close, body: Buffer.alloc(0) })).toBeUndefined();
  session.close();
});

/** `--graph sparql:…` of commands: the agents that can walk it, their answers, and the effect of cut hubs. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { env } from 'node:process';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { openAskDialogue } from '../../tasks/dialogues/ask.js';
import { worldOf } from '../agents/prompted/oracle-run.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { nTriplesOf, openTestEndpoint, type TestEndpoint, testPrefix } from '../fixtures/sparql-endpoint.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { importFilms } from '../fixtures/toy-question-training.js';

useOwnHome();

let endpoint: TestEndpoint;
beforeEach(async () => {
  await importFilms();
  endpoint = await openTestEndpoint(nTriplesOf((await worldOf('films', ['2-hop'], { home: env.KGWALK_HOME! })).graph));
});
afterEach(() => endpoint.stop());

const asked = ['evaluate', '--agent', 'tog', '--dataset', 'films/2-hop', '--model', 'oracle:0'];

async function evaluated(...more: string[]) {
  const words = [...asked, '--evaluations', folderWith({}), ...more];
  const record = await kgwalkJson<EvaluationRecord & { saved: string }>(...words);
  const lines = readFileSync(join(dirname(record.saved), 'answers.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const rows = lines.map((line) => JSON.parse(line) as { id: string; graphReads: number; cutRelations?: number });
  return { record, rows };
}
const behind = (most: number) => ['--graph', `sparql:${endpoint.url}#prefix=${testPrefix}&maxTails=${most}`];

test('a graph of which nothing is cut gives the rows of the one in memory', async () => {
  const [here, there] = [await evaluated(), await evaluated(...behind(1000))];
  expect(there.rows).toEqual(here.rows);
  expect(there.record.cost).not.toHaveProperty('cutRelations');
  expect(there.record.sections).toEqual(here.record.sections);
});

test('a run that walks relations answers as in memory, past relations that train never had', async () => {
  const run = await finishedRun('questions');
  // A graph that is larger than what the run was trained on: edges of other relations, and entities that only the endpoint has.
  const { graph } = await worldOf('films', ['2-hop'], { home: env.KGWALK_HOME! });
  const iri = (name: string) => `<${testPrefix}${encodeURIComponent(name)}>`;
  endpoint.load(graph.entityNames.map((name) => `${iri(name)} ${iri('elsewhere')} ${iri(`${name}-2`)} .`).join('\n'));
  const evaluate = async (...more: string[]) => {
    const words = ['evaluate', run, '--split', 'valid', '--beam-width', '3', '--evaluations', folderWith({}), ...more];
    const { saved, metrics } = await kgwalkJson<EvaluationRecord & { saved: string }>(...words);
    return { metrics, answers: readFileSync(join(dirname(saved), 'answers.jsonl'), 'utf8') };
  };
  const [here, there] = [await evaluate(), await evaluate(...behind(1000))];
  expect(there).toEqual(here);
  expect(here.metrics['hit@1']!.value).toBeGreaterThan(0);
  expect(endpoint.queries.length).toBeGreaterThan(4);
  const asked = ['ask', run, 'other films by the director of [inception]'];
  const [plain, remote] = [await kgwalk(...asked), await kgwalk(...asked, ...behind(1000))];
  // Both say the graph that they walked, in their last line.
  const [near, tnear] = [plain, remote].map(({ out }) => out.trimEnd().split('\n'));
  expect([remote.exitCode, tnear!.slice(0, -1)]).toEqual([0, near!.slice(0, -1)]);
  expect([near, tnear].map((lines) => lines!.at(-1))).toEqual([
    expect.stringMatching(/, graph films of films$/),
    expect.stringMatching(/, graph \S+ of films$/),
  ]);
  expect(remote.err).toMatch(/: \d+ queries, \d+ rows; 0 entities queried/);
});

test('a run on dialogues is asked over its own graph alone', () => {
  const flags = { graph: 'wide', checkpoint: 'best', set: [], modelSet: [] };
  expect(() => openAskDialogue({ name: 'talker', switches: {} }, flags)).toThrow('expected no graph');
});

test('questions that met cut relations are counted, each for itself', async () => {
  const one = await evaluated(...behind(1));
  const cut = one.rows.flatMap(({ cutRelations }) => cutRelations ?? []);
  expect(cut.length).toBeGreaterThan(0);
  expect(new Set(one.rows.map(({ cutRelations }) => cutRelations)).size).toBeGreaterThan(1);
  const total = cut.reduce((sum, count) => sum + count, 0);
  expect(one.record.cost.cutRelations).toMatchObject({ total, max: Math.max(...cut) });
  const { lines } = one.record.sections.find(({ title }) => title === 'Cut relations')!;
  expect(lines).toEqual([expect.stringMatching(new RegExp(`^${cut.length} of ${one.rows.length} questions met`))]);
  const { out, err } = await kgwalk(...asked, '--evaluations', folderWith({}), ...behind(1));
  expect(out).toContain(lines![0]);
  expect(err).toMatch(/relations of hubs were cut, to 1 tails/);
});

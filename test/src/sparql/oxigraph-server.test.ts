/** Real server: Oxigraph from its package. `KGWALK_TEST_OXIGRAPH` is the path of its program; without it these tests are skipped. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { questionAgents } from '../../../agents/question-agents.js';
import { Graph } from '../../../src/kg/graph.js';
import { openRemoteGraph, type RemoteGraph } from '../../../src/sparql/remote-graph.js';
import { type AskedWorld, openOracleRun, worldOf } from '../../agents/prompted/oracle-run.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { nTriplesOf, testPrefix } from '../../fixtures/sparql-endpoint.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { importFilms } from '../../fixtures/toy-question-training.js';

const program = env.KGWALK_TEST_OXIGRAPH ?? 'oxigraph';
const hasServer = spawnSync(program, ['--version']).status === 0;
if (!hasServer)
  console.log(`skipped: an Oxigraph server, since there is no ${program}; KGWALK_TEST_OXIGRAPH names one`);
const withServer = hasServer ? test : test.skip;

useOwnHome();

const hubEdges = 30_000;
let folder: string;
let world: AskedWorld;
let port: number;
let server: ChildProcess | undefined;
const graphs: RemoteGraph[] = [];

beforeAll(async () => {
  if (!hasServer) return;
  await importFilms();
  world = await worldOf('films', ['2-hop'], { home: env.KGWALK_HOME! });
  folder = folderWith({});
  const iri = (name: string) => `<${testPrefix}${name}>`;
  const hub = Array.from({ length: hubEdges }, (_, i) => `${iri('hub')} ${iri('has')} ${iri(`part${i}`)} .`);
  writeFileSync(join(folder, 'graph.nt'), `${nTriplesOf(world.graph)}\n${hub.join('\n')}\n`);
  mkdirSync(join(folder, 'db'));
  const load = spawnSync(program, ['load', '--location', join(folder, 'db'), '--file', join(folder, 'graph.nt')]);
  if (load.status !== 0) throw new Error(String(load.stderr));
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  port = (free.address() as AddressInfo).port;
  free.close();
});
afterEach(async () => {
  for (const graph of graphs.splice(0)) await graph.close();
  await kill();
});

async function start(): Promise<void> {
  const words = ['serve-read-only', '--location', join(folder, 'db'), '--bind', `127.0.0.1:${port}`];
  server = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const [chunk] of on(server.stderr!, 'data')) if (String(chunk).includes('Listening')) break;
}

async function kill(): Promise<void> {
  if (server?.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'close');
  server.kill('SIGKILL');
  await gone;
}

async function opened(known = world.graph, options = ''): Promise<RemoteGraph> {
  const address = `sparql:http://127.0.0.1:${port}/query#prefix=${testPrefix}${options}`;
  const graph = await openRemoteGraph(address, known, {
    cache: join(folder, `cache-${graphs.length}-${Date.now()}`),
  });
  graphs.push(graph);
  return graph;
}

withServer('agents answer as in memory, byte for byte', async () => {
  await start();
  for (const name of questionAgents.names().filter((one) => questionAgents.entry(one).walksRemote)) {
    const here = await (await openOracleRun(name, world, { choices: 'written' })).run();
    const there = await (await openOracleRun(name, { ...world, graph: await opened() }, { choices: 'written' })).run();
    expect([name, there.failures, there.bytes.slice(1, 4)]).toEqual([name, [], here.bytes.slice(1, 4)]);
  }
});

withServer('a hub comes whole, or cut and counted', async () => {
  await start();
  const none = new Int32Array();
  const topic = new Graph('topic', ['hub'], [], { heads: none, relations: none, tails: none });
  const [whole, cut] = [await opened(topic, `&maxTails=${2 * hubEdges}`), await opened(topic)];
  for (const graph of [whole, cut]) await graph.ensure([0]);
  expect([whole, cut].map((graph) => graph.degree(0))).toEqual([hubEdges, 1000]);
  expect([whole, cut].map(({ remote }) => remote.counts.cut)).toEqual([0, 1]);
});

withServer('killed with -9 on the way and started again, it is asked on, and the answers are the same', async () => {
  await start();
  const here = await (await openOracleRun('tog', world, { choices: 'written' })).run();
  const graph = await opened();
  const { ensure } = graph;
  let [calls, restarted] = [0, Promise.resolve()];
  graph.ensure = async (...given) => {
    if (++calls === 3) {
      await kill();
      restarted = start();
    }
    return ensure.apply(graph, given);
  };
  const there = await (await openOracleRun('tog', { ...world, graph }, { choices: 'written' })).run();
  await restarted;
  expect(there.bytes.slice(1, 4)).toEqual(here.bytes.slice(1, 4));
  expect(graph.remote.counts.failures).toBeGreaterThan(0);
});

/** Endpoint graphs: agents walk them like graphs in memory, under all endpoint failures. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { questionAgents } from '../../../../agents/question-agents.js';
import { Graph } from '../../../../src/kg/graph.js';
import { type AskedWorld, openOracleRun, worldOf } from '../../../agents/prompted/oracle-run.js';
import { parseSparqlSource } from '../../../../src/kg/sparql/source.js';
import {
  brought,
  edgesOf,
  endpointOf,
  fan,
  graphWith,
  line,
  newCache,
  opened,
} from '../../../fixtures/endpoint-graphs.js';
import { useSharedHome } from '../../../fixtures/own-home.js';
import { isLong, often } from '../../../fixtures/long-tests.js';
import { nTriplesOf, testPrefix } from '../../../fixtures/sparql-endpoint.js';
import { importFilms } from '../../../fixtures/toy-question-training.js';
import { columnsOf } from '../../../fixtures/triple-columns.js';

const home = useSharedHome(importFilms);
let world: AskedWorld;
beforeAll(async () => {
  world = await worldOf('films', ['2-hop'], { home: home(), count: often(3, Infinity) });
});

const able = questionAgents.names().filter((name) => questionAgents.entry(name).walksRemote);

describe('agents with the model that never errs', () => {
  test('there are those that the page promises', () => {
    expect(able).toEqual(['tog', 'fiske', 'self-veqa', 'structgpt', 'pog']);
  });

  const rows = able.flatMap((name) => (['written', 'likelihood'] as const).map((choices) => [name, choices] as const));
  const two = rows.filter((row) => ['tog,written', 'self-veqa,likelihood'].includes(row.join()));

  test.each(isLong ? rows : two)(
    '%s, %s: answers, traces and rows are those of the graph in memory, byte for byte',
    async (name, choices) => {
      const endpoint = await endpointOf(nTriplesOf(world.graph));
      const here = await (await openOracleRun(name, world, { choices })).run();
      const graph = await opened(endpoint, { known: world.graph });
      const there = await (await openOracleRun(name, { ...world, graph }, { choices })).run();
      expect(there.failures).toEqual([]);
      expect(there.bytes.slice(1, 4)).toEqual(here.bytes.slice(1, 4));
      expect(graph.remote.counts.asked).toBeGreaterThan(0);
    },
  );

  test('an endpoint that is killed and started again on the way loses nothing and is asked nothing twice', async () => {
    const endpoint = await endpointOf(nTriplesOf(world.graph));
    const here = await (await openOracleRun('tog', world, { choices: 'written' })).run();
    let down = false;
    endpoint.trick = (_, response, count) => {
      if (count !== 12) return false;
      down = true;
      void endpoint.stop();
      response.destroy();
      return true;
    };
    const delay = async () => {
      if (!down) return;
      down = false;
      await endpoint.start();
    };
    const graph = await opened(endpoint, { known: world.graph, delay });
    const there = await (await openOracleRun('tog', { ...world, graph }, { choices: 'written' })).run();
    expect(there.bytes.slice(1, 4)).toEqual(here.bytes.slice(1, 4));
    // Queries in flight at the failure were not answered; the triple count and a check of cached entities confirm the same graph.
    const walked = endpoint.queries.filter((query) => query.includes('VALUES'));
    const twice = walked.filter((query, i) => walked.indexOf(query) < i);
    // At most the four in flight, and a check that repeats one query.
    expect(twice.length).toBeGreaterThan(0);
    expect(twice.length).toBeLessThanOrEqual(5);
    expect(graph.remote.counts.failures).toBeGreaterThan(0);
  });

  test('is replayed out of the cache without the endpoint', async () => {
    const endpoint = await endpointOf(nTriplesOf(world.graph));
    const cache = newCache();
    const graph = await opened(endpoint, { known: world.graph, cache });
    const first = await (await openOracleRun('fiske', { ...world, graph }, { choices: 'written' })).run();
    await endpoint.stop();
    const kept = await opened(endpoint, { known: world.graph, cache, options: '&offline=true' });
    const again = await (await openOracleRun('fiske', { ...world, graph: kept }, { choices: 'written' })).run();
    expect(again.bytes).toEqual(first.bytes);
    expect(kept.remote.counts).toMatchObject({ queries: 0, asked: 0 });
    await endpoint.start();
  });
});

test('a graph has the name that opens it again, offline apart', async () => {
  const { url } = await endpointOf(line('a', 'knows', 'b'));
  const cache = newCache();
  const { name } = await opened({ url }, { cache });
  expect((await opened({ url }, { cache, options: '&offline=true' })).name).toBe(name);
  expect(parseSparqlSource(name)).toMatchObject({ prefix: testPrefix, maxTails: 50, offline: false });
});

describe('what was brought', () => {
  test('has both directions, literals as names, and IRIs without the prefix', async () => {
    const text = '<http://example.org/a> <http://example.org/says> "say \\"hi\\"\\n"@en .';
    const { graph } = await brought([line('a', 'knows', 'b'), line('c', 'knows', 'a'), text], 'a');
    expect(edgesOf(graph, 'a')).toEqual(['knows b', 'says say "hi"\n', '~knows c']);
    await graph.ensure([graph.entityId('say "hi"\n')]);
    expect(edgesOf(graph, 'say "hi"\n')).toEqual(['~says a']);
  });

  test('is asked for once, also by two at the same time', async () => {
    const endpoint = await endpointOf(line('a', 'knows', 'b'));
    const graph = await opened(endpoint, { known: graphWith('a') });
    await Promise.all([graph.ensure([0]), graph.ensure([0])]);
    expect(graph.remote.counts.asked).toBe(1);
  });

  test('of many entities is kept part by part: an endpoint that dies is asked again for the few parts under way', async () => {
    const names = Array.from({ length: 250 }, (_, i) => `e${i}`);
    const endpoint = await endpointOf(names.map((name) => line(name, 'knows', 'b')).join('\n'));
    const cache = newCache();
    const all = names.map((_, entity) => entity);
    endpoint.trick = (_, response, count) => {
      if (count < 24) return false;
      response.destroy();
      return true;
    };
    const first = await opened(endpoint, { known: graphWith(...names), cache, options: '&retries=0' });
    await expect(first.ensure(all)).rejects.toThrow('expected an answer');
    const answered = endpoint.queries.filter((query) => query.includes('VALUES'));
    endpoint.trick = undefined;
    const second = await opened(endpoint, { known: graphWith(...names), cache });
    await second.ensure(all);
    const asked = endpoint.queries.filter((query) => query.includes('VALUES')).slice(answered.length);
    expect(answered.length).toBeGreaterThan(18);
    // For a part in flight: relations and tails, in both directions.
    expect(asked.filter((query) => answered.includes(query)).length).toBeLessThanOrEqual(4 * 4);
    expect(edgesOf(second, 'e249')).toEqual(['knows b']);
  });

  test('of a hub is as much as the cap, counted and said', async () => {
    const { graph } = await brought([...fan('hub', 120), line('hub', 'is', 'big')], 'hub');
    const edges = edgesOf(graph, 'hub');
    expect([edges.length, edges.at(-1)]).toEqual([51, 'is big']);
    expect(graph.remote.counts.cut).toBe(1);
    expect(graph.summary()).toContain('1 relations of hubs were cut, to 50 tails');
  });

  test('was cut for those alone who asked for it, each relation once, also out of the cache', async () => {
    const endpoint = await endpointOf([...fan('hub', 60), ...fan('other', 70), line('leaf', 'is', 'small')].join('\n'));
    const graph = await opened(endpoint, { known: graphWith('hub', 'other', 'leaf') });
    const cutFor = (...asked: number[][]) =>
      graph.watch(async () => {
        for (const entities of asked) await graph.ensure(entities);
        return asked.length;
      });
    const watched = await Promise.all([cutFor([0], [0, 2]), cutFor([2]), cutFor([1, 0]), cutFor([0])]);
    expect(watched.map(({ value, cut }) => [value, cut])).toEqual([
      [2, 1],
      [1, 0],
      [1, 2],
      [1, 1],
    ]);
  });

  test.each([true, false])('is whole where the endpoint cuts at 45 rows (said in the header: %s)', async (says) => {
    const nTriples = ['a', 'b', 'c', 'd'].flatMap((hub) => fan(hub, 40));
    const endpoint = await endpointOf(nTriples.join('\n'));
    endpoint.limit = { rows: 45, says };
    const graph = await opened(endpoint, { known: graphWith('a', 'b', 'c', 'd') });
    await graph.ensure([0, 1, 2, 3]);
    expect(['a', 'b', 'c', 'd'].map((name) => edgesOf(graph, name).length)).toEqual([40, 40, 40, 40]);
    expect(graph.remote.counts.cut).toBe(0);
  });

  /** Entities or pairs that a query asks for. */
  const asksFor = (query: string) => {
    const values = /VALUES [^{]*\{([^}]*)\}/.exec(query)?.[1] ?? '(';
    return values.match(values.includes('(') ? /\(/g : /</g)!.length;
  };
  test.each([
    ['S1TAT', 'counts', /COUNT\(DISTINCT/],
    ['S1TAT', 'tails', /SELECT DISTINCT/],
    ['206', 'counts', /COUNT\(DISTINCT/],
  ])(
    'is whole where the endpoint gives a part (%s) of %s of more than one; a part of one is kept nowhere',
    async (sign, _, which) => {
      const names = ['a', 'b', 'c', 'd'];
      const endpoint = await endpointOf(names.flatMap((hub) => fan(hub, 40)).join('\n'));
      const partly =
        (least: number) =>
        (query: string, rows: unknown[]): Record<string, string> | undefined => {
          if (!which.test(query) || asksFor(query) < least) return undefined;
          rows.splice(rows.length >>> 1);
          return sign === '206' ? { status: sign } : { 'X-SQL-State': sign };
        };
      endpoint.twist = partly(2);
      const graph = await opened(endpoint, { known: graphWith(...names) });
      await graph.ensure([0, 1, 2, 3]);
      expect(names.map((name) => edgesOf(graph, name).length)).toEqual([40, 40, 40, 40]);

      const cache = newCache();
      endpoint.twist = partly(1);
      const cut = await opened(endpoint, { known: graphWith(...names), cache });
      await expect(cut.ensure([0])).rejects.toMatchObject({
        ...{ code: 'failure', fatal: true },
        message: expect.stringContaining(sign === '206' ? 'a part (status 206)' : 'a part (X-SQL-State S1TAT)'),
      });
      endpoint.twist = undefined;
      const after = await opened(endpoint, { known: graphWith(...names), cache });
      await after.ensure([0]);
      expect([edgesOf(after, 'a').length, after.remote.counts.asked]).toEqual([40, 1]);
    },
  );

  test('is refused where the endpoint counts a part of the graph, or of the relations of one entity', async () => {
    const relations = Array.from({ length: 40 }, (_, i) => line('a', `r${i}`, 'b'));
    const endpoint = await endpointOf(relations.join('\n'));
    endpoint.limit = { rows: 30, says: true };
    const graph = await opened(endpoint, { known: graphWith('a') });
    await expect(graph.ensure([0])).rejects.toThrow('expected a whole answer, got a part (30 rows)');
    endpoint.twist = () => ({ 'X-SQL-State': 'S1TAT' });
    await expect(opened(endpoint)).rejects.toThrow('expected a whole answer');
  });

  test.each([true, false])(
    'lacks quoted triples and blank nodes, which are counted (%s: out of the cache)',
    async (kept) => {
      const blank = `<${testPrefix}a> <${testPrefix}knows> _:someone .`;
      const endpoint = await endpointOf([line('a', 'knows', 'b'), blank].join('\n'));
      const parts = Object.fromEntries(
        ['subject', 'predicate', 'object'].map((one) => [one, { type: 'uri', value: 'http://x/' }]),
      );
      endpoint.twist = (_, rows) => {
        if (rows[0]?.x) rows.push({ ...rows[0], x: { type: 'triple', value: parts } });
        return undefined;
      };
      const cache = newCache();
      let graph = await opened(endpoint, { known: graphWith('a'), cache });
      await graph.ensure([0]);
      if (kept) {
        graph = await opened(endpoint, { known: graphWith('a'), cache, options: '&offline=true' });
        await graph.ensure([0]);
      }
      expect(edgesOf(graph, 'a')).toEqual(['knows b']);
      expect(graph.remote.counts).toMatchObject({ cut: 0, leftOut: 2 });
      expect(graph.summary()).toContain('2 blank nodes and quoted triples left out of tails');
    },
  );

  test('names relations by the labels of Wikidata’s properties, unless the data set names them or two have one', async () => {
    const property = (name: string, text: string) => [
      `<${testPrefix}${name}> <http://wikiba.se/ontology#directClaim> <${testPrefix}t/${name}> .`,
      `<${testPrefix}${name}> <${testPrefix}label> "${text}"@en .`,
    ];
    const lines = ['P1', 'P2', 'P3', 'P4'].map((name) => line('m1', `t/${name}`, 'm2'));
    lines.push(line('m2', 't/P5', 'm3'));
    lines.push(
      ...property('P1', 'made from'),
      ...property('P2', 'known'),
      ...property('P3', 'same'),
      ...property('P4', 'same'),
      ...property('P5', 'made from'),
    );
    const endpoint = await endpointOf([...lines, `<${testPrefix}m1> <${testPrefix}label> "Ann"@en .`].join('\n'));
    const known = new Graph('topics', ['Ann'], ['t/P2', '~t/P2'], columnsOf([]));
    const graph = await opened(endpoint, { known, options: `&label=${testPrefix}label` });
    await graph.ensure([0]);
    expect(edgesOf(graph, 'Ann')).toEqual(['label Ann', 'made from m2', 't/P2 m2', 't/P3 m2', 't/P4 m2']);
    // A relation that is met later keeps apart, too.
    await graph.ensure([graph.entityId('m2')]);
    expect(edgesOf(graph, 'm2')).toContain('t/P5 m3');
  });

  test('is said to be cut where the endpoint gives fewer rows than one relation has', async () => {
    const endpoint = await endpointOf(fan('a', 40).join('\n'));
    endpoint.limit = { rows: 30, says: false };
    const graph = await opened(endpoint, { known: graphWith('a') });
    await graph.ensure([0]);
    expect([edgesOf(graph, 'a').length, graph.remote.counts.cut]).toEqual([30, 1]);
  });

  test('goes by labels where they are the names: of one label by the first IRI', async () => {
    const label = (name: string, text: string) => `<${testPrefix}${name}> <${testPrefix}label> ${text} .`;
    const lines = [line('m1', 'knows', 'm2'), label('m1', '"Ann"@en'), label('m9', '"Ann"@en')];
    lines.push(label('m2', '"Bernd"@de'), label('m2', '"Ben"@en'));
    const endpoint = await endpointOf(lines.join('\n'));
    const graph = await opened(endpoint, { known: graphWith('Ann', 'Unknown'), options: `&label=${testPrefix}label` });
    await graph.ensure([0, 1]);
    expect(edgesOf(graph, 'Ann')).toContain('knows Ben');
    expect(edgesOf(graph, 'Unknown')).toEqual([]);
  });

  test('is of one graph of the endpoint where the address names it', async () => {
    const endpoint = await endpointOf(line('a', 'knows', 'b'));
    await opened({ url: `${endpoint.url}?default-graph-uri=http%3A%2F%2Fg` });
    expect(endpoint.graphs).toEqual(['http://g']);
  });
});

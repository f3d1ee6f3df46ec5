/** Topic neighbourhoods extracted from an endpoint graph and imported: walks see the same edges as in the whole graph. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { extractLinks, type ExtractOptions, readTopics } from '../../../datasets/links/extract-links.js';
import { loadLinkDataset } from '../../../datasets/links/link-dataset.js';
import { parseSparqlSource } from '../../../src/kg/sparql/source.js';
import { kgwalk } from '../../fixtures/command-line.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { openTestEndpoint, type TestEndpoint, testPrefix } from '../../fixtures/sparql-endpoint.js';

useOwnHome();

let endpoint: TestEndpoint | undefined;
afterEach(async () => {
  await endpoint?.stop();
  endpoint = undefined;
});

const iri = (name: string) => `<${testPrefix}${name}>`;
const label = 'http://www.w3.org/2000/01/rdf-schema#label';

/** A chain a0 → a1 → … → a8, a hub liked by a1 and 30 others, an island, dates, and labels. */
function world(): string {
  const lines = Array.from({ length: 8 }, (_, i) => `${iri(`a${i}`)} ${iri('next')} ${iri(`a${i + 1}`)} .`);
  lines.push(`${iri('a1')} ${iri('likes')} ${iri('hub')} .`);
  for (let i = 0; i < 30; i++) lines.push(`${iri(`fan${i}`)} ${iri('likes')} ${iri('hub')} .`);
  lines.push(`${iri('i0')} ${iri('next')} ${iri('i1')} .`, `${iri('i1')} ${iri('next')} ${iri('i2')} .`);
  lines.push(`${iri('a1')} ${iri('born')} "two\\twords" .`);
  for (const name of ['a0', 'a1', 'hub']) lines.push(`${iri(name)} <${label}> "The ${name}"@en .`);
  return lines.join('\n');
}

const folder = () => mkdtempSync(join(tmpdir(), 'kgwalk-extract-'));

async function extracted(over: Partial<ExtractOptions> = {}, options = '&maxTails=10') {
  endpoint ??= await openTestEndpoint(world());
  const source = parseSparqlSource(`sparql:${endpoint.url}#prefix=${testPrefix}${options}`);
  const into = over.folder ?? folder();
  const counts = await extractLinks({
    ...{ source, topics: ['a0'], hops: 2, distractors: 0, seed: 0, folder: into, maxEntities: 1000, cache: folder() },
    ...{ delay: () => Promise.resolve(), ...over },
  });
  const lines = readFileSync(join(into, 'triples.tsv'), 'utf8').trimEnd().split('\n');
  return { counts, lines, into };
}

const without = (lines: readonly string[], relation: string) => lines.filter((line) => !line.includes(relation)).sort();

test('all edges of entities less than so many hops away are there, in either direction, each once', async () => {
  const two = await extracted();
  expect(without(two.lines, 'rdf-schema')).toEqual(
    ['a0\tnext\ta1', 'a1\tborn\ttwo words', 'a1\tlikes\thub', 'a1\tnext\ta2'].sort(),
  );
  expect(two.counts).toMatchObject({ topics: 1, notFound: 0, expanded: 2, cut: 0, distractors: 0 });
  const three = await extracted({ hops: 3, cache: folder() }, '&maxTails=100');
  expect(three.lines).toContain('a2\tnext\ta3');
  expect(three.lines.filter((line) => line.endsWith('likes\thub'))).toHaveLength(31);
  expect(new Set(three.lines).size).toBe(three.lines.length);
});

test('a hub is cut to its first tails, and counted; a topic in the middle is walked both ways', async () => {
  const { lines, counts } = await extracted({ topics: ['a2'], hops: 3 });
  expect(lines.filter((line) => line.endsWith('likes\thub')).length).toBeLessThanOrEqual(11);
  expect(counts.cut).toBe(1);
  expect(lines).toEqual(expect.arrayContaining(['a0\tnext\ta1', 'a3\tnext\ta4']));
});

test('one topic on the way of another is expanded as far as either asks', async () => {
  const far = await extracted({ topics: ['a0', 'a2'], hops: 2 });
  expect(far.lines).toEqual(expect.arrayContaining(['a0\tnext\ta1', 'a2\tnext\ta3', 'a3\tnext\ta4']));
});

test('distractors are drawn from the rim by the seed and bring their own neighbourhoods', async () => {
  const plain = await extracted({ topics: ['a3'] });
  const drawn = await extracted({ topics: ['a3'], distractors: 1, seed: 4 });
  expect(drawn.counts.distractors).toBe(1);
  expect(drawn.lines.length).toBeGreaterThan(plain.lines.length);
  expect(drawn.lines).toEqual(expect.arrayContaining(plain.lines));
  expect((await extracted({ topics: ['a3'], distractors: 1, seed: 4 })).lines).toEqual(drawn.lines);
});

test('cached answers are not queried again, and a failed extraction can be resumed', async () => {
  const cache = folder();
  endpoint = await openTestEndpoint(world());
  let answered = 0;
  endpoint.trick = (query, response) => {
    if (!query.includes('VALUES') || ++answered <= 4) return false;
    response.writeHead(400).end('no more');
    return true;
  };
  await expect(extracted({ hops: 4, cache })).rejects.toMatchObject({ name: 'WorkbenchError' });
  endpoint.trick = undefined;
  const whole = await extracted({ hops: 4, cache });
  const before = endpoint.queries.length;
  const again = await extracted({ hops: 4, cache }, '&maxTails=10&offline=true');
  expect(endpoint.queries).toHaveLength(before);
  expect(again.lines).toEqual(whole.lines);
});

test('labels find topics and name entities', async () => {
  const { counts, into } = await extracted(
    { topics: ['The a0', 'a8', 'Unknown'], hops: 1 },
    `&label=${encodeURIComponent(label)}`,
  );
  expect(counts).toMatchObject({ topics: 2, notFound: 1 });
  expect(readFileSync(join(into, 'names.tsv'), 'utf8').split('\n')).toContain('a0\tThe a0');
});

test('the command imports what it cut out, with how, and warns; training says it, too', async () => {
  endpoint = await openTestEndpoint(world());
  const topics = join(folder(), 'topics.txt');
  writeFileSync(topics, 'a0\r\n\na4\n');
  expect(readTopics(topics)).toEqual(['a0', 'a4']);
  const source = `sparql:${endpoint.url}#prefix=${testPrefix}`;
  const words = ['datasets', 'get', source, '--topics', topics, '--name', 'cut', '--max-tails', '5'];
  const { out } = await kgwalk(...words, '--hops', '3', '--distractors', '1');
  expect(out).toContain('3 hops around 2 topics and 1 distractors (seed 0)');
  expect(out).toContain('compare results on this graph only');
  const { manifest, graph } = await loadLinkDataset('cut');
  expect(manifest.extracted).toMatchObject({ hops: 3, maxTails: 5, topics: 2, distractors: 1, cut: 1 });
  expect(graph.entityNames).toContain('a0');
  const plan = await kgwalk('train', 'link-chains', '--set', 'data.dataset=cut', '--dry-run');
  expect(plan.err + plan.out).toContain('reveals where questions start');
});

test.each([
  ['no topics', ['--name', 'cut'], 'expected --topics FILE with sparql:URL, got none'],
  ['no name', ['--topics', 'FILE'], 'expected --name NAME with sparql:URL, got none'],
  ['too far', ['--topics', 'FILE', '--name', 'cut', '--hops', '5'], 'expected --hops of at most 4, got 5'],
  ['no number', ['--topics', 'FILE', '--name', 'cut', '--max-tails', 'x'], 'expected a whole number from 1, got "x"'],
  ['a bad name', ['--topics', 'FILE', '--name', '../cut'], 'expected a data set name'],
  ['unknown topics', ['--topics', 'FILE', '--name', 'cut'], 'expected a topic with edges, got none'],
  ['too many', ['--topics', 'MANY', '--name', 'cut', '--max-entities', '1'], 'expected at most 1 entities'],
])('refused with one error: %s', async (_, words, problem) => {
  endpoint = await openTestEndpoint(world());
  const [unknown, many] = [join(folder(), 'unknown.txt'), join(folder(), 'many.txt')];
  writeFileSync(unknown, 'unknown\n');
  writeFileSync(many, 'a0\na4\n');
  const filled = words.map((word) => (word === 'FILE' ? unknown : word === 'MANY' ? many : word));
  const { exitCode, err } = await kgwalk('datasets', 'get', `sparql:${endpoint.url}#prefix=${testPrefix}`, ...filled);
  expect(err).toContain(problem);
  expect(exitCode).toBeGreaterThan(0);
});

test('a release takes no topics', async () => {
  const { err } = await kgwalk('datasets', 'get', 'metaqa', '--hops', '2');
  expect(err).toContain('expected --hops with sparql:URL');
});

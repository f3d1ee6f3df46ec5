/** Files of data and models, spoilt in any way: each reader reads them, or refuses them with one error that names the place. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuUsage } from 'node:process';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  checkSeal,
  decodeSafetensors,
  encodeSafetensors,
  readSafetensors,
  writeSeal,
} from '../../checkpoints/safetensors.js';
import { readCustomGraph } from '../../datasets/custom/import.js';
import { readCustomQuestions } from '../../datasets/custom/read-questions.js';
import { localName } from '../../datasets/custom/read-rdf.js';
import { readMetaQaQuestions } from '../../datasets/metaqa/import.js';
import { readDialogues } from '../../datasets/opendialkg/read-dialogues.js';
import { importDialogues, importGraphs } from '../../datasets/opendialkg/import.js';
import { readPathQuestions } from '../../datasets/pathquestion/import.js';
import { locatedTopic, markedTopics, type StoredQuestion } from '../../datasets/questions/stored-question.js';
import { descriptionsOf } from '../../datasets/webquestions/import.js';
import { openNpy } from '../../src/embedding/npy.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { readGraphFile, writeGraphFile } from '../../src/kg/graph-file.js';
import type { Graph } from '../../src/kg/graph.js';
import { normalizeName } from '../../src/kg/name-index.js';
import { readTriples } from '../../src/kg/read-triples.js';
import { describeModel, readTextModel } from '../../src/llm/gguf/model-facts.js';
import { readGgufHeader } from '../../src/llm/gguf/read-header.js';
import { nearestName } from '../../src/run/printable.js';
import { hostileFile, withstands, type Withstand } from '../fixtures/hostile.js';
import { often } from '../fixtures/long-tests.js';
import { npyBytes } from '../fixtures/npy-files.js';
import { sealedGraphFile, withLength } from '../fixtures/sealed-graph-file.js';
import {
  hostileBytes,
  hostileJson,
  hostileJsonLines,
  noise,
  spoiltBytes,
  spoiltJson,
  spoiltText,
} from '../fixtures/spoilt.js';
import { plainEntries, tinyGguf } from '../fixtures/tiny-gguf.js';
import { tinyMetaQa, tinyPathQuestion } from '../fixtures/tiny-questions.js';
import {
  csvOf,
  folderWith,
  longDialogue,
  missDialogue,
  relationLines,
  shortDialogue,
  tripleLines,
  wideLines,
} from '../fixtures/tiny-release.js';

const linesOf = (...lines: readonly string[]) => `${lines.join('\n')}\n`;

async function graphOf(file: string, separator?: string) {
  const builder = new GraphBuilder();
  const options = separator === undefined ? {} : { separator };
  await readTriples(file, options, (head, relation, tail) => builder.add(head, relation, tail));
  return builder.build('kb', { addInverses: true });
}

const builder = new GraphBuilder();
builder.add('Heat', 'directed_by', 'Mann');
builder.add('Heat', 'year', '1995');
const graph = builder.build('graph', { addInverses: true });

const tabs = 'Heat\tdirected_by\tMann\nMann\t~directed_by\tHeat\nHeat\tyear\t1995\n';
const bars = 'Heat|directed_by|Mann\nHeat|year|1995\n';
const label = 'http://www.w3.org/2000/01/rdf-schema#label';
const statements = hostileBytes(
  linesOf(
    '<http://x.org/Heat> <http://x.org/directed_by> <http://x.org/Mann> .',
    `<http://x.org/Heat> <${label}> "Heat"@en .`,
    `<http://x.org/Heat> <${label}> "Heat\\u00e9 \\"1995\\""@fr-CA .`,
    '_:b0 <http://x.org/year> "1995"^^<http://www.w3.org/2001/XMLSchema#gYear> . # a comment',
    '<http://x.org/a%20b> <http://x.org/p> "x\\U0001F701" .',
  ),
);
const turtle = `@prefix x: <http://x.org/> .
x:Heat x:by x:Mann , [ x:born 1943 ] ; x:label "Heat"@en , '''a
text''' . # a comment
(x:a x:b) x:p true .
`;

const dialogues = [shortDialogue, longDialogue, missDialogue];
const oddCell = spoiltJson(...dialogues).map((text) => {
  const cell = `"${text.replaceAll('"', '""')}"`;
  return Buffer.from(`${csvOf([shortDialogue])}${cell},{},{}\n`);
});
/** Asserts that the dialogues read hold words only. */
function areDialogues(result: unknown): void {
  for (const { id, messages, paths } of (result as Awaited<ReturnType<typeof readDialogues>>).dialogues) {
    expect(typeof id).toBe('string');
    expect(messages.every(({ text }) => typeof text === 'string')).toBe(true);
    expect(paths.flatMap(({ triples }) => triples.flat()).every((name) => typeof name === 'string')).toBe(true);
  }
}

const ownQuestions = hostileJsonLines(
  { question: 'who directed [Heat]', answers: ['Mann'], chain: ['directed_by'], aliases: { Mann: ['M.'] } },
  { id: 'q', question: 'is it so', topics: ['Heat'], form: 'truth', truth: true, claimed: 'Mann', type: 't' },
  { question: 'what', topics: ['Mann'], answers: ['Heat'], hops: 1 },
);
/** Places are places in the text. */
function areQuestions(result: unknown): void {
  for (const { question, topics } of (result as { questions: StoredQuestion[] }).questions) {
    for (const { name, span } of topics) {
      if (span) expect(question.slice(...span).toLowerCase()).toBe(name.toLowerCase());
    }
  }
}

/** A shape that lies, of any sizes: nothing may be allocated by it. */
const shapes = fc.array(fc.oneof(fc.nat(40), fc.bigInt(0n, 2n ** 64n)), { maxLength: 3 });
const numbers = Float32Array.from({ length: 24 }, (_, i) => i / 7);
const matrices = fc.oneof(
  noise,
  { weight: 3, arbitrary: spoiltBytes(npyBytes(numbers, 8)) },
  { weight: 2, arbitrary: shapes.map((sizes) => npyBytes(new Float32Array(24), 8, { shape: sizes.join(', ') })) },
);
function sumOf(file: string): number {
  const matrix = openNpy(file);
  try {
    let sum = 0;
    matrix.eachRow((row) => (sum += row[0]!));
    return sum;
  } finally {
    matrix.close();
  }
}

const oddModel = tinyGguf({
  entries: [...plainEntries, ['__proto__', 8, '<|im_start|>'], ['a', 4, 1]],
  tensors: { __proto__: [2] },
});
async function modelOf(file: string) {
  await describeModel(file);
  await readTextModel(file, 'embeds');
  return readGgufHeader(file);
}

const weights = encodeSafetensors({
  tensors: new Map([
    ['w', { shape: [2, 2], data: new Float32Array([1, 2, 3, 4]) }],
    ['steps', { shape: [], data: new BigInt64Array([7n]) }],
    ['__proto__', { shape: [1], data: new Uint8Array([1]) }],
  ]),
  metadata: new Map([['note', 'x']]),
});
const headerBytes = Number(Buffer.from(weights).readBigUInt64LE(0));
const weightsHeader = Buffer.from(weights).toString('utf8', 8, 8 + headerBytes);
const weightsData = Buffer.from(weights).subarray(8 + headerBytes);

/** With a digest that fits where the file still has a place for one, so that what lies beneath is read. */
function sealed(bytes: Buffer): Buffer {
  if (bytes.length >= 8 && checkSeal(bytes, 8) !== undefined) writeSeal(bytes, 8);
  return bytes;
}
function weightsWith(header: string, stated = BigInt(Buffer.byteLength(header))): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(stated);
  return Buffer.concat([length, Buffer.from(header), weightsData]);
}
const oddWeights = fc.oneof(
  noise,
  spoiltBytes(weights),
  { weight: 4, arbitrary: spoiltBytes(weights).map(sealed) },
  { weight: 4, arbitrary: spoiltJson(JSON.parse(weightsHeader)).map((text) => sealed(weightsWith(text))) },
);
/** Tensors have as many numbers as their shape says. */
function areTensors(result: unknown): void {
  for (const { shape, data } of (result as ReturnType<typeof decodeSafetensors>).tensors.values()) {
    expect(data).toHaveLength(shape.reduce((product, size) => product * size, 1));
  }
}

const graphPlace = hostileFile('graph-kb.bin').path;
writeGraphFile(graphPlace, graph);
const graphFile = readFileSync(graphPlace);
const magic = graphFile.toString('latin1', 0, 8);
const graphBody = graphFile.subarray(40);
const graphHeader = JSON.parse(graphBody.toString('utf8', 4, 4 + graphBody.readUInt32LE(0))) as object;
const graphRest = graphBody.subarray(4 + graphBody.readUInt32LE(0));
const graphWith = (header: string, rest: Buffer = graphRest) => sealedGraphFile(magic, withLength(header), rest);
const oddGraphs = fc.oneof(
  noise,
  spoiltBytes(graphFile),
  { weight: 4, arbitrary: spoiltBytes(graphBody).map((bytes) => sealedGraphFile(magic, bytes)) },
  { weight: 4, arbitrary: spoiltBytes(graphRest).map((bytes) => graphWith(JSON.stringify(graphHeader), bytes)) },
  { weight: 4, arbitrary: spoiltJson(graphHeader).map((text) => graphWith(text)) },
);
/** Every id of a graph that was read is one of its names', and every row is in order. */
function isGraph(result: unknown): void {
  const { numEntities, numRelations, numEdges, relations, tails, offsets } = result as Graph;
  expect(offsets).toHaveLength(numEntities + 1);
  expect(offsets.at(-1)).toBe(numEdges);
  expect([...tails].every((tail) => tail >= 0 && tail < numEntities)).toBe(true);
  expect([...relations].every((relation) => relation >= 0 && relation < numRelations)).toBe(true);
  for (let head = 0; head < numEntities; head++) {
    const row = Array.from(tails, (tail, edge) => relations[edge]! * numEntities + tail);
    const keys = row.slice(offsets[head], offsets[head + 1]);
    expect(keys).toEqual([...new Set(keys)].sort((a, b) => a - b));
  }
}

type Reader = [
  what: string,
  file: string,
  inputs: fc.Arbitrary<Uint8Array>,
  read: (file: string) => unknown,
  more?: Withstand<Uint8Array>,
];
const readers: Reader[] = [
  ['triples', 'triples.txt', hostileBytes(tabs, bars), (file) => graphOf(file)],
  ['triples between bars', 'triples.txt', hostileBytes(tabs, bars), (file) => graphOf(file, '|')],
  ['packed triples', 'triples.txt.gz', spoiltBytes(gzipSync(tabs)), (file) => graphOf(file)],
  ['spoilt triples, packed', 'a.txt.gz', hostileBytes(tabs).map((text) => gzipSync(text)), (file) => graphOf(file)],
  ['RDF with labels', 'triples.nt', statements, (file) => readCustomGraph(file)],
  ['RDF without labels', 'triples.nt', statements, (file) => readCustomGraph(file, { labels: false })],
  ['Turtle', 'triples.ttl', hostileBytes(turtle), (file) => readCustomGraph(file)],
  [
    ...(['triples of the user', 'triples.tsv'] as const),
    fc.oneof(hostileBytes('Heat\tby\tMann\nMann\t~by\tHeat\n'), hostileBytes('a|b|c\nd|b|a\n')),
    (file) => readCustomGraph(file),
  ],
  [
    ...(['dialogues as CSV', 'train.csv'] as const),
    fc.oneof(hostileBytes(csvOf(dialogues)), oddCell),
    readDialogues,
    { check: areDialogues },
  ],
  [
    ...(['dialogues as JSON', 'train.json'] as const),
    hostileJson(dialogues, shortDialogue, { messages: longDialogue }),
    readDialogues,
    { check: areDialogues },
  ],
  [
    ...(['dialogues as JSON lines', 'train.jsonl'] as const),
    hostileJsonLines(...dialogues, { Messages: JSON.stringify(longDialogue) }),
    readDialogues,
    { check: areDialogues },
  ],
  [
    ...(['PathQuestion', 'PQ-2H.txt'] as const),
    hostileBytes(tinyPathQuestion['PQ-2H.txt']),
    (file) => readPathQuestions(file, '2H', 2),
  ],
  [
    ...(['questions of the user', 'questions.jsonl'] as const),
    ownQuestions,
    (file) => readCustomQuestions(file, { graph, resolve: (name) => name }),
    { check: (result) => Object.values(result as object).forEach(areQuestions) },
  ],
  ['matrices of NumPy', 'e.npy', matrices, sumOf],
  [
    ...(['GGUF', 'm.gguf'] as const),
    fc.oneof(noise, { weight: 8, arbitrary: spoiltBytes(tinyGguf({}), oddModel) }),
    modelOf,
    { runs: [60, 10_000] },
  ],
  [
    ...(['safetensors', 'w.safetensors'] as const),
    oddWeights,
    (file) => readSafetensors(file, { finite: true }),
    { check: areTensors },
  ],
  ['graph files', 'graph-kb.bin', oddGraphs, readGraphFile, { check: isGraph }],
];

test('a matrix of no rows has no bytes that bound its width', () => {
  const { write } = hostileFile('empty.npy');
  expect(sumOf(write(npyBytes(new Float32Array(0), 1, { shape: `0, ${2 ** 32 + 1}` })))).toBe(0);
});

test.each(readers)('%s are read, or refused with their place', async (_, name, inputs, read, ...[more]) => {
  const { path, write } = hostileFile(name);
  await withstands(inputs, (bytes) => read(write(bytes)), { place: path, ...more });
});

test('questions of MetaQA are read with their types, or each broken line is named', async () => {
  const [questions, types] = [hostileFile('qa_dev.txt'), hostileFile('qa_dev_qtype.txt')];
  const [text, kinds] = [tinyMetaQa['1-hop/qa_dev.txt'], tinyMetaQa['1-hop/qa_dev_qtype.txt']];
  const inputs = fc.oneof(
    hostileBytes(text).map((bytes) => [bytes, undefined]),
    hostileBytes(text).map((bytes) => [bytes, kinds]),
    spoiltText(kinds).map((odd) => [text, odd]),
  );
  const read = ([rows, typeRows]: (string | Buffer | undefined)[]) =>
    readMetaQaQuestions({
      ...{ hops: 1, file: 'dev', questions: questions.write(rows!) },
      types: typeRows === undefined ? undefined : types.write(typeRows),
    });
  await withstands(inputs, read, { place: questions.path, check: areQuestions });
});

test('a release of OpenDialKG with spoilt triples or relations gives its graphs, or is refused', async () => {
  const files = ['triples_wide', 'triples', 'relations'].map((name) => hostileFile(`opendialkg_${name}.txt`));
  const [wide, some, known] = [wideLines, tripleLines, relationLines].map((lines) => linesOf(...lines)) as string[];
  const inputs = fc.oneof(
    hostileBytes(wide!).map((bytes) => [bytes, some!, known!]),
    hostileBytes(some!).map((bytes) => [wide!, bytes, known!]),
    spoiltText(known!).map((text) => [wide!, some!, text]),
  );
  const read = (texts: (string | Buffer)[]) => {
    const [wideTriples, triples, relations] = files.map(({ write }, i) => write(texts[i]!)) as [string, string, string];
    return importGraphs({ dialogues: '', triples, wideTriples, relations });
  };
  await withstands(inputs, read, { place: 'opendialkg_' });
});

test('answers of WebQuestions are exactly those of their list', () => {
  const list = '(list (description "A \\"b\\"") (description C D))';
  fc.assert(
    fc.property(spoiltText(list), (text) => descriptionsOf(text).every((answer) => answer.trim() !== '')),
    { numRuns: often(50, 300), seed: 1 },
  );
});

describe('what lies about its size allocates nothing', () => {
  test.each([2 ** 31, 2 ** 53 - 1, 1e300])('a graph of %d edges', async (edges) => {
    const bytes = graphWith(JSON.stringify({ ...graphHeader, edges }));
    await expect(readGraphFile(hostileFile('graph-kb.bin').write(bytes))).rejects.toThrow(
      /header.* at .*graph-kb\.bin/,
    );
  });

  test.each([2n ** 31n, 2n ** 40n, 2n ** 53n, 2n ** 63n])('a GGUF header of %d entries or tensors', (count) => {
    for (const about of [{ tensorCount: count }, { entryCount: count }]) {
      const file = hostileFile('m.gguf').write(tinyGguf(about));
      expect(() => readGgufHeader(file)).toThrow(/more than the file can hold|a length of \d+ bytes/);
    }
  });

  test.each([2n ** 31n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n])('a safetensors header of %d bytes', (stated) => {
    expect(() => decodeSafetensors(weightsWith(weightsHeader, stated), 'w.safetensors')).toThrow(
      `expected a header of at most ${headerBytes + weightsData.length} bytes, got ${stated}, at w.safetensors`,
    );
  });

  test.each([
    ['an enormous shape', [2 ** 31, 2 ** 31], [0, 16]],
    ['a shape that overflows into what is there', [2 ** 53 - 1, 2 ** 53 - 1, 0], [0, 16]],
    ['offsets beyond the data', [4], [2 ** 40, 2 ** 40 + 16]],
    ['a negative length', [4], [16, 0]],
  ])('%s', (_name, shape, offsets) => {
    const header = JSON.stringify({ w: { dtype: 'F32', shape, data_offsets: offsets } });
    expect(() => decodeSafetensors(weightsWith(header), 'w.safetensors')).toThrow(/^expected .* at w\.safetensors/);
  });

  test('a line without an end is refused before it fills the memory', async () => {
    const bomb = hostileFile('bomb.txt.gz').write(gzipSync(Buffer.alloc(often(8, 64) * 2 ** 20, 'x')));
    await expect(graphOf(bomb)).rejects.toThrow(/expected lines of at most .* characters, got a longer one.*:1/);
  });

  test('a message nested beyond any stack is refused', async () => {
    const deep = `[${'['.repeat(50_000)}${']'.repeat(50_000)}]`;
    const folder = folderWith({ 'all.json': deep, 'all.jsonl': `${deep}\n`, 'train.csv': `Messages\n"${deep}"\n` });
    for (const name of ['all.json', 'all.jsonl', 'train.csv']) {
      await expect(importDialogues(join(folder, name))).rejects.toThrow(new RegExp(`^expected .* at .*${name}`));
    }
  });
});

describe('takes time in proportion to its length', () => {
  const long = 2 ** often(16, 19);
  // Lines are no longer than these; an expression that goes back, or takes the square of the length, would not end.
  test.each([
    ['a literal', `<a> <b> "${'x'.repeat(2 * long)}" .`],
    ['a literal of escapes', `<a> <b> "${'\\u0041'.repeat(long / 4)}" .`],
    ['a literal that does not end', `<a> <b> "${'\\"'.repeat(long)}`],
    ['an address that does not end', `<${'a'.repeat(2 * long)}`],
    ['dots of a blank node', `_:${'a.'.repeat(long)}`],
    ['spaces', `<a> <b>${' '.repeat(2 * long)}`],
    ['languages', `<a> <b> "c"@a${'-b'.repeat(long)}`],
  ])('RDF: %s', async (_name, line) => {
    for (const name of ['triples.nt', 'triples.ttl']) {
      const file = hostileFile(name).write(line);
      const begun = cpuUsage();
      await readCustomGraph(file).catch(() => {});
      expect(cpuUsage(begun).user).toBeLessThan(5_000_000);
    }
  });

  test('the name in an address with many slashes and a long end', () => {
    const end = 'y'.repeat(2 ** 18);
    expect(localName(`${'x/'.repeat(2 ** 18)}${end}`)).toBe(end);
    expect(localName(`http://x.org/${'x'.repeat(2 ** 18)}/`)).toHaveLength(2 ** 18 + 14);
  });

  test.each<[string, () => unknown]>([
    ['brackets that never close', () => markedTopics('['.repeat(long))],
    ['brackets that close late', () => markedTopics(`${'[a] '.repeat(long / 4)}`)],
    ['a mention inside of words', () => locatedTopic('a'.repeat(long / 16), 'a')],
    ['a list that never ends', () => descriptionsOf('(description "a" '.repeat(long / 16))],
    ['a list of escapes', () => descriptionsOf(`(description "${'\\a'.repeat(long)}`)],
    ['a name of spaces', () => normalizeName(`a${' '.repeat(long)}b`)],
    ['a name of signs', () => normalizeName('.'.repeat(long))],
    ['a name of apostrophes', () => normalizeName("a'".repeat(long / 2))],
    ['a name of digits and dots', () => normalizeName('1.'.repeat(long / 2))],
    ['long names that are alike', () => nearestName('a'.repeat(long), ['b'.repeat(long), 'c'.repeat(long)])],
  ])('%s', (_name, act) => {
    act();
  });
});

/** Releases of questions over a Freebase subgraph: named triples, with mediator nodes (events, n-ary relations) under their ids. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { readTextFile, sha256File } from '../../src/run/files.js';
import type { ImportOptions } from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { type ImportedFile, writeQuestionDataset } from '../questions/write-question-dataset.js';

const triplesFile = 'freebase_named_triples.tsv';
const namesFile = 'mid2name.tsv';

/** Triple files collected around the gold answers of WebQSP, usable to run programs but not as a benchmark. By sha256. */
const knownFixtures: ReadonlySet<string> = new Set([
  '88afaf54fbdf94c4de8e573d55cda99e5834e976fe439b5bece7498e8a2364cc',
]);

export interface FreebaseGraph {
  graph: Graph;
  /** True if scores are meaningless: see `knownFixtures`. */
  fixture: boolean;
  /** Graph name of the entity with an id such as `m.06w2sn5`; undefined if it has none. */
  nameOf(mid: string): string | undefined;
  sources: string[];
}

interface FreebaseRelease<Question> {
  /** Format, name of the subset, and default name of the data set. */
  format: string;
  licence: string;
  /** Start of the names `….train.json` and `….test.json`; one of them is enough. */
  stem: string;
  hint: string;
  /** Folders besides the release's that may hold the Freebase files. */
  beside?: readonly string[];
  readQuestions(path: string): readonly Question[];
  over(freebase: FreebaseGraph): (questions: readonly Question[], split: string) => ImportedFile;
}

/** @throws WorkbenchError `data` (file, reason); see `writeQuestionDataset` */
export async function importOverFreebase<Question>(
  { from, name, home }: ImportOptions,
  { format, licence, stem, hint, beside = [], readQuestions, over }: FreebaseRelease<Question>,
): Promise<QuestionManifest> {
  const present = ['train', 'test']
    .map((split) => ({ split, path: join(from, `${stem}.${split}.json`) }))
    .filter(({ path }) => existsSync(path));
  if (present.length === 0) {
    throw new WorkbenchError('data', `expected ${stem}.train.json or ${stem}.test.json, got neither, at ${from}`, {
      hint,
    });
  }
  const releases = present.map(({ split, path }) => ({ split, questions: readQuestions(path) }));
  const freebase = await readFreebaseGraph([from, ...beside]);
  const { graph, fixture, sources } = freebase;
  const importFile = over(freebase);
  const files = releases.map(({ split, questions }) => [split, importFile(questions, split)] as const);
  return writeQuestionDataset(
    {
      name: name ?? format,
      format,
      licence: `${licence}; Freebase: CC BY`,
      labels: fixture ? ['fixture'] : [],
      graphs: [{ graph, note: freebaseNote(fixture) }],
      subsets: [{ name: format, graph: graph.name, files: Object.fromEntries(files) }],
      sources: [...present.map(({ path }) => path), ...sources],
    },
    home,
  );
}

/**
 * Reads `freebase_named_triples.tsv` (`head TAB relation TAB tail`, names, or ids of unnamed nodes) and, if present, `mid2name.tsv` (`id
 * TAB name`). Entities of equal names are one node.
 * @param folders search path for the triples
 * @throws WorkbenchError `data` if no folder has them, or a line is broken
 */
async function readFreebaseGraph(folders: readonly string[]): Promise<FreebaseGraph> {
  const folder = folders.find((one) => existsSync(join(one, triplesFile)));
  if (folder === undefined) {
    throw new WorkbenchError('data', `expected ${triplesFile}, got none, at ${folders.join(' and ')}`, {
      hint: `Add the triples around the questions' topics: head, relation and tail, separated by tabs.`,
    });
  }
  const triples = join(folder, triplesFile);
  const builder = new GraphBuilder();
  await builder.addFile(triples, {});
  const graph = builder.build('freebase', { addInverses: true });
  const names = join(folder, namesFile);
  const hasNames = existsSync(names);
  const nameByMid = hasNames ? readNames(names) : new Map<string, string>();
  return {
    graph,
    fixture: knownFixtures.has(await sha256File(triples)),
    nameOf: (mid) => (graph.entityId(mid) >= 0 ? mid : nameByMid.get(mid)),
    sources: [triples, ...(hasNames ? [names] : [])],
  };
}

/** Caveats for scores on such a graph. */
function freebaseNote(fixture: boolean): string {
  return fixture
    ? 'FIXTURE: collected partly from gold answers, so scores on it mean nothing; entities of equal names are one node'
    : 'a part of Freebase as it was given; entities of equal names are one node';
}

function readNames(file: string): Map<string, string> {
  const names = new Map<string, string>();
  readTextFile(file, 'names of Freebase ids')
    .split('\n')
    .forEach((line, index) => {
      const row = line.endsWith('\r') ? line.slice(0, -1) : line;
      if (row === '') return;
      const [mid, name, ...more] = row.split('\t');
      if (!mid || !name || more.length > 0) {
        throw new WorkbenchError('data', `expected an id, a tab and a name, at ${file}:${index + 1}`);
      }
      names.set(mid, name);
    });
  return names;
}

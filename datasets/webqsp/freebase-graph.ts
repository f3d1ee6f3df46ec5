/** A part of Freebase as a graph: named triples, with mediators (nodes that stand for an event or a relation) under their ids. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { readTextFile, sha256File } from '../../src/run/files.js';

const triplesFile = 'freebase_named_triples.tsv';
const namesFile = 'mid2name.tsv';

/**
 * Triple files that were collected around the gold answers of WebQSP's questions: fit to run programs on, no benchmark. By
 * the sha256 of their bytes.
 */
const knownFixtures: ReadonlySet<string> = new Set([
  '88afaf54fbdf94c4de8e573d55cda99e5834e976fe439b5bece7498e8a2364cc',
]);

/** A part of Freebase. */
export interface FreebaseGraph {
  graph: Graph;
  /** Whether scores on it mean nothing: see `knownFixtures`. */
  fixture: boolean;
  /** Name of the entity with an id such as `m.06w2sn5`, as the graph writes it; undefined where it has none. */
  nameOf(mid: string): string | undefined;
  sources: string[];
}

/**
 * Reads `freebase_named_triples.tsv` (`head TAB relation TAB tail`, names, or ids of nodes without a name) and, where it is there,
 * `mid2name.tsv` (`id TAB name`). Entities of equal names are one node.
 * @param folders where to look, the first that holds the triples
 * @throws WorkbenchError `data` where no folder holds them, or a line is broken
 */
export async function readFreebaseGraph(folders: readonly string[]): Promise<FreebaseGraph> {
  const folder = folders.find((one) => existsSync(join(one, triplesFile)));
  if (folder === undefined) {
    throw new WorkbenchError('data', `expected ${triplesFile}, got none, at ${folders.join(' and ')}`, {
      hint: `Put the triples around the questions' topics there: head, relation and tail, separated by tabs.`,
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

/** What must be said of such a graph. */
export function freebaseNote(fixture: boolean): string {
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

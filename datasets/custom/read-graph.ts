/** The user's own graph, whichever of the known forms its file has. */
import { WorkbenchError } from '../../src/run/errors.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import { LineProblems } from '../line-problems.js';
import { separatorOf } from '../triple-separator.js';
import { readNTriples } from './read-n-triples.js';

/** A graph with what is known of its names. */
export interface CustomGraph {
  graph: Graph;
  /** Further names, by the name in the graph. */
  aliases: ReadonlyMap<string, readonly string[]>;
  /** The graph's name of an entity or relation that was written as an IRI (with or without `<>`); other names unchanged. */
  resolve: (name: string) => string;
  /** What one must know before trusting a score on it. */
  note: string;
}

/** Files of triples that are looked for, the first found is read. */
export const tripleFiles: readonly string[] = ['nt', 'tsv', 'txt', 'csv'].flatMap((extension) => [
  `triples.${extension}`,
  `triples.${extension}.gz`,
]);

/**
 * Reads N-Triples (`.nt`) or `head TAB relation TAB tail`, with `|` between the fields where the first line has no TAB. Where no relation
 * starts with `~`, inverses are added.
 * @param labels of N-Triples: take `rdfs:label` and `skos:prefLabel` as names and `skos:altLabel` as aliases, not as edges
 * @throws WorkbenchError `data` that lists every broken line, or for no triple at all
 */
export async function readCustomGraph(file: string, labels: boolean): Promise<CustomGraph> {
  const read = /\.nt(\.gz)?$/.test(file) ? await readNTriples(file, labels) : await readDelimited(file);
  if (read.graph.numEdges > 0) return read;
  throw new WorkbenchError('data', `expected triples, got none, at ${file}`, {
    hint: 'Each line is head, relation and tail separated by TAB or |, or a statement of N-Triples.',
  });
}

async function readDelimited(file: string): Promise<CustomGraph> {
  const builder = new GraphBuilder();
  const problems = new LineProblems(file);
  const options = {
    separator: await separatorOf(file),
    onProblem: (line: number, problem: string) => problems.add(line, problem),
  };
  await builder.addFile(file, options);
  problems.throwIfAny();
  const addInverses = !builder.hasInverses;
  return {
    graph: builder.build('graph', { addInverses }),
    aliases: new Map(),
    resolve: (name) => name,
    note: addInverses ? 'inverses (~relation) were added' : 'has its own inverses (~relation)',
  };
}

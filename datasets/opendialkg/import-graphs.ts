/** The graphs of an OpenDialKG release: `dialogue` and, where the wide file is there, `wide`. */
import { WorkbenchError } from '../../src/run/errors.js';
import { readTextFile } from '../../src/run/files.js';
import { nearestName } from '../../src/run/nearest-name.js';
import { printable } from '../../src/run/printable.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import type { ReleaseFiles } from './release-files.js';

/** A graph with what is to be known of its files. */
export interface ImportedGraph {
  graph: Graph;
  /** Lines dropped for a blank field. */
  blankLines: number;
  /** Whether `~` relations were added, because the files hold one direction only. */
  inversesAdded: boolean;
}

/**
 * Reads the triples of a release. `wide` numbers its entities by the wide file, so that ids (and ties broken by them) do
 * not favour dialogue entities; ids of the two graphs differ.
 * @throws WorkbenchError `data` naming file and line, with the nearest name for a relation that is not in the list
 */
export async function importGraphs(files: ReleaseFiles): Promise<ImportedGraph[]> {
  const known = files.relations === undefined ? undefined : relationList(files.relations);
  const graphs = [await importGraph('dialogue', [files.triples], known)];
  if (files.wideTriples !== undefined) {
    graphs.push(await importGraph('wide', [files.wideTriples, files.triples], known));
  }
  return graphs;
}

async function importGraph(
  name: string,
  files: readonly string[],
  known: ReadonlySet<string> | undefined,
): Promise<ImportedGraph> {
  const builder = new GraphBuilder();
  let blankLines = 0;
  for (const file of files) {
    const report = await builder.addFile(file, { dropBlank: true }, (relation, line) => {
      if (known && !known.has(relation)) throw unknownRelation(relation, known, `${file}:${line}`);
    });
    blankLines += report.blank;
  }
  if (builder.numTriples === 0) {
    throw new WorkbenchError('data', `expected triples, got none, at ${files.join(', ')}`, {
      hint: 'Each line is head, relation and tail separated by a TAB.',
    });
  }
  const inversesAdded = !builder.hasInverses;
  return {
    graph: builder.build(name, { addInverses: inversesAdded }),
    blankLines,
    inversesAdded,
  };
}

function relationList(file: string): ReadonlySet<string> {
  return new Set(readTextFile(file, 'a list of relations').split(/\r?\n/));
}

function unknownRelation(relation: string, known: ReadonlySet<string>, place: string): WorkbenchError {
  const near = nearestName(relation, known);
  const got = printable(JSON.stringify(relation), 80);
  return new WorkbenchError('data', `expected a relation of the release's list, got ${got}, at ${place}`, {
    hint: near === undefined ? 'Correct the triple, or add it to the list.' : `Did you mean "${printable(near)}"?`,
  });
}

/** Link data read from its files without importing it: for measurements and for programs that keep no data sets. */
import { basename } from 'node:path';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { findLinkFiles } from './link-files.js';
import { LinkReader } from './link-reader.js';

/** Triples by split, and the graph of the training ones. */
export interface LinkData {
  /** Entities of all splits, edges of train alone, each with its inverse `~relation`. */
  graph: Graph;
  /** By the graph's ids, in the order of the file, each once. */
  train: TripleColumns;
  valid: TripleColumns;
  test: TripleColumns;
}

/**
 * Reads the train, valid and test files of a folder as an import does, without asking whether they overlap. Ids follow the first
 * appearance in that order; inverses come after all relations.
 * @param name of the graph, such as the data's
 * @throws WorkbenchError `data` for files that are missing or broken and for a training file without triples
 */
export async function readLinkData(folder: string, name: string): Promise<LinkData> {
  const files = findLinkFiles(folder);
  const { valid, test } = files;
  if (valid === undefined || test === undefined) {
    throw new WorkbenchError(
      'data',
      `expected train, valid and test, got ${basename(files.train)} alone, at ${folder}`,
    );
  }
  const reader = new LinkReader();
  const read = async (file: string) => (await reader.read(file)).triples.columns();
  const splits = { train: await read(files.train), valid: await read(valid), test: await read(test) };
  if (splits.train.heads.length === 0) {
    throw new WorkbenchError('data', `expected training triples, got none, at ${files.train}`);
  }
  return { graph: reader.graphOf(name, splits.train, [basename(files.train)]), ...splits };
}

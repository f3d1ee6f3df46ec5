/** Files of an imported data set, read only where they are still what the manifest says was imported. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile } from '../src/run/files.js';
import { ofShape, parseJson } from '../src/run/read-json.js';
import type { Graph } from '../src/kg/graph.js';
import { readGraphFile } from '../src/kg/graph-file.js';
import { graphFileName } from './manifest.js';

const hint = 'Import the data set again.';

/**
 * One value a line.
 * @param files sha256 by name, from the manifest
 * @throws WorkbenchError `data` for a file that is missing, cut or altered, or a line of another shape
 */
export function readImportedLines<T>(
  folder: string,
  name: string,
  files: Readonly<Record<string, string>>,
  schema: z.ZodType<T>,
): T[] {
  const file = join(folder, name);
  const text = readTextFile(file, 'a file of an imported data set');
  if (createHash('sha256').update(text).digest('hex') !== files[name]) throw alteredFile(file);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line, i) => {
      const about = { what: 'a line of a data set', place: `${file}:${i + 1}`, hint };
      return ofShape(parseJson(line, about), schema, about);
    });
}

/** @param hash the graph's own, from the manifest. @throws WorkbenchError `data` for a missing, cut, altered or exchanged file */
export async function readImportedGraph(folder: string, name: string, hash: string): Promise<Graph> {
  const file = join(folder, graphFileName(name));
  const graph = await readGraphFile(file);
  if (graph.hash !== hash) throw alteredFile(file);
  return graph;
}

/** The error of a file that is not the one that was imported. */
export function alteredFile(file: string): WorkbenchError {
  return new WorkbenchError('data', `expected the file that was imported, got one that was altered, at ${file}`, {
    hint,
  });
}

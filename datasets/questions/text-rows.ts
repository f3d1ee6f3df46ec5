/** Small text files of a release, as rows. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WorkbenchError } from '../../src/run/errors.js';
import { readTextFile } from '../../src/run/files.js';

/** Lines of a UTF-8 file without their ends (LF or CRLF); the last line break makes no row, empty lines within do. */
export function textRows(file: string, what: string): string[] {
  const rows = readTextFile(file, what).split(/\r?\n/);
  if (rows.at(-1) === '') rows.pop();
  return rows;
}

/** The first of these names that exists in `folder`, as a path. */
export function firstFile(folder: string, names: readonly string[]): string | undefined {
  return names.map((name) => join(folder, name)).find((file) => existsSync(file));
}

/** As `firstFile`, for a file that must be there. @throws WorkbenchError `data` naming the first choice */
export function requiredFile(folder: string, names: readonly string[], what: string): string {
  const file = firstFile(folder, names);
  if (file !== undefined) return file;
  throw new WorkbenchError('data', `expected ${what} (${names.join(' or ')}), got none, at ${folder}`, {
    hint: 'Give the folder of the release with --from.',
  });
}

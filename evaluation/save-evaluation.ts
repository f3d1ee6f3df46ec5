/** Keeps an evaluation in the folder of its run. */
import { join } from 'node:path';
import { writeFileAtomic } from '../src/run/files.js';
import { runFiles } from '../src/run/run-folder.js';
import type { Evaluation } from './evaluate.js';
import { writeRowsArrow } from './rows-file.js';

/**
 * Writes `evaluations/<name>.json` (the record) and `<name>.arrow` (its rows); an earlier one of the name is replaced.
 * No wall clock, so equal evaluations have equal bytes.
 * @param runFolder folder of the run
 * @param name such as `valid-best`
 * @returns path of the record
 */
export async function saveEvaluation(
  runFolder: string,
  name: string,
  { record, rows }: Pick<Evaluation, 'record' | 'rows'>,
): Promise<string> {
  const base = join(runFiles(runFolder).evaluations, name);
  await writeRowsArrow(`${base}.arrow`, rows);
  writeFileAtomic(`${base}.json`, `${JSON.stringify(record, null, 2)}\n`);
  return `${base}.json`;
}

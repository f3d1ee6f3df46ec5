/** Keeps evaluations on links: a run's in its own folder, those of what learns no walk in one of their own. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { configHash } from '../../src/run/config.js';
import { evaluationFiles, runFiles } from '../../src/run/run-folder.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import type { LinkEvaluationRecord } from '../../src/run/link-records.js';
import { linkEvaluationRecord } from '../../src/run/link-schemas.js';
import { readJsonFile } from '../../src/run/read-json.js';
import { evaluationsFolder, finishedFolder } from '../questions/evaluation-folder.js';
import type { LinkEvaluation } from './evaluate-links.js';
import { readLinkRows, writeLinkRows } from './link-rows.js';

/**
 * Writes `evaluations/<name>.json` and `<name>.arrow` in a run; earlier ones of the name are replaced. No wall clock, so equal
 * evaluations have equal bytes.
 * @param name such as `test-best`
 * @returns path of the record
 */
export async function saveRunLinkEvaluation(
  runFolder: string,
  name: string,
  { record, rows }: LinkEvaluation,
): Promise<string> {
  const base = join(runFiles(runFolder).evaluations, name);
  await writeLinkRows(`${base}.arrow`, rows);
  writeRecord(`${base}.json`, record);
  return `${base}.json`;
}

/**
 * Writes a folder of its own: `evaluation.json` and `rows.arrow`. Its name follows from the record without its figures.
 * @param root default `evaluationsFolder()`
 * @returns the folder
 */
export async function saveLinkEvaluation(
  { record, rows }: LinkEvaluation,
  root = evaluationsFolder(),
): Promise<string> {
  const { agent, dataset, split, limit } = record;
  const { directions, chains: _chains, examples: _examples, ...asked } = record;
  const hash = configHash({ ...asked, directions: Object.keys(directions) }).slice(0, 8);
  const words = [agent, dataset, split, ...(limit === undefined ? [] : [`limit${limit}`]), hash];
  const folder = resolve(root, words.join('-').replace(/[^\w.@-]+/g, '-'));
  const files = evaluationFiles(folder);
  await writeLinkRows(files.rows, rows);
  writeRecord(files.evaluation, record);
  return folder;
}

/** Whether a name or folder is that of a kept evaluation on links. */
export function isLinkEvaluation(nameOrFolder: string, root = evaluationsFolder()): boolean {
  const folder = finishedFolder(nameOrFolder, root);
  // An evaluation of questions says what it asked in a file of its own.
  return folder !== undefined && !existsSync(evaluationFiles(folder).about);
}

/**
 * A kept evaluation of what learns no walk.
 * @throws WorkbenchError `data` where there is none
 */
export async function readLinkEvaluation(nameOrFolder: string, root = evaluationsFolder()): Promise<LinkEvaluation> {
  const folder = finishedFolder(nameOrFolder, root);
  if (folder === undefined) {
    throw new WorkbenchError('data', `expected an evaluation on links, got none, at ${resolve(root, nameOrFolder)}`);
  }
  const { evaluation, rows } = evaluationFiles(folder);
  const record = readJsonFile(evaluation, linkEvaluationRecord, 'an evaluation on links');
  return { record, rows: await readLinkRows(rows) };
}

function writeRecord(file: string, record: LinkEvaluationRecord): void {
  writeFileAtomic(file, `${JSON.stringify(record, null, 2)}\n`);
}

/** Which files of a folder are the link data. */
import { statSync } from 'node:fs';
import { WorkbenchError } from '../../src/run/errors.js';
import { firstFile, requiredFile } from '../questions/text-rows.js';

/** Paths of the files of one data set. */
export interface LinkFiles {
  /** All triples where there is neither valid nor test. */
  train: string;
  valid?: string;
  test?: string;
  /** Display names of entities. */
  names?: string;
}

const named = (stem: string): string[] =>
  ['txt', 'tsv'].flatMap((extension) => [`${stem}.${extension}`, `${stem}.${extension}.gz`]);

/**
 * Looks for `train`, `valid` (or `dev`) and `test`, or for `triples` or `train` alone; for `entity2text` or `names`. Each as `.txt` or `.tsv`,
 * also `.gz`; of several forms the first is taken. Given a file instead, it is the triples.
 * @throws WorkbenchError `data` for a folder without triples, or with only one of valid and test
 */
export function findLinkFiles(folder: string): LinkFiles {
  if (statSync(folder, { throwIfNoEntry: false })?.isFile()) return { train: folder };
  const train = requiredFile(folder, [...named('train'), ...named('triples')], 'triples');
  const valid = firstFile(folder, [...named('valid'), ...named('dev')]);
  const test = firstFile(folder, named('test'));
  const names = firstFile(folder, [...named('entity2text'), ...named('names')]);
  if ((valid === undefined) !== (test === undefined)) {
    const [there, lacking] = valid === undefined ? ['test', 'valid'] : ['valid', 'test'];
    throw new WorkbenchError('data', `expected valid and test, got ${there} without ${lacking}, at ${folder}`, {
      hint: 'Give train, valid and test, or all triples in one file: valid and test are then drawn from it.',
    });
  }
  return { train, ...(valid !== undefined && { valid }), ...(test !== undefined && { test }), ...(names && { names }) };
}

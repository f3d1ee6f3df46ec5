/** Which files of a folder make up an OpenDialKG release, or a data set in its format. */
import type { Dirent } from 'node:fs';
import { readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { WorkbenchError } from '../../src/run/errors.js';
import { splitNames } from '../manifest.js';
import type { SplitName } from '../walk-sample.js';
import { dialogueExtensions } from './read-dialogues.js';

/** Paths of the files of a release. */
export interface ReleaseFiles {
  /** One file a split, or one file for all, which is then split by dialogue hash. */
  dialogues: Record<SplitName, string> | string;
  triples: string;
  wideTriples: string | undefined;
  /** The full list of relation names, to check triples against. */
  relations: string | undefined;
}

/**
 * Looks at names only. Triples: `opendialkg_triples.txt` or `triples.txt`, also `.gz`; more of them in `…triples_wide.txt`;
 * `…relations.txt`; dialogues: `train`, `valid` and `test` with `.csv`, `.json` or `.jsonl`, or one such file of any name.
 * @throws WorkbenchError `data` when the folder, the triples, the dialogues or one of the splits is missing, or a choice is open
 */
export function findReleaseFiles(folder: string): ReleaseFiles {
  const names = fileNames(folder);
  const optional = (stem: string) =>
    [`opendialkg_${stem}.txt`, `opendialkg_${stem}.txt.gz`, `${stem}.txt`, `${stem}.txt.gz`].find((name) =>
      names.includes(name),
    );
  const inFolder = (name: string | undefined) => (name === undefined ? undefined : join(folder, name));
  const triples = inFolder(optional('triples'));
  const dialogueNames = names.filter((name) => dialogueExtensions.includes(extname(name).toLowerCase()));
  if (triples === undefined || dialogueNames.length === 0) {
    const missing = triples === undefined ? 'opendialkg_triples.txt' : 'a file of dialogues (.csv, .json or .jsonl)';
    throw new WorkbenchError('data', `expected ${missing}, got ${names.length} other files, at ${folder}`, {
      hint: 'Give the folder that holds the release: opendialkg_triples.txt and train.csv, valid.csv, test.csv, or one opendialkg.csv.',
    });
  }
  return {
    dialogues: findDialogues(folder, dialogueNames),
    triples,
    wideTriples: inFolder(optional('triples_wide')),
    relations: inFolder(optional('relations')),
  };
}

function findDialogues(folder: string, names: string[]): ReleaseFiles['dialogues'] {
  const bySplit = splitNames.map((split) => names.filter((name) => name.slice(0, -extname(name).length) === split));
  if (bySplit.every((found) => found.length === 0)) {
    if (names.length === 1) return join(folder, names[0]!);
    throw new WorkbenchError('data', `expected one file of dialogues, got ${names.join(', ')}, at ${folder}`, {
      hint: 'Name them train, valid and test, or leave one, which is then split by dialogue hash.',
    });
  }
  const [train, valid, test] = bySplit.map((found, index) => {
    if (found.length === 1) return join(folder, found[0]!);
    const got = found.length === 0 ? 'none' : found.join(' and ');
    throw new WorkbenchError('data', `expected one ${splitNames[index]} file, got ${got}, at ${folder}`, {
      hint: 'Give all three of train, valid and test, or a single file of another name, which is split by dialogue hash.',
    });
  });
  return { train: train!, valid: valid!, test: test! };
}

function fileNames(folder: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const got = code === 'ENOENT' ? 'nothing' : code === 'ENOTDIR' ? 'a file' : code;
    throw new WorkbenchError('data', `expected the folder of a release, got ${got}, at ${folder}`, {
      hint: 'Give the folder that holds opendialkg_triples.txt and the dialogues.',
      cause,
    });
  }
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** File discovery and reading of an OpenDialKG release, or a data set in its format. */
import { createHash } from 'node:crypto';
import { type Dirent, readdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { readTextFile } from '../../src/run/files.js';
import { nearestName, printable } from '../../src/run/printable.js';
import type { Dialogue } from '../dialogue.js';
import { type SplitName, splitNames } from '../walk-sample.js';
import { dialogueExtensions, type ParseCounts, readDialogues } from './read-dialogues.js';

export interface ReleaseFiles {
  /** One file per split, or a single file to split by dialogue hash. */
  dialogues: Record<SplitName, string> | string;
  triples: string;
  wideTriples: string | undefined;
  /** List of relation names, to validate triples. */
  relations: string | undefined;
}

/**
 * Looks at names only. Triples: `opendialkg_triples.txt` or `triples.txt`, also `.tsv` and `.gz`; the wide graph in `…triples_wide.txt`;
 * `…relations.txt`; dialogues: `train`, `valid` and `test` with `.csv`, `.json` or `.jsonl`, or a single file of any name.
 * @throws WorkbenchError `data` if the folder, triples, dialogues or a split is missing, or the choice is ambiguous
 */
export function findReleaseFiles(folder: string): ReleaseFiles {
  const names = fileNames(folder);
  const optional = (stem: string) =>
    ['txt', 'txt.gz', 'tsv', 'tsv.gz']
      .flatMap((extension) => [`opendialkg_${stem}.${extension}`, `${stem}.${extension}`])
      .find((name) => names.includes(name));
  const inFolder = (name: string | undefined) => (name === undefined ? undefined : join(folder, name));
  const triples = inFolder(optional('triples'));
  const dialogueNames = names.filter((name) => dialogueExtensions.includes(extname(name).toLowerCase()));
  if (triples === undefined || dialogueNames.length === 0) {
    const missing =
      triples === undefined ? 'opendialkg_triples.txt or triples.txt' : 'a file of dialogues (.csv, .json or .jsonl)';
    const more = names.length > 6 ? ` and ${names.length - 6} more` : '';
    const got = `${names.slice(0, 6).join(', ') || 'no file'}${more}`;
    throw new WorkbenchError('data', `expected ${missing}, got ${got}, at ${folder}`, {
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

export interface ImportedDialogues {
  splitBy: 'file' | 'dialogue hash';
  splits: Record<SplitName, Dialogue[]>;
  /** Dropped items, by file name. */
  counts: Record<string, ParseCounts>;
}

/**
 * Reads the dialogues and assigns whole dialogues to splits, so that no turns of a test dialogue are in train.
 * @throws WorkbenchError `data` with file and row, or for a split without a path
 */
export async function importDialogues(files: ReleaseFiles['dialogues']): Promise<ImportedDialogues> {
  const oneFile = typeof files === 'string';
  const imported: ImportedDialogues = {
    splitBy: oneFile ? 'dialogue hash' : 'file',
    splits: { train: [], valid: [], test: [] },
    counts: {},
  };
  if (oneFile) {
    const { dialogues, counts } = await readDialogues(files);
    for (const dialogue of dialogues) imported.splits[splitOf(dialogue)].push(dialogue);
    imported.counts[basename(files)] = counts;
  } else {
    for (const split of splitNames) {
      const { dialogues, counts } = await readDialogues(files[split]);
      imported.splits[split] = dialogues;
      imported.counts[basename(files[split])] = counts;
    }
  }
  for (const split of splitNames) {
    const dialogues = imported.splits[split];
    if (dialogues.some(({ paths }) => paths.length > 0)) continue;
    const got = dialogues.length === 0 ? 'no dialogue' : `${dialogues.length} dialogues without any path`;
    const place = oneFile ? files : files[split];
    throw new WorkbenchError('data', `expected grounded dialogues in split ${split}, got ${got}, at ${place}`, {
      hint: 'A path is an action kgwalk/choose_path. Name the files train, valid and test to choose the splits yourself.',
    });
  }
  return imported;
}

/** 70 / 15 / 15 by sha256 of messages and speakers: equal dialogues share a split, file order is irrelevant. */
export function splitOf({ messages }: Pick<Dialogue, 'messages'>): SplitName {
  const text = JSON.stringify(messages.map((message) => [message.sender, message.text]));
  const share = createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
  return share < 0.7 ? 'train' : share < 0.85 ? 'valid' : 'test';
}

export interface ImportedGraph {
  graph: Graph;
  blankLines: number;
  /** True if `~` relations were added, as the files hold one direction. */
  inversesAdded: boolean;
}

/**
 * Reads the triples of a release. `wide` numbers entities by the wide file, so that ids (and ties broken by them) do not favour dialogue
 * entities; ids of the two graphs differ.
 * @throws WorkbenchError `data` with file and line, and the nearest name for a relation missing from the list
 */
export async function importGraphs(files: ReleaseFiles): Promise<ImportedGraph[]> {
  const listed = files.relations && readTextFile(files.relations, 'a list of relations');
  const known = listed === undefined ? undefined : new Set(listed.split(/\r?\n/));
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
  return { graph: builder.build(name, { addInverses: inversesAdded }), blankLines, inversesAdded };
}

function unknownRelation(relation: string, known: ReadonlySet<string>, place: string): WorkbenchError {
  const near = nearestName(relation, known);
  const got = printable(JSON.stringify(relation), 80);
  return new WorkbenchError('data', `expected a relation of the release's list, got ${got}, at ${place}`, {
    hint: near === undefined ? 'Correct the triple, or add it to the list.' : `Did you mean "${printable(near)}"?`,
  });
}

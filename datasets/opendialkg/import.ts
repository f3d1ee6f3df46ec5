/** Import of OpenDialKG, or a data set in its format. */
import { basename, join, extname } from 'node:path';
import { writeGraphFile } from '../../src/kg/graph-file.js';
import { writeFileAtomic, readTextFile } from '../../src/run/files.js';
import type { Dialogue } from '../dialogue.js';
import { dialogueFileName, type DialogueManifest } from '../dialogues/dialogue-dataset.js';
import {
  datasetFolder,
  describeGraph,
  describeSources,
  graphFileName,
  jsonLines,
  writeDataset,
} from '../imported-dataset.js';
import { type Importer, type ImportOptions, inSteps } from '../importer.js';
import { splitNames, type SplitName } from '../walk-sample.js';
import { createHash } from 'node:crypto';
import { type Dirent, readdirSync } from 'node:fs';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { nearestName, printable } from '../../src/run/printable.js';
import { dialogueExtensions, type ParseCounts, readDialogues } from './read-dialogues.js';

/**
 * Reads and checks everything, then writes `<home>/datasets/<name>/`: `dataset.json`, `dialogues.<split>.jsonl`, `graph-<graph>.bin`.
 * Nothing is written for bad data.
 * @throws WorkbenchError `data` (file, line or row, reason), `usage` for a bad name, `failure` for disk errors
 */
export async function importOpenDialKg(options: ImportOptions & { origin?: ImportOrigin }): Promise<DialogueManifest> {
  const { from, name = 'opendialkg', home, progress, origin } = options;
  datasetFolder(name, home);
  const files = findReleaseFiles(from);
  return inSteps(progress, 3, async (done) => {
    const dialogues = await importDialogues(files.dialogues);
    done('dialogues read');
    const graphs = await importGraphs(files);
    done('graphs built');
    const fill = (folder: string) => {
      for (const split of splitNames) {
        writeFileAtomic(join(folder, dialogueFileName(split)), jsonLines(dialogues.splits[split]));
      }
      for (const { graph } of graphs) writeGraphFile(join(folder, graphFileName(graph.name)), graph);
    };
    return writeDataset(name, home, fill, (written) => describeImport(name, files, dialogues, graphs, written, origin));
  });
}

/** Entry of `importers.ts`. */
export const opendialkg: Importer<'dialogues'> = { name: 'opendialkg', kind: 'dialogues', import: importOpenDialKg };

/** Shown at import and kept in the manifest. */
const releaseLicence = 'CC-BY-NC-4.0 (OpenDialKG: give credit, non-commercial use only)';

/** Known origin of a data set, in place of its files' statements. */
interface ImportOrigin {
  licence: string;
  /** Caveats for scores on its graphs; replaces the warning about leaking counts. */
  note: string;
  generated: NonNullable<DialogueManifest['generated']>;
}

/** @param written sha256 of the new data set's files, by name */
async function describeImport(
  name: string,
  files: ReleaseFiles,
  dialogues: ImportedDialogues,
  graphs: readonly ImportedGraph[],
  written: Record<string, string>,
  origin?: ImportOrigin,
): Promise<DialogueManifest> {
  const dialogueFiles = typeof files.dialogues === 'string' ? [files.dialogues] : Object.values(files.dialogues);
  const sources = [...dialogueFiles, files.triples, files.wideTriples, files.relations].filter(
    (file) => file !== undefined,
  );
  const { train, valid, test } = dialogues.splits;
  const named = namedEntities([...train, ...valid, ...test]);
  const leftOut = Object.entries(dialogues.counts).map(([file, { dropped: paths, ...others }]) => [
    file,
    { paths, ...others },
  ]);
  return {
    schemaVersion: 1,
    name,
    licence:
      origin?.licence ?? (basename(files.triples).startsWith('opendialkg') ? releaseLicence : 'as its source says'),
    splitBy: dialogues.splitBy,
    splits: { train: countDialogues(train), valid: countDialogues(valid), test: countDialogues(test) },
    leftOut: Object.fromEntries(leftOut),
    graphs: Object.fromEntries(
      graphs.map((imported) => [imported.graph.name, describeImportedGraph(imported, named, origin?.note)]),
    ),
    sources: await describeSources(sources),
    files: written,
    generated: origin?.generated,
  };
}

function countDialogues(dialogues: readonly Dialogue[]) {
  return {
    dialogues: dialogues.length,
    messages: dialogues.reduce((sum, { messages }) => sum + messages.length, 0),
    paths: dialogues.reduce((sum, { paths }) => sum + paths.length, 0),
  };
}

function describeImportedGraph(
  { graph, blankLines, inversesAdded }: ImportedGraph,
  named: ReadonlySet<string>,
  origin: string | undefined,
) {
  const walked = graph.entityNames.filter((entity) => named.has(entity)).length / graph.numEntities;
  const notes = [`${(100 * walked).toFixed(1)} % of its entities occur in a path of these dialogues`];
  if (origin !== undefined) notes.push(origin);
  else if (walked > 0.5)
    notes.push('restricted to dialogue entities, evaluation dialogues included: entity-level counts leak');
  if (graph.name === 'wide') notes.push('united with the triples of graph dialogue');
  if (inversesAdded) notes.push('inverses (~relation) were added: the source holds one direction');
  const { entities, relations, triples, ...rest } = describeGraph(graph, notes.join('; '));
  return { entities, relations, triples, blankLines, ...rest };
}

function namedEntities(dialogues: readonly Dialogue[]): ReadonlySet<string> {
  const triples = dialogues.flatMap(({ paths }) => paths.flatMap((path) => path.triples));
  return new Set(triples.flatMap(([head, , tail]) => [head, tail]));
}

interface ReleaseFiles {
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
function findReleaseFiles(folder: string): ReleaseFiles {
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

interface ImportedDialogues {
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

interface ImportedGraph {
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

/** Imports OpenDialKG, or a data set in its format, from files the user has. */
import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeGraphFile } from '../../src/kg/graph-file.js';
import { sha256File, writeFileAtomic } from '../../src/run/files.js';
import { type ProgressReporter, silentProgress } from '../../src/run/progress.js';
import type { Dialogue } from '../dialogue.js';
import {
  type DialogueManifest,
  dialogueFileName,
  graphFileName,
  manifestFileName,
} from '../dialogues/dialogue-dataset.js';
import { splitNames } from '../walk-sample.js';
import { datasetFolder, replaceFolder } from '../imported-dataset.js';
import {
  findReleaseFiles,
  importDialogues,
  type ImportedDialogues,
  type ImportedGraph,
  importGraphs,
  type ReleaseFiles,
} from './read-release.js';

/** What every importer is given. */
export interface ImportOptions {
  /** Folder of the release; each importer says which files it looks for. */
  from: string;
  /** Name to import under. Default the format, such as `opendialkg`. An existing data set of that name is replaced when all went well. */
  name?: string;
  /** Default `KGWALK_HOME`. */
  home?: string;
  progress?: ProgressReporter;
}

/**
 * Reads and checks everything, then writes `<home>/datasets/<name>/`: `dataset.json`, `dialogues.<split>.jsonl`,
 * `graph-<graph>.bin`. Nothing is written where the data is bad.
 * @throws WorkbenchError `data` (file, line or row, reason), `usage` for a bad name, `failure` when the disk refuses
 */
export async function importOpenDialKg(options: ImportOptions & { origin?: ImportOrigin }): Promise<DialogueManifest> {
  const { from, name = 'opendialkg', home, progress = silentProgress, origin } = options;
  const folder = datasetFolder(name, home);
  const files = findReleaseFiles(from);
  const line = progress('import', 3, 'steps');
  try {
    const dialogues = await importDialogues(files.dialogues);
    line.update(1, 'dialogues read');
    const graphs = await importGraphs(files);
    line.update(2, 'graphs built');
    const manifest = await replaceFolder(folder, async (temporary) => {
      for (const split of splitNames) {
        writeFileAtomic(join(temporary, dialogueFileName(split)), dialogueLines(dialogues.splits[split]));
      }
      for (const { graph } of graphs) writeGraphFile(join(temporary, graphFileName(graph.name)), graph);
      const written: Record<string, string> = {};
      for (const file of readdirSync(temporary).sort()) written[file] = await sha256File(join(temporary, file));
      const description = await describeImport(name, files, dialogues, graphs, written, origin);
      writeFileAtomic(join(temporary, manifestFileName), `${JSON.stringify(description, null, 2)}\n`);
      return description;
    });
    line.update(3, 'written');
    return manifest;
  } finally {
    line.finish();
  }
}

function dialogueLines(dialogues: readonly Dialogue[]): string {
  return dialogues.map((dialogue) => `${JSON.stringify(dialogue)}\n`).join('');
}

/** Shown at import and kept in the manifest. */
const releaseLicence = 'CC-BY-NC-4.0 (OpenDialKG: give credit, non-commercial use only)';

/** What is known of where a data set comes from, in place of what its files say. */
interface ImportOrigin {
  licence: string;
  /** What one must know before trusting a score on its graphs; takes the place of the warning of leaking counts. */
  note: string;
  generated: NonNullable<DialogueManifest['generated']>;
}

/** @param written sha256 of the files of the new data set, by name */
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
  const named = namedEntities(splitNames.flatMap((split) => dialogues.splits[split]));
  return {
    schemaVersion: 1,
    name,
    licence:
      origin?.licence ?? (basename(files.triples).startsWith('opendialkg') ? releaseLicence : 'as its source says'),
    splitBy: dialogues.splitBy,
    splits: {
      train: countDialogues(dialogues.splits.train),
      valid: countDialogues(dialogues.splits.valid),
      test: countDialogues(dialogues.splits.test),
    },
    leftOut: Object.fromEntries(
      Object.entries(dialogues.counts).map(([file, { dropped, otherActions }]) => [
        file,
        { paths: dropped, otherActions },
      ]),
    ),
    graphs: Object.fromEntries(
      graphs.map((imported) => [imported.graph.name, describeGraph(imported, named, origin?.note)]),
    ),
    sources: await Promise.all(sources.map(describeSource)),
    files: written,
    ...(origin && { generated: origin.generated }),
  };
}

function countDialogues(dialogues: readonly Dialogue[]) {
  return {
    dialogues: dialogues.length,
    messages: dialogues.reduce((sum, { messages }) => sum + messages.length, 0),
    paths: dialogues.reduce((sum, { paths }) => sum + paths.length, 0),
  };
}

function describeGraph(
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
  return {
    entities: graph.numEntities,
    relations: graph.numRelations,
    triples: graph.numEdges,
    blankLines,
    madeFrom: [...graph.madeFrom],
    hash: graph.hash,
    note: notes.join('; '),
  };
}

async function describeSource(file: string) {
  return { file: basename(file), bytes: statSync(file).size, sha256: await sha256File(file) };
}

function namedEntities(dialogues: readonly Dialogue[]): ReadonlySet<string> {
  const triples = dialogues.flatMap(({ paths }) => paths.flatMap((path) => path.triples));
  return new Set(triples.flatMap(([head, , tail]) => [head, tail]));
}

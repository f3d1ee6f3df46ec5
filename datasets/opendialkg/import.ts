/** Import of OpenDialKG, or a data set in its format. */
import { basename, join } from 'node:path';
import { writeGraphFile } from '../../src/kg/graph-file.js';
import { writeFileAtomic } from '../../src/run/files.js';
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
import { splitNames } from '../walk-sample.js';
import {
  findReleaseFiles,
  importDialogues,
  type ImportedDialogues,
  type ImportedGraph,
  importGraphs,
  type ReleaseFiles,
} from './read-release.js';

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
export const opendialkg: Importer<'dialogues'> = {
  name: 'opendialkg',
  kind: 'dialogues',
  import: importOpenDialKg,
};

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

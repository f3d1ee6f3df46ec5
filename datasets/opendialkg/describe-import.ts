/** The manifest of an import: counts, licence, hashes, and what to know about each graph. */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { sha256File } from '../../src/run/files.js';
import type { Dialogue } from '../dialogue.js';
import type { DatasetManifest } from '../manifest.js';
import { splitNames } from '../manifest.js';
import type { ImportedDialogues } from './import-dialogues.js';
import type { ImportedGraph } from './import-graphs.js';
import type { ReleaseFiles } from './release-files.js';

/** Shown at import and kept in the manifest. */
const releaseLicence = 'CC-BY-NC-4.0 (OpenDialKG: give credit, non-commercial use only)';

/** What is known of where a data set comes from, in place of what its files say. */
export interface ImportOrigin {
  licence: string;
  /** What one must know before trusting a score on its graphs; takes the place of the warning of leaking counts. */
  note: string;
  generated: NonNullable<DatasetManifest['generated']>;
}

/** @param written sha256 of the files of the new data set, by name */
export async function describeImport(
  name: string,
  files: ReleaseFiles,
  dialogues: ImportedDialogues,
  graphs: readonly ImportedGraph[],
  written: Record<string, string>,
  origin?: ImportOrigin,
): Promise<DatasetManifest> {
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

/** What stands in a data set's `dataset.json`. */
import { z } from 'zod';
import type { Graph } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { madeFrom } from '../../src/run/provenance.js';
import { type Dialogue, dialogueSchema } from '../dialogue.js';
import {
  alteredFiles,
  datasetFolder,
  everyDataset,
  type LocateOptions,
  readImportedGraph,
  readImportedLines,
  readManifest,
} from '../imported-dataset.js';
import { splitNames, type SplitName } from '../walk-sample.js';

const count = z.number().int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Of subsets, release files and graphs: they become parts of file names. */
export const partName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/i);
/** sha256 by file of the folder; no name leads out of it. */
export const filesSchema = z.record(z.string().regex(/^[^./\\\0][^/\\\0]*$/), sha256);

const splitSchema = z.strictObject({
  dialogues: count,
  messages: count,
  /** Samples with `turns: all`. */
  paths: count,
});

const leftOutSchema = z.strictObject({
  /** Paths left out, by reason. */
  paths: z.record(z.string(), count),
  /** Actions that carry no path. */
  otherActions: count,
});

const graphSchema = z.strictObject({
  entities: count,
  relations: count,
  /** Distinct edges. */
  triples: count,
  /** Lines dropped for a blank field. */
  blankLines: count,
  /** The source files that its triples were read from, noted as they were read; absent in older imports. */
  madeFrom: z.array(z.string()).optional(),
  /** Equals `Graph.hash`: what a checkpoint is tied to. */
  hash: sha256,
  /** What one must know before trusting a score on this graph. */
  note: z.string(),
});

/** What made a data set that a program made, and with which settings: with them it can be made again. */
export const generatedSchema = z.strictObject({
  /** The command. */
  by: z.string(),
  settings: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
});

/** The shape of `dataset.json`; unknown keys are refused. */
const manifestSchema = z.strictObject({
  schemaVersion: z.literal(1),
  name: z.string(),
  licence: z.string(),
  splitBy: z.enum(['file', 'dialogue hash']),
  splits: z.record(z.enum(['train', 'valid', 'test']), splitSchema),
  /** What was not imported, by source file. */
  leftOut: z.record(z.string(), leftOutSchema),
  graphs: z.record(partName, graphSchema),
  /** The files it was imported from. */
  sources: z.array(z.strictObject({ file: z.string(), bytes: count, sha256 })),
  /** sha256 of every other file of the folder. */
  files: filesSchema,
  generated: generatedSchema.optional(),
});

/** What was imported, from what, what was left out, and how to check that it is still the same. */
export type DialogueManifest = z.output<typeof manifestSchema>;

/** Hash of the files that a data set was imported from: equal imports, equal hash. */
export const sourcesHash = ({ sources }: DialogueManifest): string => configHash(sources);

/** Name of the file of a graph. */
export const graphFileName = (graph: string): string => `graph-${graph}.bin`;

/** Name of the file of a split's dialogues. */
export const dialogueFileName = (split: SplitName): string => `dialogues.${split}.jsonl`;

/** Name of the file of the manifest. */
export const manifestFileName = 'dataset.json';

/** An imported data set. */
export interface DialogueDataset {
  manifest: DialogueManifest;
  folder: string;
  /**
   * Loads a graph from disk, each time anew: keep it.
   * @param name default `dialogue`
   * @throws WorkbenchError `config` for a name the data set lacks, `data` for a damaged file
   */
  loadGraph(name?: string): Promise<Graph>;
  /** All dialogues of a split, in order. @throws WorkbenchError `data` for a damaged file */
  loadDialogues(split: SplitName): Dialogue[];
}

/** @throws WorkbenchError `data` when no such data set was imported, it holds questions, or its manifest cannot be read */
export function loadDialogueDataset(name: string, options: LocateOptions = {}): DialogueDataset {
  const folder = datasetFolder(name, options.home);
  const manifest = readManifest(name, 'dialogues', manifestSchema, options);
  return {
    manifest,
    folder,
    loadGraph: async (graph = 'dialogue') => {
      if (!Object.hasOwn(manifest.graphs, graph)) {
        const graphs = Object.keys(manifest.graphs).join(', ');
        throw new WorkbenchError('config', `expected a graph of ${name} (${graphs}), got "${graph}", at data.graph`, {
          hint:
            graph === 'wide'
              ? 'Import again with opendialkg_triples_wide.txt in the folder.'
              : 'Choose one of these graphs.',
        });
      }
      const { hash, triples, madeFrom: files } = manifest.graphs[graph]!;
      madeFrom('edge list', `graph ${graph}`, { hash, triples, ...(files && { files }) });
      return readImportedGraph(folder, graph, hash);
    },
    loadDialogues: (split) => readImportedLines(folder, dialogueFileName(split), manifest.files, dialogueSchema),
  };
}

/** Manifests of all imported data sets of dialogues, by name. A folder whose manifest cannot be read is left out. */
export function listDialogueDatasets(options: LocateOptions = {}): DialogueManifest[] {
  return everyDataset((name) => readManifest(name, 'dialogues', manifestSchema, options), options);
}

/** Compares files, hashes and counts with the manifest. @returns one sentence a problem; empty when all is well */
export async function checkDialogueDataset({
  folder,
  manifest,
  loadDialogues,
  loadGraph,
}: DialogueDataset): Promise<string[]> {
  const problems = await alteredFiles(folder, manifest.files);
  if (problems.length > 0) return problems;

  const expectEqual = (what: string, expected: unknown, got: unknown) => {
    if (expected !== got) problems.push(`expected ${what} ${String(expected)}, got ${String(got)}, at ${folder}`);
  };
  try {
    for (const split of splitNames) {
      const paths = loadDialogues(split).reduce((sum, dialogue) => sum + dialogue.paths.length, 0);
      expectEqual(`paths in ${split}`, manifest.splits[split].paths, paths);
    }
    for (const [name, expected] of Object.entries(manifest.graphs)) {
      const graph = await loadGraph(name);
      expectEqual(`triples in graph ${name}`, expected.triples, graph.numEdges);
      expectEqual(`hash of graph ${name}`, expected.hash, graph.hash);
    }
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw error;
    problems.push(error.message);
  }
  return problems;
}

/** Dialogue data sets by name: manifest, loading, integrity check. */
import { z } from 'zod';
import type { Graph } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config-values.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { madeFrom } from '../../src/run/provenance.js';
import { type Dialogue, dialogueSchema } from '../dialogue.js';
import {
  checkImported,
  count,
  type DatasetCheck,
  filesSchema,
  generatedSchema,
  graphSchema,
  type ImportedDataset,
  type LocateOptions,
  openImported,
  partName,
  readImportedGraph,
  readImportedLines,
  sourcesSchema,
} from '../imported-dataset.js';
import { type SplitName, splitNames } from '../walk-sample.js';

const splitSchema = z.strictObject({
  dialogues: count,
  messages: count,
  /** Samples with `turns: all`. */
  paths: count,
});

const leftOutSchema = z.strictObject({
  paths: z.record(z.string(), count),
  /** Actions without a path. */
  otherActions: count,
});

const { entities, relations, triples, ...others } = graphSchema.shape;
const dialogueGraphSchema = z.strictObject({ entities, relations, triples, blankLines: count, ...others });

/** Schema of `dataset.json`; unknown keys are refused. */
export const dialogueManifestSchema = z.strictObject({
  schemaVersion: z.literal(1),
  name: z.string(),
  licence: z.string(),
  splitBy: z.enum(['file', 'dialogue hash']),
  splits: z.record(z.enum(['train', 'valid', 'test']), splitSchema),
  /** Dropped items, by source file. */
  leftOut: z.record(z.string(), leftOutSchema),
  graphs: z.record(partName, dialogueGraphSchema),
  sources: sourcesSchema,
  files: filesSchema,
  generated: generatedSchema.optional(),
});

/** Manifest: content, sources, dropped items, checksums. */
export type DialogueManifest = z.output<typeof dialogueManifestSchema>;

/** Hash of the source files: equal imports, equal hash. */
export const sourcesHash = ({ sources }: DialogueManifest): string => configHash(sources);

/** File name of a split's dialogues. */
export const dialogueFileName = (split: SplitName): string => `dialogues.${split}.jsonl`;

/** An imported data set. */
export interface DialogueDataset extends ImportedDataset<DialogueManifest> {
  /**
   * Loads a graph from disk at each call; keep it.
   * @param name default `dialogue`
   * @throws WorkbenchError `config` for an unknown name, `data` for a damaged file
   */
  loadGraph(name?: string): Promise<Graph>;
  /** All dialogues of a split, in order. @throws WorkbenchError `data` for a damaged file */
  loadDialogues(split: SplitName): Dialogue[];
}

/** @throws WorkbenchError `data` for an unknown data set, one of another kind, or an unreadable manifest */
export function loadDialogueDataset(name: string, options: LocateOptions = {}): DialogueDataset {
  const { manifest, folder } = openImported(name, 'dialogues', dialogueManifestSchema, options);
  return {
    manifest,
    folder,
    loadGraph: async (graph = 'dialogue') => {
      if (!Object.hasOwn(manifest.graphs, graph)) {
        const graphs = Object.keys(manifest.graphs).join(', ');
        const wide = 'Import again with opendialkg_triples_wide.txt in the folder.';
        const hint = graph === 'wide' ? wide : 'Choose one of these graphs.';
        const expected = `expected a graph of ${name} (${graphs})`;
        throw new WorkbenchError('config', `${expected}, got "${graph}", at data.graph`, { hint });
      }
      const { hash, triples, madeFrom: files } = manifest.graphs[graph]!;
      madeFrom('edge list', `graph ${graph}`, { hash, triples, ...(files && { files }) });
      return readImportedGraph(folder, graph, hash);
    },
    loadDialogues: (split) => readImportedLines(folder, dialogueFileName(split), manifest.files, dialogueSchema),
  };
}

/** Compares files, hashes and counts with the manifest. @throws WorkbenchError `data` for an unknown data set or an unreadable manifest */
export async function checkDialogueDataset(name: string, options: LocateOptions = {}): Promise<DatasetCheck> {
  const dataset = loadDialogueDataset(name, options);
  return checkImported(dataset, async (expectEqual) => {
    for (const split of splitNames) {
      const paths = dataset.loadDialogues(split).reduce((sum, dialogue) => sum + dialogue.paths.length, 0);
      expectEqual(`paths in ${split}`, dataset.manifest.splits[split].paths, paths);
    }
    for (const [name, expected] of Object.entries(dataset.manifest.graphs)) {
      const graph = await dataset.loadGraph(name);
      expectEqual(`triples in graph ${name}`, expected.triples, graph.numEdges);
      expectEqual(`hash of graph ${name}`, expected.hash, graph.hash);
    }
  });
}

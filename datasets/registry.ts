/** Data sets of dialogues by name: what is imported, and loading it. */
import { WorkbenchError } from '../src/run/errors.js';
import { madeFrom } from '../src/run/provenance/notes.js';
import type { Graph } from '../src/kg/graph.js';
import { datasetFolder } from './dataset-folder.js';
import { dialogueSchema, type Dialogue } from './dialogue.js';
import { readImportedGraph, readImportedLines } from './imported-files.js';
import type { DatasetManifest } from './manifest.js';
import { dialogueFileName, manifestSchema } from './manifest.js';
import type { LocateOptions } from './manifest-file.js';
import { everyDataset, readManifest } from './manifest-file.js';
import type { SplitName } from './walk-sample.js';

/** An imported data set. */
export interface Dataset {
  manifest: DatasetManifest;
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
export function loadDataset(name: string, options: LocateOptions = {}): Dataset {
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
export function listDatasets(options: LocateOptions = {}): DatasetManifest[] {
  return everyDataset((name) => readManifest(name, 'dialogues', manifestSchema, options), options);
}

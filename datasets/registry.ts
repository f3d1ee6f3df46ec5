/** Data sets by name: what is imported, and loading it. */
import type { Dirent } from 'node:fs';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile } from '../src/run/files.js';
import { nearestName } from '../src/run/nearest-name.js';
import type { Graph } from '../src/kg/graph.js';
import { readGraphFile } from '../src/kg/graph-file.js';
import { datasetFolder, datasetsRoot } from './dataset-folder.js';
import type { Dialogue } from './dialogue.js';
import type { DatasetManifest } from './manifest.js';
import { dialogueFileName, graphFileName, manifestFileName, manifestSchema } from './manifest.js';
import type { SplitName } from './walk-sample.js';

/** Where to look. */
export interface LocateOptions {
  /** Default `KGWALK_HOME`. */
  home?: string;
}

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

/** @throws WorkbenchError `data` when no such data set was imported or its manifest cannot be read */
export function loadDataset(name: string, { home }: LocateOptions = {}): Dataset {
  const folder = datasetFolder(name, home);
  const manifest = readManifest(name, folder, home);
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
      return readGraphFile(join(folder, graphFileName(graph)));
    },
    loadDialogues: (split) => readSplit(folder, split, manifest.splits[split].dialogues),
  };
}

/** Manifests of all imported data sets, by name. A folder whose manifest cannot be read is left out. */
export function listDatasets({ home }: LocateOptions = {}): DatasetManifest[] {
  return importedNames(home).flatMap((name) => {
    try {
      return [loadDataset(name, { home }).manifest];
    } catch (error) {
      if (error instanceof WorkbenchError) return [];
      throw error;
    }
  });
}

function importedNames(home: string | undefined): string[] {
  const root = datasetsRoot(home);
  const entries: Dirent[] = existsSync(root) ? readdirSync(root, { withFileTypes: true }) : [];
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

function readManifest(name: string, folder: string, home: string | undefined): DatasetManifest {
  const file = join(folder, manifestFileName);
  if (!existsSync(file)) {
    const near = nearestName(name, importedNames(home));
    throw new WorkbenchError('data', `expected an imported data set, got "${name}", at ${folder}`, {
      hint: near
        ? `Did you mean "${near}"?`
        : `Import it: kgwalk datasets import opendialkg --from DIR${name === 'opendialkg' ? '' : ` --name ${name}`}`,
    });
  }
  try {
    return manifestSchema.parse(JSON.parse(readTextFile(file, 'a data set manifest')));
  } catch (cause) {
    if (cause instanceof WorkbenchError) throw cause;
    throw new WorkbenchError('data', `expected a data set manifest of this version, got another, at ${file}`, {
      hint: 'Import the data set again.',
      cause,
    });
  }
}

function readSplit(folder: string, split: SplitName, expected: number): Dialogue[] {
  const file = join(folder, dialogueFileName(split));
  const lines = readTextFile(file, `the ${split} dialogues`).split('\n').filter(Boolean);
  if (lines.length !== expected) {
    throw new WorkbenchError('data', `expected ${expected} dialogues, got ${lines.length}, at ${file}`, {
      hint: 'Import the data set again.',
    });
  }
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as Dialogue;
    } catch (cause) {
      throw new WorkbenchError('data', `expected a dialogue, got damaged JSON, at ${file}:${index + 1}`, {
        hint: 'Import the data set again.',
        cause,
      });
    }
  });
}

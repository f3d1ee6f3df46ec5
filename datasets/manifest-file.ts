/** `dataset.json` of an imported data set, before anything is known of its kind. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile } from '../src/run/files.js';
import { nearestName } from '../src/run/nearest-name.js';
import { ofShape, parseJson } from '../src/run/read-json.js';
import { datasetFolder, datasetsRoot } from './dataset-folder.js';
import { manifestFileName } from './manifest.js';

/** Where to look. */
export interface LocateOptions {
  /** Default `KGWALK_HOME`. */
  home?: string;
}

/** What a data set holds: dialogues with paths (OpenDialKG's format), questions with answers, or links: triples to be predicted. */
export type DatasetKind = 'dialogues' | 'questions' | 'links';

const remedy: Record<DatasetKind, string> = {
  dialogues: 'Dialogue agents and their training read opendialkg and data in its form.',
  questions: 'Question answering reads metaqa and the like.',
  links: 'Link queries read what `kgwalk datasets import triples` made.',
};

/** @throws WorkbenchError `data` when no such data set was imported, or its manifest cannot be read */
export function datasetKind(name: string, { home }: LocateOptions = {}): DatasetKind {
  return kindOf(readRaw(name, home));
}

/**
 * The manifest of a data set, checked against the schema of its kind.
 * @throws WorkbenchError `data` when no such data set was imported, it is of another kind, or its manifest is bad
 */
export function readManifest<S extends z.ZodType>(
  name: string,
  kind: DatasetKind,
  schema: S,
  { home }: LocateOptions = {},
): z.output<S> {
  const raw = readRaw(name, home);
  const file = join(datasetFolder(name, home), manifestFileName);
  const found = kindOf(raw);
  if (found !== kind) {
    const walked = found === 'links' ? ' Links are walked with env.id=kgwalk/LinkQuery-v1.' : '';
    throw new WorkbenchError('data', `expected a data set of ${kind}, got "${name}" of ${found}, at ${file}`, {
      hint: remedy[kind] + walked,
    });
  }
  return ofShape(raw, schema, { ...about, place: file });
}

/** Names of the folders of imported data sets, sorted. */
function importedNames({ home }: LocateOptions = {}): string[] {
  const root = datasetsRoot(home);
  const entries = existsSync(root) ? readdirSync(root, { withFileTypes: true }) : [];
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

/** What `load` gives for every imported data set, by name; those it refuses as expected (WorkbenchError) are left out. */
export function everyDataset<T>(load: (name: string) => T, options: LocateOptions = {}): T[] {
  return importedNames(options).flatMap((name) => {
    try {
      return [load(name)];
    } catch (error) {
      if (error instanceof WorkbenchError) return [];
      throw error;
    }
  });
}

/** Manifests of dialogues are older than kinds and state none. */
function kindOf(raw: unknown): DatasetKind {
  const kind = (raw as { kind?: unknown } | null)?.kind;
  return kind === 'questions' || kind === 'links' ? kind : 'dialogues';
}

function readRaw(name: string, home: string | undefined): unknown {
  const folder = datasetFolder(name, home);
  const file = join(folder, manifestFileName);
  if (!existsSync(file)) {
    const near = nearestName(name, importedNames({ home }));
    throw new WorkbenchError('data', `expected an imported data set, got "${name}", at ${folder}`, {
      hint: near ? `Did you mean "${near}"?` : `Import it: kgwalk datasets import FORMAT --from DIR --name ${name}`,
    });
  }
  return parseJson(readTextFile(file, about.what), { ...about, place: file });
}

const about = { what: 'a data set manifest of this version', hint: 'Import the data set again.' };

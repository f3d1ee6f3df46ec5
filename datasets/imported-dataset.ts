/** `dataset.json` of an imported data set, before anything is known of its kind. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { z } from 'zod';
import { readGraphFile } from '../src/kg/graph-file.js';
import type { Graph } from '../src/kg/graph.js';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile, sha256File, writeError } from '../src/run/files.js';
import { kgwalkHome } from '../src/run/locations.js';
import { nearestName } from '../src/run/printable.js';
import { ofShape, parseJson } from '../src/run/read-json.js';
import { lockFolder } from '../src/run/run-lock.js';
import { graphFileName, manifestFileName } from './dialogues/dialogue-dataset.js';

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

/** The folder of all data sets. @param home default `KGWALK_HOME` */
function datasetsRoot(home: string = kgwalkHome()): string {
  return join(home, 'datasets');
}

/**
 * The folder of one data set, whether it exists or not.
 * @throws WorkbenchError `usage` for a name that is no plain folder name
 */
export function datasetFolder(name: string, home?: string): string {
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name)) {
    throw new WorkbenchError('usage', `expected a data set name, got ${JSON.stringify(name)}`, {
      hint: 'Use letters, digits, dots, dashes and underscores, starting with a letter or digit.',
    });
  }
  return join(datasetsRoot(home), name);
}

/**
 * Lets `fill` write a new folder beside `folder`, then puts it in its place. When `fill` fails nothing is left of the
 * new one and the old one stays; what a killed process left behind is cleared by the next call for the same folder.
 * @returns what `fill` returned
 * @throws WorkbenchError `usage` while another process replaces a data set of the same home
 */
export async function replaceFolder<T>(folder: string, fill: (temporary: string) => Promise<T>): Promise<T> {
  const root = dirname(folder);
  const temporary = join(root, `.${basename(folder)}.new`);
  const old = join(root, `.${basename(folder)}.old`);
  try {
    mkdirSync(root, { recursive: true });
    const unlock = lockFolder(root);
    try {
      rmSync(temporary, { recursive: true, force: true });
      if (existsSync(old) && !existsSync(folder)) renameSync(old, folder);
      mkdirSync(temporary);
      const filled = await fill(temporary);
      // A folder that is not empty cannot be renamed over: the old one steps aside, for a moment.
      rmSync(old, { recursive: true, force: true });
      if (existsSync(folder)) renameSync(folder, old);
      renameSync(temporary, folder);
      rmSync(old, { recursive: true, force: true });
      return filled;
    } finally {
      rmSync(temporary, { recursive: true, force: true });
      unlock();
    }
  } catch (error) {
    throw writeError(error, folder);
  }
}

/**
 * @param files sha256 by name, from the manifest
 * @returns one sentence a file that is missing or differs
 */
export async function alteredFiles(folder: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, sha256] of Object.entries(files)) {
    const file = join(folder, name);
    if (!existsSync(file)) problems.push(`${file} is missing`);
    else if ((await sha256File(file)) !== sha256)
      problems.push(`${file} was altered: its sha256 differs from the manifest`);
  }
  return problems;
}

const hint = 'Import the data set again.';

/**
 * One value a line.
 * @param files sha256 by name, from the manifest
 * @throws WorkbenchError `data` for a file that is missing, cut or altered, or a line of another shape
 */
export function readImportedLines<T>(
  folder: string,
  name: string,
  files: Readonly<Record<string, string>>,
  schema: z.ZodType<T>,
): T[] {
  const file = join(folder, name);
  const text = readTextFile(file, 'a file of an imported data set');
  if (createHash('sha256').update(text).digest('hex') !== files[name]) throw alteredFile(file);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line, i) => {
      const about = { what: 'a line of a data set', place: `${file}:${i + 1}`, hint };
      return ofShape(parseJson(line, about), schema, about);
    });
}

/** @param hash the graph's own, from the manifest. @throws WorkbenchError `data` for a missing, cut, altered or exchanged file */
export async function readImportedGraph(folder: string, name: string, hash: string): Promise<Graph> {
  const file = join(folder, graphFileName(name));
  const graph = await readGraphFile(file);
  if (graph.hash !== hash) throw alteredFile(file);
  return graph;
}

/** The error of a file that is not the one that was imported. */
export function alteredFile(file: string): WorkbenchError {
  return new WorkbenchError('data', `expected the file that was imported, got one that was altered, at ${file}`, {
    hint,
  });
}

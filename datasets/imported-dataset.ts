/** Imported data sets on disk, common to all kinds: location, manifest parts, files, writing, checking. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { readGraphFile } from '../src/kg/graph-file.js';
import type { Graph } from '../src/kg/graph.js';
import { WorkbenchError } from '../src/run/errors.js';
import { makeFolder, readTextFile, sha256File, writeError, writeFileAtomic } from '../src/run/files.js';
import { kgwalkHome } from '../src/run/locations.js';
import { nearestName } from '../src/run/printable.js';
import { ofShape, parseJson } from '../src/run/read-json.js';
import { type Removal, removeInside } from '../src/run/remove.js';
import { lockFile } from '../src/run/run-lock.js';
import { releases } from './releases.js';

/** Location of data sets. */
export interface LocateOptions {
  /** Default `KGWALK_HOME`. */
  home?: string;
}

/** Dialogues with paths (OpenDialKG's format), questions with answers, or links (triples to predict). */
export type DatasetKind = 'dialogues' | 'questions' | 'links';

/** Count in a manifest. */
export const count = z.number().int().min(0);
/** Hash in a manifest, hex. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Name of a subset, release file or graph; part of file names. */
export const partName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/i);
/** Source files of a data set. */
export const sourcesSchema = z.array(z.strictObject({ file: z.string(), bytes: count, sha256 }));
/** sha256 of every other file of the folder, by name; paths outside the folder are refused. */
export const filesSchema = z.record(z.string().regex(/^[^./\\\0][^/\\\0]*$/), sha256);
/** Generator of a generated data set and its settings, to reproduce it. */
export const generatedSchema = z.strictObject({
  by: z.string(),
  settings: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
});
/** Graph of dialogues or questions. */
export const graphSchema = z.strictObject({
  entities: count,
  relations: count,
  /** Distinct edges, inverses included. */
  triples: count,
  /** Source files of its triples; absent for generated graphs. */
  madeFrom: z.array(z.string()).optional(),
  /** Equals `Graph.hash`, which checkpoints are tied to. */
  hash: sha256,
  /** Caveats for scores on this graph. */
  note: z.string(),
});

/** Sentences on everything that the import left out, chose or noticed. */
export const notesSchema = z.array(z.string()).optional();

/** File name of the manifest. */
export const manifestFileName = 'dataset.json';

/** File name of a graph. */
export const graphFileName = (graph: string): string => `graph-${graph}.bin`;

const hint = 'Import the data set again.';
const about = { what: 'a data set manifest of this version', hint };

const remedy: Record<DatasetKind, string> = {
  dialogues: 'Dialogue agents and their training need opendialkg or data in its format.',
  questions: 'Question answering needs data such as metaqa.',
  links: 'Link queries need data of `kgwalk datasets import triples`.',
};

const datasetsRoot = (home: string = kgwalkHome()): string => join(home, 'datasets');

/**
 * Folder of a data set, existing or not. Readers find a complete data set at every moment of a replacement and after any kill: normally
 * under `NAME`; between the two renames the old one is `.NAME.old`.
 * @param home default `KGWALK_HOME`
 * @throws WorkbenchError `usage` for an invalid folder name
 */
export function datasetFolder(name: string, home?: string): string {
  const { folder, old } = placesOf(name, home);
  // Looked up again, as it may have appeared in between.
  return [folder, old, folder].find((place) => existsSync(join(place, manifestFileName))) ?? folder;
}

/** Paths of the current, the new and the previous version. */
function placesOf(name: string, home?: string) {
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name)) {
    throw new WorkbenchError('usage', `expected a data set name, got ${JSON.stringify(name)}`, {
      hint: 'Use letters, digits, dots, dashes and underscores, starting with a letter or digit.',
    });
  }
  const root = datasetsRoot(home);
  const sibling = (what: string) => join(root, `.${name}.${what}`);
  return { root, folder: join(root, name), next: sibling('new'), old: sibling('old'), lock: sibling('lock') };
}

/** Folder names of imported data sets, sorted. */
export function importedNames({ home }: LocateOptions = {}): string[] {
  const root = datasetsRoot(home);
  const entries = existsSync(root) ? readdirSync(root, { withFileTypes: true }) : [];
  const names = entries.flatMap(({ name }) => (name.startsWith('.') ? (/^\.(.+)\.old$/.exec(name)?.[1] ?? []) : name));
  const isFolder = (name: string) => statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory() ?? false;
  return [...new Set(names)]
    .filter((name) => isFolder(name) || existsSync(join(root, `.${name}.old`, manifestFileName)))
    .sort();
}

/** @throws WorkbenchError `data` for an unknown data set or an unreadable manifest */
export const datasetKind = (name: string, options: LocateOptions = {}): DatasetKind => readRaw(name, options).kind;

/** Imported data set before its files are read. */
export type ImportedDataset<Manifest> = { readonly manifest: Manifest; readonly folder: string };

/**
 * Folder and manifest of a data set, validated by the schema of its kind.
 * @throws WorkbenchError `data` for an unknown data set, one of another kind, or a bad manifest
 */
export function openImported<Manifest>(
  name: string,
  kind: DatasetKind,
  schema: z.ZodType<Manifest>,
  options: LocateOptions = {},
): ImportedDataset<Manifest> {
  const { raw, folder, file, kind: found } = readRaw(name, options);
  if (found !== kind) {
    const walked = found === 'links' ? ' Links are walked with env.id=kgwalk/LinkQuery-v1.' : '';
    throw new WorkbenchError('data', `expected a data set of ${kind}, got "${name}" of ${found}, at ${file}`, {
      hint: remedy[kind] + walked,
    });
  }
  return { manifest: ofShape(raw, schema, { ...about, place: file }), folder };
}

/** Command that brings a data set of this name: what is public or generated has one of its own. */
function commandFor(name: string, home: string | undefined): string {
  if (releases.some((release) => release.name === name)) return `Get it: kgwalk datasets get ${name}`;
  if (/^demo(-questions)?$/.test(name)) return 'Make it: kgwalk datasets demo';
  const near = nearestName(name, importedNames({ home }));
  return near ? `Did you mean "${near}"?` : `Import it: kgwalk datasets import FORMAT --from DIR --name ${name}`;
}

function placeOfManifest(name: string, home: string | undefined) {
  const folder = datasetFolder(name, home);
  const file = join(folder, manifestFileName);
  if (existsSync(file)) return { folder, file };
  throw new WorkbenchError('data', `expected an imported data set, got "${name}", at ${folder}`, {
    hint: commandFor(name, home),
  });
}

function readRaw(name: string, { home }: LocateOptions) {
  const { folder, file } = placeOfManifest(name, home);
  const raw = parseJson(readTextFile(file, about.what), { ...about, place: file });
  // Those of dialogues state no kind.
  const stated = (raw as { kind?: unknown } | null)?.kind;
  const kind: DatasetKind = stated === 'questions' || stated === 'links' ? stated : 'dialogues';
  return { raw, folder, file, kind };
}

/**
 * Values of a JSON-lines file.
 * @param files sha256 by name, from the manifest
 * @throws WorkbenchError `data` for a missing, truncated or altered file, or an invalid line
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

/** @param hash of the graph, from the manifest @throws WorkbenchError `data` for a missing, truncated, altered or swapped file */
export async function readImportedGraph(folder: string, name: string, hash: string): Promise<Graph> {
  const file = join(folder, graphFileName(name));
  const graph = await readGraphFile(file);
  if (graph.hash !== hash) throw alteredFile(file);
  return graph;
}

/** Error for a file that differs from the imported one. */
export function alteredFile(file: string): WorkbenchError {
  return new WorkbenchError('data', `expected the imported file, got an altered one, at ${file}`, { hint });
}

/** Result of a check. */
export interface DatasetCheck {
  files: number;
  /** One sentence per problem; empty if all is well. */
  problems: string[];
  /** Sentences on problems of scores on the data, the files being as imported. */
  notes: string[];
}

/** Compares files with the manifest; if they are unchanged, also counts and hashes by `compare`. */
export async function checkImported(
  { folder, manifest: { files } }: ImportedDataset<{ files: Readonly<Record<string, string>> }>,
  compare: (expectEqual: (what: string, expected: unknown, got: unknown) => void, notes: string[]) => Promise<void>,
): Promise<DatasetCheck> {
  const problems = await alteredFiles(folder, files);
  const notes: string[] = [];
  const checked = { files: Object.keys(files).length, problems, notes };
  if (problems.length > 0) return checked;
  try {
    await compare((what, expected, got) => {
      if (expected !== got) problems.push(`expected ${what} ${String(expected)}, got ${String(got)}, at ${folder}`);
    }, notes);
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw error;
    problems.push(error.message);
  }
  return checked;
}

/** @param files sha256 by name, from the manifest @returns one sentence per missing or altered file */
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

/**
 * Writes a data set next to the existing one of that name, then swaps them. On failure the old one stays and nothing remains of the new
 * one; leftovers of a killed process are removed by the next call for the same folder.
 * @param fill writes all files but the manifest
 * @param describe builds the manifest from the sha256 of the files by name
 * @returns the manifest
 * @throws WorkbenchError `usage` for a bad name or a concurrent replacement of the same data set, `failure` for disk errors
 */
export async function writeDataset<Manifest>(
  name: string,
  home: string | undefined,
  fill: (folder: string) => void,
  describe: (files: Record<string, string>) => Promise<Manifest>,
): Promise<Manifest> {
  const { root, folder, next, old, lock } = placesOf(name, home);
  try {
    makeFolder(root);
    const unlock = lockFile(lock, `the data set ${name}`);
    try {
      rmSync(next, { recursive: true, force: true });
      if (existsSync(old) && !existsSync(folder)) renameSync(old, folder);
      mkdirSync(next);
      fill(next);
      const files: Record<string, string> = {};
      for (const file of readdirSync(next).sort()) files[file] = await sha256File(join(next, file));
      const manifest = await describe(files);
      writeFileAtomic(join(next, manifestFileName), `${JSON.stringify(manifest, null, 2)}\n`);
      // A non-empty folder cannot be replaced by rename: the old one is moved aside, where readers find it (`datasetFolder`).
      rmSync(old, { recursive: true, force: true });
      if (existsSync(folder)) renameSync(folder, old);
      renameSync(next, folder);
      rmSync(old, { recursive: true, force: true });
      return manifest;
    } finally {
      rmSync(next, { recursive: true, force: true });
      unlock();
    }
  } catch (error) {
    throw writeError(error, folder);
  }
}

/** Removes a data set. @throws WorkbenchError `data` for an unknown one, `usage` while it is being imported, and as `removeInside` */
export function removeDataset(name: string, { home }: LocateOptions = {}): Removal {
  const { root, old, lock } = placesOf(name, home);
  const { folder } = placeOfManifest(name, home);
  const unlock = lockFile(lock, `the data set ${name}`);
  try {
    // Left by a killed import; readers would find it once the data set is gone.
    if (folder !== old) rmSync(old, { recursive: true, force: true });
    return removeInside(root, folder, [manifestFileName]);
  } finally {
    unlock();
  }
}

/** Manifest entries of source files. */
export async function describeSources(files: readonly string[]): Promise<z.output<typeof sourcesSchema>> {
  const sources = files.map(async (file) => ({
    file: basename(file),
    bytes: statSync(file).size,
    sha256: await sha256File(file),
  }));
  return Promise.all(sources);
}

/** Manifest entry of a graph. */
export function describeGraph(graph: Graph, note: string): z.output<typeof graphSchema> {
  const { numEntities: entities, numRelations: relations, numEdges: triples, hash } = graph;
  const madeFrom = graph.madeFrom.length > 0 ? [...graph.madeFrom] : undefined;
  return { entities, relations, triples, madeFrom, hash, note };
}

/** JSON lines of values. */
export const jsonLines = (values: readonly unknown[]): Buffer[] =>
  values.map((value) => Buffer.from(`${JSON.stringify(value)}\n`));

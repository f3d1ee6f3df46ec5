/**
 * Folders in a store: files by content hash, and a manifest that lists them, written last. A result's manifest has the key of its job and
 * is written once; a second worker must have produced the same.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { makeFolder, sha256File, writeFileAtomic } from '../src/run/files.js';
import { confined } from '../src/run/locations.js';
import { ofShape, parseJson } from '../src/run/read-json.js';
import type { Store } from './store.js';

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const manifest = z.strictObject({
  kind: z.literal('kgwalk files'),
  /** Processor of the worker: text vectors differ in their last digits on others. */
  processor: z.string().max(1000),
  files: z.array(z.strictObject({ path: z.string().min(1).max(4000), sha256: digest })).max(1_000_000),
});
type Manifest = z.output<typeof manifest>;

/** Key of the job of a result. */
type Keyed = { key: string };

/** Files by hash: results and folders share one prefix; progress of a job has its own, which is deleted with it. */
const objects = 'objects/';
const progressOf = ({ key }: Keyed) => `progress/${key}/`;
const resultName = ({ key }: Keyed) => `results/${key}.json`;
const progressName = ({ key }: Keyed) => `progress/${key}.json`;
const folderName = (sha256: string) => `folders/${sha256}.json`;
const rivalsOf = ({ key }: Keyed) => `rivals/${key}/`;

/** Locks, drafts, and files derived from the others. */
const leftOut = (path: string) => /(^|\/)(\.[^/]*|[^/]*\.part)$|^(logs|report)\/|\/report\//.test(path);

/** Files that differ between equal results: timings, and completions in arrival order. */
const ofTheClock = (path: string) =>
  /(^|\/)(environment\.json|(timing|completions)\.jsonl|tensorboard\/[^/]*)$/.test(path);

const isIndex = (path: string) => path.endsWith('/checkpoints/index.json');

const indexesIn = (folder: string) =>
  pathsIn(folder)
    .filter(isIndex)
    .map((path) => [path, readFileSync(join(folder, path), 'utf8')] as const);

/** Files below a folder; logs last, which are then ahead of the checkpoint as after a kill. */
function pathsIn(folder: string): string[] {
  const order = (path: string) => Number(path.endsWith('.jsonl'));
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
  return paths.filter((path) => !leftOut(path)).sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1));
}

const manifestText = (files: Manifest['files']) =>
  `${JSON.stringify({ kind: 'kgwalk files', processor: cpus()[0]?.model ?? 'unknown', files } satisfies Manifest, null, 1)}\n`;

/** @param options.have hashes already stored; new ones are added */
async function putFiles(
  store: Store,
  folder: string,
  { paths = pathsIn(folder), into = objects, have = new Set<string>() } = {},
): Promise<Manifest['files']> {
  const files: Manifest['files'] = [];
  for (const path of paths) {
    const file = join(folder, path);
    const sha256 = await sha256File(file);
    const name = into + sha256;
    // An object that was damaged in the store is written again.
    const isThere = have.has(sha256) || (await store.writeOnce(name, { file })) || (await store.holds(name, file));
    if (!isThere) await store.write(name, { file });
    have.add(sha256);
    files.push({ path, sha256 });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function readManifest(store: Store, name: string): Promise<Manifest | undefined> {
  const text = await store.read(name);
  if (text === undefined) return undefined;
  const place = { what: 'a list of files', place: `${store.address}/${name}` };
  return ofShape(parseJson(text, place), manifest, place);
}

/** @throws WorkbenchError `data` for a file that is missing in the store or has another hash */
async function takeFiles(store: Store, { files }: Manifest, folder: string, from = objects): Promise<void> {
  for (const { path, sha256 } of files) {
    const file = confined(folder, path);
    if (existsSync(file) && (await sha256File(file)) === sha256) continue;
    const found = await store.download(from + sha256, file);
    if (found && (await sha256File(file)) === sha256) continue;
    rmSync(file, { force: true });
    throw new WorkbenchError(
      'data',
      `expected ${path} with the sha256 ${sha256.slice(0, 12)}…, got ${found ? 'another file' : 'none'}, at ${store.address}`,
      { hint: 'The store lost or altered it: remove the result that lists it, and do that job again.' },
    );
  }
}

/** Outcome of publishing: this result was stored, an equal one was there, or a different one. */
export type Published = { state: 'published' | 'known' } | { state: 'failed'; reason: string };

/** Stores a result under its job's key, once. Where a different one is there (beyond timings), both are kept, and the job has failed. */
export async function publish(store: Store, job: Keyed, folder: string): Promise<Published> {
  const files = await putFiles(store, folder);
  const text = manifestText(files);
  if (await store.writeOnce(resultName(job), text)) return { state: 'published' };
  const other = await readManifest(store, resultName(job));
  const [known, made] = [other?.files ?? [], files].map(
    (list) => new Map(list.filter(({ path }) => !ofTheClock(path)).map(({ path, sha256 }) => [path, sha256])),
  ) as [Map<string, string>, Map<string, string>];
  const differs = [...new Set([...known.keys(), ...made.keys()])].filter((path) => known.get(path) !== made.get(path));
  if (differs.length === 0) return { state: 'known' };
  await store.writeOnce(`${rivalsOf(job)}${createHash('sha256').update(text).digest('hex')}.json`, text);
  const [first, second] = [other?.processor, cpus()[0]?.model];
  const more = differs.length > 3 ? ` and ${differs.length - 3} more files differ` : '';
  const why =
    first === second
      ? 'Equal work gives equal bytes on one kind of processor: is the data, or a model, another?'
      : `The first was made on ${first}, this one on ${second}: text vectors differ in their last digits.`;
  const got = `expected the result that is there, got another: ${differs.slice(0, 3).join(', ')}${more}`;
  return { state: 'failed', reason: `${got}, at ${store.address}/${resultName(job)}. Both are kept. ${why}` };
}

/** True if a job has a result. */
export async function hasResult(store: Store, job: Keyed): Promise<boolean> {
  return (await store.read(resultName(job))) !== undefined;
}

/** Copies the files of a result into a folder; existing files stay. @returns true if there is a result */
export async function takeResult(store: Store, job: Keyed, folder: string): Promise<boolean> {
  const found = await readManifest(store, resultName(job));
  if (found) await takeFiles(store, found, folder);
  return found !== undefined;
}

/** Stores the progress of a job, for the worker that resumes it. @param kept progress of earlier calls for the job */
export async function saveProgress(store: Store, job: Keyed, folder: string, kept: Set<string>): Promise<void> {
  // Logs grow while they are read: a copy is hashed and stored.
  const copy = copyOf(folder);
  if (copy === undefined) return;
  try {
    const files = await putFiles(store, copy, { into: progressOf(job), have: kept });
    await store.write(progressName(job), manifestText(files));
    const listed = new Set(files.map(({ sha256 }) => sha256));
    for (const sha256 of [...kept].filter((one) => !listed.has(one))) {
      await store.remove(progressOf(job) + sha256);
      kept.delete(sha256);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * A copy of a run's folder while it is written; undefined if its checkpoints were replaced at each of five tries. What an index names
 * was there before it and leaves after the next one, so the rest is listed once the indexes are copied, and these must still be the same.
 */
function copyOf(folder: string): string | undefined {
  const copy = `${folder}.copy`;
  for (let tried = 1; tried <= 5; tried++) {
    try {
      const indexes = indexesIn(folder);
      for (const [path, content] of indexes) writeFileAtomic(join(copy, path), content);
      for (const path of pathsIn(folder).filter((one) => !isIndex(one))) {
        makeFolder(dirname(join(copy, path)));
        copyFileSync(join(folder, path), join(copy, path));
      }
      if (isDeepStrictEqual(indexesIn(folder), indexes)) return copy;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    rmSync(copy, { recursive: true, force: true });
  }
  return undefined;
}

/** Restores the progress of a stopped or killed worker; without any the folder stays as it is. */
export async function takeProgress(store: Store, job: Keyed, folder: string): Promise<boolean> {
  const found = await readManifest(store, progressName(job));
  if (found) await takeFiles(store, found, folder, progressOf(job));
  return found !== undefined;
}

/** A finished job needs no progress. */
export async function removeProgress(store: Store, job: Keyed): Promise<void> {
  await store.remove(progressName(job));
  for (const name of await store.list(progressOf(job))) await store.remove(name);
}

/** Stores an input folder of jobs. @param without unused paths inside it @returns its name for `takeFolder` */
export async function putFolder(store: Store, folder: string, without: RegExp): Promise<string> {
  const paths = pathsIn(folder).filter((path) => !without.test(path));
  const text = manifestText(await putFiles(store, folder, { paths }));
  const sha256 = createHash('sha256').update(text).digest('hex');
  await store.writeOnce(folderName(sha256), text);
  return sha256;
}

/** @throws WorkbenchError `data` if the store has none of that name */
export async function takeFolder(store: Store, sha256: string, folder: string): Promise<void> {
  const found = await readManifest(store, folderName(sha256));
  if (found) return takeFiles(store, found, folder);
  throw new WorkbenchError(
    'data',
    `expected a folder that jobs read, got none, at ${store.address}/${folderName(sha256)}`,
    { hint: 'Write the plan with the --store that its workers have.' },
  );
}

/** Job keys by state in the store. */
export interface Held {
  results: ReadonlySet<string>;
  progress: ReadonlySet<string>;
  rivals: ReadonlySet<string>;
  /** Reason of the last failed try. */
  failed: ReadonlySet<string>;
}

/** Lists the states of all jobs in a store. */
export async function heldBy(store: Store): Promise<Held> {
  const keys = async (prefix: string) =>
    new Set((await store.list(prefix)).map((name) => name.slice(prefix.length, prefix.length + 64)));
  return {
    results: await keys('results/'),
    progress: await keys('progress/'),
    rivals: await keys('rivals/'),
    failed: await keys('failed/'),
  };
}

const failureName = ({ key }: Keyed) => `failed/${key}.txt`;

/** Stores the reason of a failure, for `kgwalk plan status`. */
export const saveFailure = (store: Store, job: Keyed, reason: string) => store.write(failureName(job), reason);
/** Reason of a job's last failure. */
export const readFailure = (store: Store, job: Keyed) => store.read(failureName(job));
/** A finished job has no failure any more. */
export const removeFailure = (store: Store, job: Keyed) => store.remove(failureName(job));

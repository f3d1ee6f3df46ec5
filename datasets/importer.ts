/** What importers share: what they are given, the files of a release, and every broken line of a file in one error. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GraphBuilder } from '../src/kg/build-graph.js';
import { readLines } from '../src/kg/read-lines.js';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile } from '../src/run/files.js';
import { type ProgressReporter, silentProgress } from '../src/run/progress.js';
import type { Manifests } from './dataset.js';
import type { DatasetKind } from './imported-dataset.js';

/** What every importer is given. */
export interface ImportOptions {
  /** Folder of the release; each importer says which files it looks for. */
  from: string;
  /** Name to import under. Default the format, such as `opendialkg`. An existing data set of that name is replaced when all went well. */
  name?: string;
  /** Default `KGWALK_HOME`. */
  home?: string;
  progress?: ProgressReporter;
}

/** What single importers take besides; the others leave it. */
export interface AnyImportOptions extends ImportOptions {
  /** Of RDF: labels are names and aliases instead of edges. Default true. */
  labels?: boolean;
  /** Of links: keep triples that stand in two splits, and count them, rather than refuse the data. Default false. */
  allowOverlap?: boolean;
  /** Of links: draw this share of the entities apart, into a data set of their own. Default none. */
  unseen?: number;
  /** Beside that: draw this share of the relations apart, too; their triples alone are asked for in the other data set. Default none. */
  unseenRelations?: number;
}

/** A release of somebody else, and how it can be had. */
export interface Release {
  /** Of the format that `datasets import` reads, and of the data set. */
  name: string;
  about: string;
  licence: string;
  /** Its own page. */
  page: string;
  /** What can be had from an address; none: the page has to be visited. */
  files: readonly ReleaseFile[];
  /** What to do by hand, in the folder that is then imported; absent where `files` are all. */
  byHand?: readonly string[];
}

interface ReleaseFile {
  /** As the importer looks for it. */
  name: string;
  url: string;
  /** One of the two, hex. */
  sha256?: string;
  gitBlob?: string;
}

/** One format that `kgwalk datasets import` reads, and what a folder of this one gives to `importers.ts`. */
export interface Importer<K extends DatasetKind = DatasetKind> {
  name: string;
  kind: K;
  /** Whether it takes `allowOverlap`: splits of links alone are held against each other. */
  mayOverlap?: true;
  /** What to call data from there, where no name is given. Default the format's name. */
  nameOf?(from: string): string;
  /** Absent for data of the user's own. */
  release?: Release;
  import(options: AnyImportOptions): Promise<Manifests[K]>;
}

/** @param hashes of the files of one folder, by name */
export function filesAt(
  folder: string,
  hashes: Record<string, Pick<ReleaseFile, 'sha256' | 'gitBlob'>>,
): ReleaseFile[] {
  return Object.entries(hashes).map(([name, hash]) => ({ name, url: `${folder}/${name}`, ...hash }));
}

/** Imports with a line of progress. @param work calls `done` after each step but the last, with its name */
export async function inSteps<T>(
  progress: ProgressReporter = silentProgress,
  steps: number,
  work: (done: (what: string) => void) => Promise<T>,
): Promise<T> {
  const line = progress('import', steps, 'steps');
  let count = 0;
  try {
    const made = await work((what) => line.update(++count, what));
    line.update(steps, 'written');
    return made;
  } finally {
    line.finish();
  }
}

/** The triples of one file, to be built into a graph. @throws WorkbenchError `data` that lists every broken line, for an unreadable file */
export async function collectTriples(file: string, separator = '\t'): Promise<GraphBuilder> {
  const builder = new GraphBuilder();
  const problems = new LineProblems(file);
  await builder.addFile(file, { separator, onProblem: (line, problem) => problems.add(line, problem) });
  problems.throwIfAny();
  return builder;
}

const shown = 20;

/** Collects what is wrong with the lines of one file. */
export class LineProblems {
  readonly #problems: string[] = [];
  #count = 0;

  /** @param file path as the user gave it */
  constructor(readonly file: string) {}

  /** @param line from 1 @param problem "expected X, got Y", safe for a terminal */
  add(line: number, problem: string): void {
    this.#count++;
    if (this.#problems.length < shown) this.#problems.push(`  ${this.file}:${line}: ${problem}`);
  }

  /** @throws WorkbenchError `data` that lists the first 20 of all problems and counts them; nothing where there was none */
  throwIfAny(): void {
    if (this.#count === 0) return;
    const more = this.#count > shown ? `\n  … and ${this.#count - shown} more` : '';
    const lines = this.#count === 1 ? '1 broken line' : `${this.#count} broken lines`;
    throw new WorkbenchError('data', `${lines}:\n${this.#problems.join('\n')}${more}`, {
      hint: 'Nothing was imported. Correct or remove these lines.',
    });
  }
}

/** TAB, or `|` where the first line that is not empty has no TAB. @throws WorkbenchError `data` for an unreadable file */
export async function separatorOf(file: string): Promise<string> {
  let first: string | undefined;
  await readLines(file, 'triples', (text) => {
    if (text !== '') first ??= text;
  });
  return first === undefined || first.includes('\t') ? '\t' : '|';
}

/** Lines of a UTF-8 file without their ends (LF or CRLF); the last line break makes no row, empty lines within do. */
export function textRows(file: string, what: string): string[] {
  const rows = readTextFile(file, what).split(/\r?\n/);
  if (rows.at(-1) === '') rows.pop();
  return rows;
}

/** The first of these names that exists in `folder`, as a path. */
export function firstFile(folder: string, names: readonly string[]): string | undefined {
  return names.map((name) => join(folder, name)).find((file) => existsSync(file));
}

/** As `firstFile`, for a file that must be there. @throws WorkbenchError `data` naming the first choice */
export function requiredFile(folder: string, names: readonly string[], what: string): string {
  const file = firstFile(folder, names);
  if (file !== undefined) return file;
  throw new WorkbenchError('data', `expected ${what} (${names.join(' or ')}), got none, at ${folder}`, {
    hint: 'Give the folder of the release with --from.',
  });
}

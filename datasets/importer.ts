/** Shared parts of importers: options, release files, collected line errors. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GraphBuilder } from '../src/kg/build-graph.js';
import { readLines } from '../src/kg/read-lines.js';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile } from '../src/run/files.js';
import { type ProgressReporter, silentProgress } from '../src/run/progress.js';
import type { Manifests } from './dataset.js';
import type { DatasetKind } from './imported-dataset.js';

/** Options of every importer. */
export interface ImportOptions {
  /** Folder of the release; expected files depend on the importer. */
  from: string;
  /** Name of the data set. Default the format, such as `opendialkg`. An existing data set of that name is replaced after success. */
  name?: string;
  /** Default `KGWALK_HOME`. */
  home?: string;
  progress?: ProgressReporter;
}

/** Options of particular importers; others ignore them. */
export interface AnyImportOptions extends ImportOptions {
  /** RDF: use labels as names and aliases instead of edges. Default true. */
  labels?: boolean;
  /** Links: keep and count triples that occur in two splits instead of refusing the data. Default false. */
  allowOverlap?: boolean;
  /** Links: move this share of the entities to a separate data set. Default none. */
  unseen?: number;
  /** With `unseen`: also this share of the relations; the other data set then only tests their triples. Default none. */
  unseenRelations?: number;
}

/** Format of `kgwalk datasets import`: one folder and an entry of `importers.ts`. */
export interface Importer<K extends DatasetKind = DatasetKind> {
  name: string;
  kind: K;
  /** Supports `allowOverlap`: only splits of links are checked for overlap. */
  mayOverlap?: true;
  /** Default name of the data set. Default the format's name. */
  nameOf?(from: string): string;
  import(options: AnyImportOptions): Promise<Manifests[K]>;
}

/** Runs an import with a progress line. @param work calls `done` with its name after each step but the last */
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

/** Triples of one file, to build a graph. @throws WorkbenchError `data` that lists every broken line, or for an unreadable file */
export async function collectTriples(file: string, separator = '\t'): Promise<GraphBuilder> {
  const builder = new GraphBuilder();
  const problems = new LineProblems(file);
  await builder.addFile(file, { separator, onProblem: (line, problem) => problems.add(line, problem) });
  problems.throwIfAny();
  return builder;
}

const shown = 20;

/** Collects errors in the lines of one file. */
export class LineProblems {
  readonly #problems: string[] = [];
  #count = 0;

  /** @param file path as given by the user */
  constructor(readonly file: string) {}

  /** @param line from 1 @param problem "expected X, got Y", safe for a terminal */
  add(line: number, problem: string): void {
    this.#count++;
    if (this.#problems.length < shown) this.#problems.push(`  ${this.file}:${line}: ${problem}`);
  }

  /** @throws WorkbenchError `data` that lists the first 20 problems and the total, if there are any */
  throwIfAny(): void {
    if (this.#count === 0) return;
    const more = this.#count > shown ? `\n  … and ${this.#count - shown} more` : '';
    const lines = this.#count === 1 ? '1 broken line' : `${this.#count} broken lines`;
    throw new WorkbenchError('data', `${lines}:\n${this.#problems.join('\n')}${more}`, {
      hint: 'Nothing was imported. Correct or remove these lines.',
    });
  }
}

/** TAB, or `|` if the first non-empty line has no TAB. @throws WorkbenchError `data` for an unreadable file */
export async function separatorOf(file: string): Promise<string> {
  let first: string | undefined;
  await readLines(file, 'triples', (text) => {
    if (text !== '') first ??= text;
  });
  return first === undefined || first.includes('\t') ? '\t' : '|';
}

/** Lines of a UTF-8 file without line ends (LF or CRLF); inner empty lines are kept. */
export function textRows(file: string, what: string): string[] {
  const rows = readTextFile(file, what).split(/\r?\n/);
  if (rows.at(-1) === '') rows.pop();
  return rows;
}

/** Path of the first of these names that exists in `folder`. */
export function firstFile(folder: string, names: readonly string[]): string | undefined {
  return names.map((name) => join(folder, name)).find((file) => existsSync(file));
}

/** Like `firstFile`, for a required file. @throws WorkbenchError `data` listing the names */
export function requiredFile(folder: string, names: readonly string[], what: string): string {
  const file = firstFile(folder, names);
  if (file !== undefined) return file;
  throw new WorkbenchError('data', `expected ${what} (${names.join(' or ')}), got none, at ${folder}`, {
    hint: 'Give the folder of the release with --from.',
  });
}

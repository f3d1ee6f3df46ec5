/** Shared parts of importers: options, release files, collected line errors. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { GraphBuilder } from '../src/kg/build-graph.js';
import type { Graph } from '../src/kg/graph.js';
import type { ReadTriplesOptions } from '../src/kg/read-triples.js';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile } from '../src/run/files.js';
import { type ProgressReporter, silentProgress } from '../src/run/progress.js';
import type { Manifests } from './dataset.js';
import type { DatasetKind } from './imported-dataset.js';
import type { TripleSettings } from './triple-layout.js';

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

/** Options of particular importers, which name them in `takes`; others ignore them. */
export interface AnyImportOptions extends ImportOptions, TripleSettings {
  /** RDF: use labels as names and aliases instead of edges. Default true. */
  labels?: boolean;
  /** Links: keep and count triples that occur in two splits instead of refusing the data. Default false. */
  allowOverlap?: boolean;
  /** Links: move this share of the entities to a separate data set. Default none. */
  unseen?: number;
  /** With `unseen`: also this share of the relations; the other data set then only tests their triples. Default none. */
  unseenRelations?: number;
  /** Links: file or folder with triples of other entities and the same relations, for a second data set. Default none. */
  unseenFrom?: string;
  /** Leave broken lines out and count them by reason instead of refusing the data. Default false. */
  skipBroken?: boolean;
}

/** Sentences on everything that an import left out, chose or noticed, for its manifest. */
export interface ImportReport extends Pick<AnyImportOptions, 'skipBroken'> {
  notes: string[];
}

/** Options of importers that read triples of any layout. */
export const tripleOptions = ['separator', 'columns', 'header', 'enclosed', 'skipBroken'] as const;

/** Format of `kgwalk datasets import`: one folder and an entry of `importers.ts`. */
export interface Importer<K extends DatasetKind = DatasetKind> {
  name: string;
  kind: K;
  /** Options beyond those of every importer. */
  takes?: readonly Exclude<keyof AnyImportOptions, keyof ImportOptions>[];
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
export async function collectTriples(
  file: string,
  layout: ReadTriplesOptions = {},
  report?: ImportReport,
): Promise<GraphBuilder> {
  const builder = new GraphBuilder();
  const problems = new LineProblems(file, report);
  await builder.addFile(file, { ...layout, onProblem: (line, problem) => problems.add(line, problem) });
  problems.throwIfAny();
  return builder;
}

/** Note on the triples that `graph` has once and the builder got more often. @param graph built with inverses that the triples lacked */
export function repeatedNote(builder: GraphBuilder, graph: Graph, perTriple = 2): string {
  const repeated = builder.numTriples - graph.numEdges / perTriple;
  return repeated === 0 ? '' : `; ${repeated} repeated ${repeated === 1 ? 'line' : 'lines'} merged`;
}

const shown = 20;

/** Collects errors in the lines of one file. */
export class LineProblems {
  readonly #problems: string[] = [];
  /** By reason: the problem without what was got. */
  readonly #reasons = new Map<string, { count: number; line: number }>();
  #count = 0;

  /** @param file path as given by the user @param report takes the note on broken lines if they are to be left out */
  constructor(
    readonly file: string,
    readonly report?: ImportReport,
  ) {}

  /** @param line from 1 @param problem "expected X, got Y", safe for a terminal */
  add(line: number, problem: string): void {
    this.#count++;
    if (this.#problems.length < shown) this.#problems.push(`  ${this.file}:${line}: ${problem}`);
    const reason = problem.replace(/, got .*/s, '');
    const known = this.#reasons.get(reason) ?? { count: 0, line };
    this.#reasons.set(reason, { ...known, count: known.count + 1 });
  }

  /**
   * With `skipBroken` the problems become a note.
   * @throws WorkbenchError `data` that lists the first 20 problems and the total, if there are any
   */
  throwIfAny(): void {
    if (this.#count === 0) return;
    const more = this.#count > shown ? `\n  … and ${this.#count - shown} more` : '';
    const lines = this.#count === 1 ? '1 broken line' : `${this.#count} broken lines`;
    if (this.report?.skipBroken) {
      const reasons = [...this.#reasons].map(
        ([reason, { count, line }]) => `${count} ${reason} (the first: line ${line})`,
      );
      this.report.notes.push(`${basename(this.file)}: ${lines} left out: ${reasons.slice(0, shown).join('; ')}`);
      return;
    }
    throw new WorkbenchError('data', `${lines}:\n${this.#problems.join('\n')}${more}`, {
      hint: `Nothing was imported. Correct or remove these lines${this.report ? ', or leave them out and count them: --skip-broken' : ''}.`,
    });
  }
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
export function requiredFile(
  folder: string,
  names: readonly string[],
  what: string,
  hint = 'Give the folder of the release with --from.',
): string {
  const file = firstFile(folder, names);
  if (file !== undefined) return file;
  throw new WorkbenchError('data', `expected ${what} (${names.join(' or ')}), got none, at ${folder}`, { hint });
}

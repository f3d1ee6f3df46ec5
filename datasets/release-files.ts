/** Every broken line of a file in one error. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readLines } from '../src/kg/read-lines.js';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile } from '../src/run/files.js';

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

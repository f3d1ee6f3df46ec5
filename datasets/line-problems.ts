/** Every broken line of a file in one error. */
import { WorkbenchError } from '../src/run/errors.js';

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

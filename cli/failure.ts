/** The end of a failed command: what goes to standard error and the exit status. */
import { CommanderError } from 'commander';
import { stderr } from 'node:process';
import { exitCodes, WorkbenchError } from '../src/run/errors.js';
import { printableLines } from '../src/run/printable.js';
import { masked } from '../src/run/secrets.js';
import { memoryErrorOf } from '../src/run/stop.js';

/** Exit status and text of an error; commander's own messages are printed by commander, so their text is empty. */
export interface Failure {
  exitCode: number;
  text: string;
}

/**
 * Describes an error for the user, without the secrets that a bad word on the command line or a server's answer may hold.
 * @param json one JSON object `{error: {code, message, hint?}}` instead of lines
 */
export function describeFailure(thrown: unknown, json: boolean): Failure {
  const error = memoryErrorOf(thrown);
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : exitCodes.usage, text: '' };
  const said = (text: string) => printableLines(masked(text));
  const message = said(error instanceof Error ? error.message : String(error));
  if (error instanceof WorkbenchError) {
    const { code, exitCode } = error;
    const hint = error.hint === undefined ? undefined : said(error.hint);
    const lines = hint === undefined ? `error: ${message}` : `error: ${message}\nhint: ${hint}`;
    return { exitCode, text: json ? JSON.stringify({ error: { code, message, hint } }) : lines };
  }
  const stack = said((error instanceof Error ? error.stack : undefined) ?? String(error));
  return { exitCode: 1, text: json ? JSON.stringify({ error: { code: 'bug', message, stack } }) : stack };
}

/** Prints what commander says about wrong usage, as JSON where that was asked for. */
export function printUsageError(text: string, json: boolean): void {
  const clean = printableLines(masked(text));
  const message = clean.trim().replace(/^error: /, '');
  stderr.write(json ? `${JSON.stringify({ error: { code: 'usage', message } })}\n` : clean);
}

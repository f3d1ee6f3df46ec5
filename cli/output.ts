/** Results on standard output: aligned tables for people, JSON for programs; notes and errors on standard error. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import process, { stderr, stdout } from 'node:process';
import { isatty } from 'node:tty';
import { type Command, CommanderError } from 'commander';
import { asCalled } from '../src/run/command-line.js';
import { exitCodes, WorkbenchError } from '../src/run/errors.js';
import type { Section } from '../src/run/evaluation.js';
import { printable, printableLines, shorten } from '../src/run/printable.js';
import { masked } from '../src/run/secrets.js';
import { limitErrorOf } from '../src/run/stop.js';

/** Maximum characters of a cell and of a line: one very long name would widen every row. JSON has it in full. */
const longestCell = 300;
const longestLine = 4_000;

/** One row of a table; `undefined` is an empty cell. */
export type Row = Record<string, string | number | undefined>;

/** `--wide`: tables with all columns, however narrow the terminal is. */
let wide = false;

/** Sets `wide`, for the commands that follow. */
export function setWide(value: boolean): void {
  wide = value;
}

/**
 * Prints rows as columns, in the order in which keys first appear; numbers align right. No rows: a dash. On a terminal, columns
 * beyond its right edge are hidden and counted, unless `--wide` is given.
 * @param rows names from data are made safe for the terminal here
 */
export function printTable(rows: readonly Row[]): void {
  stdout.write(`${formatTable(rows, (stdout.isTTY && !wide && stdout.columns) || Infinity)}\n`);
}

/**
 * The text that `printTable` prints, without the last line break.
 * @param most characters of a line. The first column always stays
 */
export function formatTable(rows: readonly Row[], most = Infinity): string {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (keys.length === 0) return '-';
  const columns = keys.map((key) => {
    const name = printable(key, longestCell);
    const cells = rows.map((row) => printable(String(row[key] ?? ''), longestCell));
    const width = cells.reduce((width, { length }) => Math.max(width, length), name.length);
    const right = rows.every((row) => row[key] === undefined || typeof row[key] === 'number');
    return [name, ...cells].map((cell) => (right ? cell.padStart(width) : cell.padEnd(width)));
  });
  let end = -gap.length;
  const fitting = columns.findIndex(([name]) => (end += gap.length + name!.length) > most);
  const shown = fitting < 0 ? columns : columns.slice(0, Math.max(1, fitting));
  const hidden = columns.length - shown.length;
  return [
    ...columns[0]!.map((_, i) =>
      shown
        .map((column) => column[i])
        .join(gap)
        .trimEnd(),
    ),
    ...(hidden > 0 ? [`${hidden} ${hidden === 1 ? 'column' : 'columns'} hidden: --wide shows all`] : []),
  ].join('\n');
}

const gap = '  ';

/** Prints one value as indented JSON: names are exact, control characters in them are JSON's escapes. Typed arrays must have been turned into arrays. */
export function printJson(value: unknown): void {
  stdout.write(`${printableLines(JSON.stringify(value, null, 2))}\n`);
}

/** Prints one line of text, or several; what a terminal would obey is escaped. */
export function printLine(text = ''): void {
  stdout.write(`${printableLines(text)}\n`);
}

/** A text in lines of at most `width` characters, broken between words; a longer word stands alone. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Prints a note to standard error: one line or several, as `printLine`. */
export function printNote(text: string): void {
  stderr.write(`${printableLines(asCalled(text))}\n`);
}

/** Prints sections one after the other, a blank line between: title, table, lines. */
export function printSections(sections: readonly Section[]): void {
  sections.forEach(({ title, rows, lines = [] }, i) => {
    if (i > 0) printLine();
    if (title !== '') printLine(shorten(title, longestLine));
    if (rows) printTable(rows as readonly Row[]);
    for (const line of lines) printLine(shorten(line, longestLine));
  });
}

/** Prints the sections of a task, or its JSON. */
export function printShown({ json, sections }: { json: unknown; sections: readonly Section[] }, asJson = false): void {
  if (asJson) printJson(json);
  else printSections(sections);
}

/**
 * What a stream that vanishes costs: a reader that has enough (`| head`), a terminal that is closed, a disk that is full. Nothing
 * of the work needs standard error, so that its failures are passed over. A command that would save if it were stopped, and so
 * listens to signals, works on without standard output, too; any other ends.
 */
export function watchStreams(json: boolean): void {
  stderr.on('error', () => {});
  let reported = false;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    const works = process.listenerCount('SIGTERM') > 0;
    const unread = error.code === 'EPIPE' || stdout.isTTY;
    if (!unread && !reported) {
      reported = true;
      const message = `expected a place for what is printed, got ${error.code}, at standard output`;
      const hint = works ? 'The work continues.' : 'Send it elsewhere, or free some space.';
      stderr.write(`${describeFailure(new WorkbenchError('failure', message, { hint }), json).text}\n`);
      process.exitCode ||= exitCodes.failure;
    }
    if (!works) process.exit();
  });
  // As it exits Node resets the terminal, and aborts where that is gone: something else must stand in its place.
  const terminals = [0, 1, 2].filter(isatty);
  process.on('exit', () => {
    for (const gone of terminals.filter((descriptor) => !isatty(descriptor))) {
      closeSync(gone);
      openSync(devNull, 'r+');
    }
  });
}

/** Exit status and text of an error; commander's own messages are printed by commander, so their text is empty. */
type Failure = { exitCode: number; text: string };

/**
 * Describes an error for the user, without the secrets that a bad word on the command line or a server's answer may hold.
 * @param json one JSON object `{error: {code, message, hint?}}` instead of lines
 */
export function describeFailure(thrown: unknown, json: boolean): Failure {
  const error = limitErrorOf(thrown);
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : exitCodes.usage, text: '' };
  const said = (text: string) => printableLines(masked(text));
  const message = said(error instanceof Error ? error.message : String(error));
  if (error instanceof WorkbenchError) {
    const { code, exitCode } = error;
    const hint = error.hint === undefined ? undefined : said(asCalled(error.hint));
    const line = code === 'stopped' ? message : `error: ${message}`;
    const lines = hint === undefined ? line : `${line}\nhint: ${hint}`;
    return { exitCode, text: json ? JSON.stringify({ error: { code, message, hint } }) : lines };
  }
  const stack = said((error instanceof Error ? error.stack : undefined) ?? String(error));
  return { exitCode: 1, text: json ? JSON.stringify({ error: { code: 'bug', message, stack } }) : stack };
}

/** Makes the error for an unknown sub-command name all that there are: `list`, `show` and `info` are easily mixed up. */
export function listInUnknown(program: Command): void {
  for (const group of program.commands.filter(({ commands }) => commands.length > 0)) {
    const names = group.commands.map((one) => one.name()).join(', ');
    group.on('command:*', ([word]: string[]) => {
      const message = `error: expected ${names} after ${group.name()}, got ${JSON.stringify(word)}`;
      group.error(message, { code: 'commander.unknownCommand' });
    });
  }
}

/** Prints what commander says about wrong usage, as JSON where that was asked for. */
export function printUsageError(text: string, json: boolean): void {
  const clean = printableLines(masked(text));
  const message = clean.trim().replace(/^error: /, '');
  stderr.write(json ? `${JSON.stringify({ error: { code: 'usage', message } })}\n` : clean);
}

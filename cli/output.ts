/** Results on standard output: aligned tables for people, JSON for programs; and what is said beside them. */
import { stderr, stdout } from 'node:process';
import type { Section } from '../src/run/evaluation.js';
import { printable, printableLines } from '../src/run/printable.js';

/** One row of a table; `undefined` is an empty cell. */
export type Row = Record<string, string | number | undefined>;

/**
 * Prints rows as columns, in the order in which keys first appear; numbers align right. No rows: a dash.
 * @param rows names from data are made safe for the terminal here
 */
export function printTable(rows: readonly Row[]): void {
  stdout.write(`${formatTable(rows)}\n`);
}

/** The text that `printTable` prints, without the last line break. */
export function formatTable(rows: readonly Row[]): string {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (keys.length === 0) return '-';
  const columns = keys.map((key) => {
    const name = printable(key);
    const cells = rows.map((row) => printable(String(row[key] ?? '')));
    return {
      name,
      cells,
      width: cells.reduce((width, { length }) => Math.max(width, length), name.length),
      right: rows.every((row) => row[key] === undefined || typeof row[key] === 'number'),
    };
  });
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => (columns[i]!.right ? cell.padStart(columns[i]!.width) : cell.padEnd(columns[i]!.width)))
      .join('  ')
      .trimEnd();
  return [
    line(columns.map(({ name }) => name)),
    ...rows.map((_, r) => line(columns.map((column) => column.cells[r]!))),
  ].join('\n');
}

/** Prints one value as indented JSON: names are exact, control characters in them are JSON's escapes. Typed arrays must have been turned into arrays. */
export function printJson(value: unknown): void {
  stdout.write(`${printableLines(JSON.stringify(value, null, 2))}\n`);
}

/** Prints one line of text, or several; what a terminal would obey is escaped. */
export function printLine(text = ''): void {
  stdout.write(`${printableLines(text)}\n`);
}

/** Says something beside the results: one line, or several, to standard error, as `printLine`. */
export function printNote(text: string): void {
  stderr.write(`${printableLines(text)}\n`);
}

/** Prints sections one after the other, a blank line between: title, table, lines. */
export function printSections(sections: readonly Section[]): void {
  sections.forEach(({ title, rows, lines = [] }, i) => {
    if (i > 0) printLine();
    if (title !== '') printLine(title);
    if (rows) printTable(rows as readonly Row[]);
    for (const line of lines) printLine(line);
  });
}

/** Prints what a task shows, or its JSON. */
export function printShown({ json, sections }: { json: unknown; sections: readonly Section[] }, asJson = false): void {
  if (asJson) printJson(json);
  else printSections(sections);
}

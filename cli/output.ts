/** Results on standard output: aligned tables for people, JSON for programs. */
import { stdout } from 'node:process';
import { printable } from '../src/run/printable.js';

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
    const cells = rows.map((row) => printable(String(row[key] ?? '')));
    return {
      key,
      cells,
      width: Math.max(key.length, ...cells.map((cell) => cell.length)),
      right: rows.every((row) => row[key] === undefined || typeof row[key] === 'number'),
    };
  });
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => (columns[i]!.right ? cell.padStart(columns[i]!.width) : cell.padEnd(columns[i]!.width)))
      .join('  ')
      .trimEnd();
  return [line(keys), ...rows.map((_, r) => line(columns.map((column) => column.cells[r]!)))].join('\n');
}

/** Prints one value as indented JSON. Typed arrays must have been turned into arrays. */
export function printJson(value: unknown): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints one line of text. */
export function printLine(text = ''): void {
  stdout.write(`${text}\n`);
}

/** Cells of CSV files. */

/**
 * A number as it is; a text quoted where it has to be. One that a spreadsheet would take for a formula (`=`, `+`, `-`, `@`, a tab or
 * a carriage return in front) gets an apostrophe before it; the JSON forms of the same files keep names exactly.
 */
export function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

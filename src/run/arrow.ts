/** Arrow IPC files, readable as tables by other programs. */
import { createRequire } from 'node:module';
import type { Vector } from 'apache-arrow';

const require = createRequire(import.meta.url);

/** The library's CommonJS build, which loads twice as fast as its modules. */
export const loadArrow = () => require('apache-arrow') as typeof import('apache-arrow');

/** Column types: each makes a column from the values of all rows. */
interface ColumnKinds<Row> {
  words(of: (row: Row) => string): Vector;
  int32(of: (row: Row) => number): Vector;
  uint8(of: (row: Row) => number): Vector;
  float64(of: (row: Row) => number): Vector;
  flags(of: (row: Row) => boolean): Vector;
}

/** Rows as an Arrow IPC file. Equal rows give equal bytes. @param columnsOf columns by name, in order */
export function arrowFile<Row>(
  rows: readonly Row[],
  columnsOf: (kinds: ColumnKinds<Row>) => Record<string, Vector>,
): Uint8Array {
  const { Bool, makeVector, Table, tableToIPC, Utf8, vectorFromArray } = loadArrow();
  const columns = columnsOf({
    words: (of) => vectorFromArray(rows.map(of), new Utf8()),
    int32: (of) => makeVector(Int32Array.from(rows, of)),
    uint8: (of) => makeVector(Uint8Array.from(rows, of)),
    float64: (of) => makeVector(Float64Array.from(rows, of)),
    flags: (of) => vectorFromArray(rows.map(of), new Bool()),
  });
  return tableToIPC(new Table(columns), 'file');
}

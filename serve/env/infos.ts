/** What environments say of episodes that begin and end, key by key, for clients that keep arrays. */

/** Copies, and what is said of each. */
interface Told {
  rows: readonly number[];
  /** @param at place in `rows` */
  infoOf(row: number, at: number): Record<string, unknown>;
}

/** Not told: how the copy stands is in columns, and what ended is told by itself. */
const left = new Set(['done', 'final']);

/**
 * JSON of `{begun: {rows, values: {key: [one a row]}}, ended: …}`: numbers, booleans and texts alone, null where a row has none.
 * Nothing where there are no rows.
 */
export function infoBytes(told: Readonly<Record<string, Told>>): Uint8Array {
  const parts = Object.entries(told).filter(([, { rows }]) => rows.length > 0);
  if (parts.length === 0) return new Uint8Array(0);
  return Buffer.from(JSON.stringify(Object.fromEntries(parts.map(([key, one]) => [key, valuesOf(one)]))));
}

function valuesOf({ rows, infoOf }: Told) {
  const values: Record<string, unknown[]> = {};
  rows.forEach((row, at) => {
    const info = infoOf(row, at);
    for (const key of Object.keys(info)) {
      if (left.has(key)) continue;
      const value = info[key];
      if (!['number', 'boolean', 'string'].includes(typeof value)) continue;
      (values[key] ??= new Array<unknown>(rows.length).fill(null))[at] = value;
    }
  });
  return { rows, values };
}

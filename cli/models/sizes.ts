/** Sizes as hosts show them: a megabyte is a million bytes. */

/** Whole from 10, with one decimal below. */
export function megabytes(bytes: number): number {
  return bytes < 1e7 ? Math.round(bytes / 1e5) / 10 : Math.round(bytes / 1e6);
}

/** The triples of a split on disk, by id. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TripleColumns } from '../../src/kg/graph.js';
import { readError, writeFileAtomic } from '../../src/run/files.js';
import { alteredFile } from '../imported-files.js';

/** Writes all heads, then all relations, then all tails: int32 as they lie in memory, which is little-endian. */
export function writeTripleFile(file: string, { heads, relations, tails }: TripleColumns): void {
  writeFileAtomic(file, [heads, relations, tails].map(bytesOf));
}

/**
 * Reads what `writeTripleFile` wrote.
 * @param sha256 of the file, from the manifest
 * @param count triples that it must hold
 * @throws WorkbenchError `data` for a file that is missing or is not the one that was imported
 */
export function readTripleFile(
  folder: string,
  name: string,
  { sha256, count }: { sha256: string | undefined; count: number },
): TripleColumns {
  const file = join(folder, name);
  const bytes = contentsOf(file);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256 || bytes.length !== 12 * count) {
    throw alteredFile(file);
  }
  const [heads, relations, tails] = [0, 1, 2].map((c) => {
    const column = new Int32Array(count);
    bytesOf(column).set(bytes.subarray(4 * c * count, 4 * (c + 1) * count));
    return column;
  });
  return { heads: heads!, relations: relations!, tails: tails! };
}

function contentsOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw readError(error, file, 'a file of an imported data set');
  }
}

const bytesOf = (column: Int32Array) => new Uint8Array(column.buffer, column.byteOffset, column.byteLength);

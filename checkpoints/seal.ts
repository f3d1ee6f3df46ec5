/**
 * The sha256 inside a safetensors file. It is the first text of the metadata, so its position is fixed; it is computed
 * over
 * every byte of the file with zeros at that position.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { refuseSpecial } from '../src/run/files.js';

/** Its key in `__metadata__`. */
export const sealKey = 'kgwalk-sha256';
/** Placeholder while it is computed. */
export const sealSpace = '0'.repeat(64);

const opening = Buffer.from(`{"__metadata__":{"${sealKey}":"`);
/** Bytes that are hashed at once; the library refuses 2 GiB. */
const chunkBytes = 2 ** 28;

/** Puts the digest over its space. @param start byte at which the header begins */
export function writeSeal(bytes: Uint8Array, start: number): void {
  bytes.set(Buffer.from(digestOf(bytes, start)), start + opening.length);
}

/** The digest that a file states, or undefined where it states none. @param start byte at which the header begins */
export function statedSeal(bytes: Uint8Array, start: number): string | undefined {
  const at = start + opening.length;
  if (!opening.equals(bytes.subarray(start, at))) return undefined;
  return Buffer.from(bytes.subarray(at, at + sealSpace.length)).toString('latin1');
}

/**
 * The stated digest, without reading the other bytes; undefined if there is none. @param start byte at which the header
 * begins
 */
export function sealOfFile(file: string, start: number): string | undefined {
  const bytes = Buffer.alloc(start + opening.length + sealSpace.length);
  refuseSpecial(file, 'a sealed file');
  const descriptor = openSync(file, 'r');
  try {
    return statedSeal(bytes.subarray(0, readSync(descriptor, bytes)), start);
  } finally {
    closeSync(descriptor);
  }
}

/** True if the stated digest is correct; undefined if there is none. @param start byte at which the header begins */
export function checkSeal(bytes: Uint8Array, start: number): boolean | undefined {
  const stated = statedSeal(bytes, start);
  return stated === undefined ? undefined : stated === digestOf(bytes, start);
}

function digestOf(bytes: Uint8Array, start: number): string {
  const at = start + opening.length;
  const hash = createHash('sha256').update(bytes.subarray(0, at)).update(sealSpace);
  for (let done = at + sealSpace.length; done < bytes.length; done += chunkBytes) {
    hash.update(bytes.subarray(done, done + chunkBytes));
  }
  return hash.digest('hex');
}

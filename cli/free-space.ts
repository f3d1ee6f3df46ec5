/** How much a disk has left. */
import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** Bytes that are free where `folder` is, or will be. */
export function freeBytes(folder: string): number {
  let place = folder;
  while (!existsSync(place) && place !== dirname(place)) place = dirname(place);
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize;
}

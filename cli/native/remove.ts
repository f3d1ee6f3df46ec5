/** `kgwalk native remove`. */
import { existsSync, rmSync } from 'node:fs';
import { nativeFolder } from '../../src/tensor/native-tensorflow.js';
import { printJson, printLine } from '../output.js';
import { requireNativeFolder } from './prerequisites.js';

/** Deletes what `kgwalk native build` made, and says so. */
export function remove({ json }: { json?: boolean }): void {
  const folder = nativeFolder();
  requireNativeFolder(folder);
  const removed = existsSync(folder);
  rmSync(folder, { recursive: true, force: true });
  if (json) printJson({ folder, removed });
  else printLine(removed ? `removed ${folder}` : `nothing to remove at ${folder}`);
}

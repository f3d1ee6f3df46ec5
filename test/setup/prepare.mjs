/**
 * Every temporary folder of a test run lies in one, which `remove-temporary-folder.mjs` removes at the end; and tests from
 * sources find the SIMD kernels compiled.
 */
import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { availableMemory, env } from 'node:process';
import { compileKernels } from '../../src/nn/simd/compile.js';

/** In memory where there is plenty: tests write many small files, each with an fsync. Who sets TMPDIR is obeyed. */
function spacious() {
  const [memory, room] = ['/dev/shm', 8 * 2 ** 30];
  const files = env.TMPDIR ? undefined : statfs(memory);
  return files && Math.min(files.bavail * files.bsize, availableMemory()) >= room ? memory : tmpdir();
}

function statfs(folder) {
  try {
    return statfsSync(folder);
  } catch {
    return undefined;
  }
}

export default async function prepare() {
  await compileKernels();
  // What commands print is compared as a whole: progress has separate tests.
  env.KGWALK_PROGRESS = 'off';
  // Read by `os.tmpdir()`, here and in jest's workers.
  env.TMPDIR = mkdtempSync(join(spacious(), 'kgwalk-tests-'));
}

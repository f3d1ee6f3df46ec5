/**
 * Every temporary folder of a test run lies in one, which `remove-temporary-folder.mjs` removes at the end; and tests from
 * sources find the SIMD kernels compiled.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { compileKernels } from '../../src/simd/compile.js';

export default async function prepare() {
  await compileKernels();
  // Read by `os.tmpdir()`, here and in jest's workers.
  // What commands print is compared as a whole: progress has tests of its own.
  env.KGWALK_PROGRESS = 'off';
  env.TMPDIR = mkdtempSync(join(tmpdir(), 'kgwalk-tests-'));
}

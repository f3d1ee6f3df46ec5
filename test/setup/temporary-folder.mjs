/** Every temporary folder of a test run lies in one, which `remove-temporary-folder.mjs` removes at the end. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';

export default function makeTemporaryFolder() {
  // Read by `os.tmpdir()`, here and in jest's workers.
  env.TMPDIR = mkdtempSync(join(tmpdir(), 'kgwalk-tests-'));
}

/** The end of what `prepare.mjs` begins. */
import { rmSync } from 'node:fs';
import { env } from 'node:process';

export default function removeTemporaryFolder() {
  rmSync(env.TMPDIR, { recursive: true, force: true });
}

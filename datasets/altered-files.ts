/** Which files of an imported data set are no longer what was imported, of whatever kind it is. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sha256File } from '../src/run/files.js';

/**
 * @param files sha256 by name, from the manifest
 * @returns one sentence a file that is missing or differs
 */
export async function alteredFiles(folder: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, sha256] of Object.entries(files)) {
    const file = join(folder, name);
    if (!existsSync(file)) problems.push(`${file} is missing`);
    else if ((await sha256File(file)) !== sha256)
      problems.push(`${file} was altered: its sha256 differs from the manifest`);
  }
  return problems;
}

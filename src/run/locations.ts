/** Where kgwalk keeps what outlives a run. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { env } from 'node:process';

/** The home folder: `KGWALK_HOME`, default `~/.kgwalk`. It holds imported data, models and caches; nothing is created here. */
export function kgwalkHome(): string {
  return env.KGWALK_HOME ? resolve(env.KGWALK_HOME) : join(homedir(), '.kgwalk');
}

/** Runs this program as a child process that ends with this one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { exitCodes } from '../src/run/errors.js';
import { makeFolder } from '../src/run/files.js';
import { packageRoot } from '../src/run/locations.js';

/** End of a process: `reason` if it failed. */
export type ProgramEnd = { state: 'finished' | 'stopped' } | { state: 'failed'; reason: string };

/**
 * Runs `kgwalk WORDS`.
 * @param process.log file for its output, appended
 * @param process.signal aborted: the child saves and stops
 */
export async function runProgram(
  words: readonly string[],
  process: { log: string; signal: AbortSignal; cwd?: string; variables?: NodeJS.ProcessEnv },
): Promise<ProgramEnd> {
  const { log, signal, cwd, variables } = process;
  makeFolder(dirname(log));
  const output = openSync(log, 'a');
  // A separate process group: Ctrl-C at the terminal reaches only the parent, which asks the child once. The IPC
  // channel shows the child that the parent is gone.
  const child = spawn(execPath, [join(packageRoot(), 'dist', 'cli', 'main.js'), ...words], {
    env: { ...env, ...variables },
    cwd,
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  });
  closeSync(output);
  const stop = () => void child.kill('SIGINT');
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  try {
    const [code, killedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (code === 0) return { state: 'finished' };
    if (signal.aborted) return { state: 'stopped' };
    return { state: 'failed', reason: reasonOf(log, code, killedBy) };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function reasonOf(log: string, code: number | null, killedBy: string | null): string {
  if (killedBy !== null) return `ended by ${killedBy}`;
  if (code === exitCodes.stopped) return 'stopped from outside';
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  return (
    lines.findLast((line) => line.startsWith('error: '))?.slice('error: '.length) ?? `exit status ${code}, see ${log}`
  );
}

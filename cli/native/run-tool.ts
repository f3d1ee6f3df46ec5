/** Running the tools that the build needs; never through a shell. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { env } from 'node:process';
import { WorkbenchError } from '../../src/run/errors.js';

/** What a tool said. */
export interface ToolResult {
  /** Exit status; null where it could not be started or was stopped. */
  status: number | null;
  out: string;
  told: string;
}

/** Starts a tool and waits for its end. @param signal ends it */
export async function runTool(
  tool: string,
  words: readonly string[],
  { signal, variables }: { signal?: AbortSignal; variables?: Record<string, string> } = {},
): Promise<ToolResult> {
  const child = spawn(tool, words, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...env, ...variables }, signal });
  const result: ToolResult = { status: null, out: '', told: '' };
  child.stdout.on('data', (text) => (result.out += String(text)));
  child.stderr.on('data', (text) => (result.told += String(text)));
  try {
    [result.status] = (await once(child, 'close')) as [number | null];
  } catch (error) {
    result.told += String((error as Error).message);
  }
  return result;
}

/**
 * Runs a tool that must succeed.
 * @param what it does, for the error
 * @returns what it wrote to standard output
 * @throws WorkbenchError `native` with the last lines that it told
 */
export async function mustRun(
  what: string,
  tool: string,
  words: readonly string[],
  options: Parameters<typeof runTool>[2] = {},
): Promise<string> {
  const { status, out, told } = await runTool(tool, words, options);
  if (status === 0) return out;
  const last = told.trim().split('\n').slice(-5).join('\n');
  throw new WorkbenchError('native', `expected ${what} to succeed, got this from ${tool}:\n${last}`, {
    hint: 'Nothing was changed. Mend what it says and run the command again; training works without it, on wasm.',
  });
}

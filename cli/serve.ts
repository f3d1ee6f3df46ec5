/** `kgwalk serve`: runs in a browser, while they train. */
import type { Command } from 'commander';
import process from 'node:process';
import { WorkbenchError } from '../src/run/errors.js';
import { wholeNumber } from '../tasks/flags.js';
import { stopSignals } from './options.js';
import { printJson, printLine, printNote } from './output.js';
import { registerEnv } from './serve-env.js';

const usualPort = '8666';

/** Adds `kgwalk serve`. */
export function register(program: Command): void {
  const command = program
    .command('serve')
    .description('show runs, sweeps and evaluations in a browser, live while they train')
    .argument('[runs...]', 'names or folders of runs, or folders that hold some (default runs)')
    .option('--port <n>', 'port; 0 = any free port', usualPort)
    .option(
      '--host <address>',
      'bind address; any other than 127.0.0.1 requires the token in the printed URL',
      '127.0.0.1',
    )
    .option('--open', 'open the page in the browser of this desktop')
    .option('--json', 'print the address as JSON')
    .action(serve);
  registerEnv(command);
}

interface ServeFlags {
  port: string;
  host: string;
  open?: boolean;
  json?: boolean;
}

async function serve(runs: string[], { port, host, open, json }: ServeFlags): Promise<void> {
  const { runsFolder } = await import('../src/run/locations.js');
  // Ctrl-C, SIGTERM and a closed terminal are the ordinary end of a server, from its first moment on.
  const stopped = new Promise<void>((resolve) => stopSignals.forEach((one) => process.once(one, () => resolve())));
  const roots = runs.length > 0 ? await Promise.all(runs.map(folderOf)) : [runsFolder()];
  const serving = await listen({ roots, host, port: portOf(port) });
  const { url } = serving;
  if (json) printJson({ url, port: serving.port });
  else printLine(url);
  if (!json) printNote(`shows ${roots.join(', ')}; Ctrl-C ends it`);
  if (open && !(await opened(url))) printNote('no desktop to open it on: open the address in a browser');
  await stopped;
  await serving.close();
}

/** Serves some folders; internal errors are printed and the server keeps running. */
export async function listen(options: { roots: readonly string[]; host?: string; port: number }) {
  const { serve: start } = await import('../serve/server.js');
  const onBug = (error: unknown) => printNote((error instanceof Error ? error.stack : undefined) ?? String(error));
  return start({ ...options, onBug });
}

/** Serves the page for runs that are about to train, on the usual port or a free one, and prints its address. */
export async function follow(roots: readonly string[]) {
  const usual = { roots, port: portOf(usualPort) };
  const serving = await listen(usual).catch((error: unknown) => {
    if (error instanceof WorkbenchError) return listen({ ...usual, port: 0 });
    throw error;
  });
  printNote(`follow it: ${serving.url}`);
  return serving;
}

/** Folder from its path or a run's name. @throws WorkbenchError `usage` if there is neither */
async function folderOf(name: string): Promise<string> {
  const { existsSync, statSync } = await import('node:fs');
  const { resolve } = await import('node:path');
  const { runsFolder } = await import('../src/run/locations.js');
  const found = [resolve(name), resolve(runsFolder(), name)].find(
    (one) => existsSync(one) && statSync(one).isDirectory(),
  );
  if (found !== undefined) return found;
  throw new WorkbenchError('usage', `expected a run or a folder of runs, got nothing, at ${name}`, {
    hint: 'The runs there are: `kgwalk runs list`.',
  });
}

/** @throws WorkbenchError `usage` unless it is a whole number from 0 to 65535 */
export const portOf = (text: string): number => wholeNumber(text, '--port', 0, 65_535);

async function opened(url: string): Promise<boolean> {
  const { openPage } = await import('./quickstart/shown.js');
  return openPage(url);
}

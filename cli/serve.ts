/** `kgwalk serve`: runs in a browser, while they train. */
import { type Command, Option } from 'commander';
import process from 'node:process';
import { WorkbenchError } from '../src/run/errors.js';
import { wholeNumber } from '../tasks/flags.js';
import { stopSignals, repeatable } from './options.js';
import { printJson, printLine, printNote } from './output.js';
import type { Autoreset } from '../envs/vector-env.js';
import type { LoadLinkOptions } from '../tasks/links/model.js';

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
  registerPolicy(command);
  registerLinks(command);
}

type ServeFlags = { port: string; host: string; open?: boolean; json?: boolean };

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

interface ServeEnvFlags {
  dataset?: string;
  split: string;
  encoder?: string;
  config?: string;
  set: string[];
  option: string[];
  numEnvs: string;
  autoreset: Autoreset;
  socket?: string;
  stdio?: true;
}

const mostEnvs = 65_536;

/** Adds `env` to the command `serve`. */
export function registerEnv(serve: Command): void {
  serve
    .command('env <id>')
    .description(
      'environments for other languages, such as clients/python: frames by standard input and output, or a socket',
    )
    .option(
      '--dataset <name>',
      'imported data set, such as umls, opendialkg or metaqa/2-hop; classic environments need none',
    )
    .option('--split <split>', 'whose samples episodes are drawn from: train, valid or test', 'train')
    .option(
      '--encoder <which>',
      'vectors in observations: links transe or bilinear, as --config has them; dialogues and questions FILE.gguf, a name of `models list`, or hashed:DIM (default none)',
    )
    .option('--config <preset>', 'preset or YAML file whose settings the environment follows, such as umls-transe')
    .option('--set <key=value>', 'change a setting, such as linkWalk.horizon=2; repeatable', repeatable, [])
    .option('--option <key=value>', 'an option of the environment itself, such as size=7; repeatable', repeatable, [])
    .option('--num-envs <n>', 'number of copies stepped together', '1')
    .addOption(
      new Option('--autoreset <when>', 'when to reset a copy whose episode ended')
        .choices(['disabled', 'sameStep', 'nextStep'])
        .default('disabled'),
    )
    .option('--socket <path>', 'listen on a Unix socket that only you can open, until stopped')
    .option('--stdio', 'use standard input and output (default); ends with the parent process')
    .action(serveEnv);
}

async function serveEnv(id: string, flags: ServeEnvFlags): Promise<void> {
  const { socket, stdio, ...asked } = flags;
  const numEnvs = wholeNumber(flags.numEnvs, '--num-envs', 1);
  if (numEnvs > mostEnvs) {
    throw new WorkbenchError('usage', `expected at most ${mostEnvs} copies, got ${numEnvs}, at --num-envs`);
  }
  if (socket !== undefined && stdio) throw new WorkbenchError('usage', 'expected --socket or --stdio, got both');
  if (socket === undefined) requireProgram('clients/python starts this command itself; by hand: --socket PATH.');
  const { openEnvironment } = await import('../serve/env/open-environment.js');
  const { EnvSession } = await import('../serve/env/session.js');
  const { serveSocket, serveStdio } = await import('../serve/env/transports.js');
  const { terminalWork } = await import('./terminal.js');
  const work = terminalWork();
  const made = await openEnvironment({ ...asked, id, numEnvs }, work);
  if (socket === undefined) return serveStdio(new EnvSession(made()), work.signal);
  await serveSocket(made, socket, {
    signal: work.signal,
    onReady: () => printNote(`${id}, ${numEnvs} at once, at ${socket}; Ctrl-C ends it`),
  });
}

function requireProgram(hint: string): void {
  if (process.stdin.isTTY)
    throw new WorkbenchError('usage', 'expected a program at standard input, got a terminal', { hint });
}

/** Adds `policy` to the command `serve`. */
function registerPolicy(serve: Command): void {
  serve
    .command('policy <run>')
    .description('a trained policy for other languages, such as clients/python: frames by standard input and output')
    .option('--checkpoint <which>', 'best, last, a name or a step', 'best')
    .option(
      '--backend <name>',
      'simd, webgpu, tensorflow, tensorflow-gpu or wasm instead of the backend the run was trained on',
    )
    .action(servePolicy);
}

/** Adds `links` to the command `serve`. */
function registerLinks(serve: Command): void {
  serve
    .command('links <name>')
    .description('answers to link queries by a run or an agent for other languages, as `policy` serves')
    .option('--dataset <name>', 'imported data set (default: the run’s own)')
    .option('--checkpoint <which>', 'best, last, a name or a step', 'best')
    .option('--set <switch=value>', 'set a switch of an agent; repeatable', repeatable, [])
    .action(serveLinks);
}

async function serveLinks(name: string, flags: LoadLinkOptions): Promise<void> {
  requireProgram('clients/python starts this command itself.');
  const { loadLinkModel } = await import('../tasks/links/model.js');
  const { linkSession } = await import('../serve/env/policy-session.js');
  const { serveStdio } = await import('../serve/env/transports.js');
  const { terminalWork } = await import('./terminal.js');
  await serveStdio(linkSession(await loadLinkModel(name, flags)), terminalWork().signal);
}

async function servePolicy(run: string, flags: { checkpoint: string; backend?: string }): Promise<void> {
  requireProgram('clients/python starts this command itself.');
  const { loadPolicy } = await import('../agents/policy/agent.js');
  const { executorOf } = await import('../src/nn/open-executor.js');
  const { policySession } = await import('../serve/env/policy-session.js');
  const { serveStdio } = await import('../serve/env/transports.js');
  const { terminalWork } = await import('./terminal.js');
  const backend = flags.backend === undefined ? undefined : executorOf(flags.backend);
  const policy = await loadPolicy(run, { checkpoint: flags.checkpoint, backend });
  await serveStdio(policySession(policy), terminalWork().signal);
}

/** `kgwalk serve env`: environments for programs in other languages, by frames over standard input and output or a Unix socket. */
import { type Command, Option } from 'commander';
import type { Autoreset } from '../envs/vector-env.js';
import { WorkbenchError } from '../src/run/errors.js';
import { wholeNumber } from '../tasks/flags.js';
import { repeatable } from './options.js';
import { printNote } from './output.js';

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
  if (socket !== undefined && stdio) {
    throw new WorkbenchError('usage', 'expected --socket or --stdio, got both');
  }
  if (socket === undefined && process.stdin.isTTY) {
    throw new WorkbenchError('usage', 'expected a program at standard input, got a terminal', {
      hint: 'clients/python starts this command itself; by hand: --socket PATH.',
    });
  }
  const { openEnvironment } = await import('../serve/env/open-environment.js');
  const { serveSocket, serveStdio } = await import('../serve/env/transports.js');
  const { terminalWork } = await import('./terminal.js');
  const work = terminalWork();
  const made = await openEnvironment({ ...asked, id, numEnvs }, work);
  if (socket === undefined) return serveStdio(made, work.signal);
  await serveSocket(made, socket, {
    signal: work.signal,
    onReady: () => printNote(`${id}, ${numEnvs} at once, at ${socket}; Ctrl-C ends it`),
  });
}

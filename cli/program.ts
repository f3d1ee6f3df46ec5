/** The command line. Each command registers itself and loads its heavy parts only when it runs. */
import { Command } from 'commander';
import { argv, exit, stderr, umask } from 'node:process';
import { nameProgram } from '../src/run/command-line.js';
import { kgwalkVersion } from '../src/run/environment.js';
import { commands } from './commands.js';
import { describeFailure, listInUnknown, printLine, printUsageError, watchStreams } from './output.js';

const firstSteps = `
First steps:
  kgwalk doctor                                         what this machine has
  kgwalk datasets import opendialkg --from DIR          the data, from the release's files
  kgwalk train opendialkg --model MODEL.gguf            a policy over frozen text vectors
  kgwalk evaluate RUN --split valid                     how good it is
  kgwalk report RUN                                     its learning curves, as one page

On questions:
  kgwalk datasets import metaqa --from DIR              also pathquestion, webqsp, custom …
  kgwalk train metaqa --model MODEL.gguf                a walker from questions and answers alone
  kgwalk compare tog fiske self-veqa RUN --dataset metaqa/2-hop --model CHAT.gguf
                                                        with prompted agents; --model oracle:0.1 simulates one`;

/** Printed without a command. */
const whatToType = `kgwalk trains and measures agents that answer by walking a knowledge graph.
  kgwalk quickstart                  see it at work: a walker trained, compared and asked, within a minute or two
  kgwalk datasets import custom --from DIR, kgwalk train metaqa --set data.dataset=NAME    your own graph and questions
  kgwalk compare NAME… --dataset NAME    agents side by side; kgwalk ask RUN "QUESTION" for one answer; kgwalk serve for a live page
  kgwalk --help                      all commands; kgwalk COMMAND --help for one; kgwalk doctor for what this machine has`;

nameProgram();
const json = argv.includes('--json');

// Models and loaded native code are in the home folder: files are created without write access for others, for any umask.
umask(umask(0o022) | 0o002);

const program = new Command('kgwalk')
  .description('Train and measure agents that reason by walking a knowledge graph.')
  .version(kgwalkVersion())
  .exitOverride()
  .configureOutput({ outputError: (text) => printUsageError(text, json) })
  .addHelpText('after', firstSteps);
if (!json) program.showHelpAfterError('(add --help for the options)');

for (const register of commands) register(program);
listInUnknown(program);

// The parent process (such as a sweep) is gone: treated as Ctrl-C.
process.once('disconnect', () => process.kill(process.pid, 'SIGINT'));
process.channel?.unref();

watchStreams(json);

try {
  if (argv.length <= 2) printLine(whatToType);
  else await program.parseAsync();
} catch (error) {
  const { exitCode, text } = describeFailure(error, json);
  if (text) stderr.write(`${text}\n`);
  process.exitCode = exitCode;
}

// Native parts may keep the process alive after the work; all output has been flushed by now.
setTimeout(() => exit(), 1000).unref();

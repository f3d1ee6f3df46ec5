/** `kgwalk predict` and `kgwalk rules`: the likeliest missing triples of a data set of links, and rules that imply such. */
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import { type PredictFlags, type RuleFlags, usualFlags } from '../tasks/flags.js';
import { addThreadsOption, repeatable } from './options.js';
import { printLine, printShown } from './output.js';

/** Adds `kgwalk predict`. */
export function register(program: Command): void {
  const command = program
    .command('predict')
    .description(
      'list the likeliest triples that train and valid of a data set of links lack, with the chains that support them; triples of test count as missing and are marked',
    )
    .argument('<run-or-dataset>', 'name or folder of a run, RUN+RUN for several as one; with --agent the data set')
    .option('--agent <name>', 'use this agent instead of the run: rules, transe, bilinear, random, ensemble or a run')
    .option('--relation <name>', 'predict this relation alone, ~NAME its heads; repeatable', repeatable, [])
    .option('--top <n>', 'number of triples to keep', '100')
    .option('--each', 'keep the best of each relation instead of those of all relations together')
    .option('--all-heads', 'ask every entity for a tail, not only those that have the relation in train')
    .option('--to <file>', 'also write them to this file, which ends in .tsv')
    .option('--set <switch=value>', 'set a switch of the agent; repeatable', repeatable, [])
    .option('--config <preset>', 'preset by which the agents transe and bilinear are trained')
    .option('--encoder <file>', 'of a run that reads names of relations: its text encoder, if moved');
  addThreadsOption(command, 'the training of an embedding').option('--json', 'print JSON').action(predict);
}

type Flags = PredictFlags & { to?: string; json?: boolean };

async function predict(name: string, { to, json, ...given }: Flags): Promise<void> {
  if (to !== undefined && !to.endsWith('.tsv')) {
    throw new WorkbenchError('usage', `expected a name that ends in .tsv, got ${to}, at --to`);
  }
  const { taskFor, terminalWork } = await import('./terminal.js');
  const { resolve } = await import('../tasks/named.js');
  const { findTrained, requireTrained } = await import('../tasks/named-runs.js');
  const { lacks } = await import('../tasks/index.js');
  const { importedNames } = await import('../datasets/imported-dataset.js');
  const { writeFileAtomic } = await import('../src/run/files.js');
  const { agent } = given;
  const named = { name: agent ?? name, isRun: agent === undefined ? true : undefined };
  const flags = { ...usualFlags, ...given, dataset: agent === undefined ? undefined : name };
  if (agent === undefined && !findTrained(name, 'best')) {
    if (importedNames().includes(name)) {
      throw new WorkbenchError('usage', `expected an agent for a data set, got none, at --agent`, {
        hint: `Such as \`kgwalk predict ${name} --agent rules\`.`,
      });
    }
    requireTrained(name);
  }
  const task = await taskFor([named], flags);
  const which = resolve(task, named, flags);
  const predicted = await (task.predict ?? lacks('links to predict', task.name))(which, flags, terminalWork());
  printShown(predicted, json);
  if (to === undefined) return;
  writeFileAtomic(to, predicted.tsv);
  if (!json) printLine(`written: ${to}`);
}

/** Adds `kgwalk rules`. */
export function registerRules(program: Command): void {
  program
    .command('rules')
    .description('rules that are mined on the train split of links')
    .command('show')
    .description(
      'mine the rules of a data set of links, and list the most precise, with how often each is right in train',
    )
    .argument('<dataset>', 'name of a data set of links')
    .option('--relation <name>', 'rules that answer this relation alone, ~NAME its heads; repeatable', repeatable, [])
    .option('--top <n>', 'number of rules', '50')
    .option('--json', 'print JSON')
    .action(showRules);
}

async function showRules(dataset: string, { json, ...flags }: RuleFlags & { json?: boolean }): Promise<void> {
  const { taskFor, terminalWork } = await import('./terminal.js');
  const { lacks } = await import('../tasks/index.js');
  const task = await taskFor([{ name: 'rules' }], { ...usualFlags, dataset });
  printShown(await (task.rules ?? lacks('links with rules', task.name))(dataset, flags, terminalWork()), json);
}

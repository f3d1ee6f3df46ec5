/** `kgwalk rules`: what the agent of that name has mined. */
import type { Command } from 'commander';
import { type RuleFlags, usualFlags } from '../tasks/flags.js';
import { repeatable } from './options.js';
import { printShown } from './output.js';

/** Adds `kgwalk rules`. */
export function register(program: Command): void {
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
    .action(show);
}

async function show(dataset: string, { json, ...flags }: RuleFlags & { json?: boolean }): Promise<void> {
  const { taskFor, terminalWork } = await import('./terminal.js');
  const { lacks } = await import('../tasks/index.js');
  const task = await taskFor([{ name: 'rules' }], { ...usualFlags, dataset });
  printShown(await (task.rules ?? lacks('links with rules', task.name))(dataset, flags, terminalWork()), json);
}

/** `--plugin FILE`: a user's agents, environments, rewards, figures and data sets, for every command. */
import { argv } from 'node:process';
import type { Command } from 'commander';
import { rememberCommand } from '../src/run/command-line.js';
import { repeatable } from './options.js';

/** Adds the option to the program; files are loaded, in order, before any command begins. */
export function register(program: Command): void {
  program
    .option(
      '--plugin <file>',
      'load a JavaScript module of yours that registers agents, environments, rewards, figures or data sets; repeatable',
      repeatable,
      [],
    )
    .hook('preAction', async () => {
      rememberCommand(wordsOf(program));
      const { plugin } = program.opts<{ plugin: string[] }>();
      if (plugin.length === 0) return;
      const { loadPlugin } = await import('../tasks/plugins.js');
      for (const file of plugin) await loadPlugin(file);
    });
}

/** Arguments after the program's name. */
function wordsOf(program: Command): string[] {
  const { rawArgs } = program as Command & { rawArgs?: string[] };
  return rawArgs && rawArgs.join('\0') !== argv.join('\0') ? rawArgs : argv.slice(2);
}

/** Options and checks of every command: `--plugin FILE`, `--progress HOW`, `--wide`, no empty words. */
import { argv, env, stderr } from 'node:process';
import { type Command, Option } from 'commander';
import { rememberCommand } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import { repeatable } from './options.js';
import { setWide } from './output.js';
import { type ProgressMode, progressModes, type ProgressReporter, terminalProgress } from '../src/run/progress.js';

/** Adds the option to the program; files are loaded, in order, before any command begins. */
export function registerPlugins(program: Command): void {
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

let mode: ProgressMode = progressModes.find((one) => one === env.KGWALK_PROGRESS) ?? 'auto';

/** Adds the option to the program. */
export function registerProgress(program: Command): void {
  program
    .addOption(
      new Option('--progress <how>', 'how to show progress; auto: a bar on a terminal, plain lines elsewhere')
        .choices(progressModes)
        .default('auto')
        .env('KGWALK_PROGRESS'),
    )
    .hook('preAction', () => {
      mode = program.opts<{ progress: ProgressMode }>().progress;
    });
}

/** Progress in the requested mode, on standard error. */
export const commandProgress = (): ProgressReporter => terminalProgress(stderr, { mode });

/** Adds the option to the program. */
export function registerWide(program: Command): void {
  program
    .option('--wide', 'show all columns of a table where the terminal is too narrow for them')
    .hook('preAction', () => setWide(program.opts<{ wide?: boolean }>().wide === true));
}

/** For every command: an empty word is an unset shell variable, never a name or folder. */
export function refuseEmptyWords(program: Command): void {
  program.hook('preAction', (_, command) => {
    const given = command.options.filter((option) => command.getOptionValue(option.attributeName()) === '');
    const empty = given[0]?.long ?? (command.args.includes('') ? command.name() : undefined);
    if (empty === undefined) return;
    throw new WorkbenchError('usage', `expected a word, got an empty one, at ${empty}`, {
      hint: 'Is a variable of the shell not set?',
    });
  });
}

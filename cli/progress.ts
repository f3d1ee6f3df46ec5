/** `--progress HOW`: display of long work, for every command. */
import { type Command, Option } from 'commander';
import { env, stderr } from 'node:process';
import { type ProgressMode, progressModes, type ProgressReporter, terminalProgress } from '../src/run/progress.js';

let mode: ProgressMode = progressModes.find((one) => one === env.KGWALK_PROGRESS) ?? 'auto';

/** Adds the option to the program. */
export function register(program: Command): void {
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

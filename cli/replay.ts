/** `kgwalk replay`: a finished evaluation of questions once more, from what its model wrote. */
import type { Command } from 'commander';
import type { ReplayFlags } from './questions/replay-on-questions.js';

/** Adds `kgwalk replay`. */
export function register(program: Command): void {
  program
    .command('replay')
    .description('run an evaluation of questions again without a model, and compare every byte with what it saved')
    .argument('<evaluation>', 'name or folder of an evaluation, as `kgwalk evaluate` said it')
    .option('--question <id>', 'this question alone, with its trace')
    .option('--encoder <file>', 'the encoder, if its file has moved: FILE.gguf or a name of `models list`')
    .option('--evaluations <dir>', 'where evaluations are kept (default runs/evaluations)')
    .option('--json', 'print JSON')
    .action(async (evaluation: string, flags: ReplayFlags) => {
      const { replayOnQuestions } = await import('./questions/replay-on-questions.js');
      return replayOnQuestions(evaluation, flags);
    });
}

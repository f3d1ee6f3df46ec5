/** `kgwalk checkpoint list|show|export`: the checkpoints of a run. */
import type { Command } from 'commander';
import type { ExportOptions, JsonOption } from './checkpoint-actions.js';

/** Adds `kgwalk checkpoint`. */
export function register(program: Command): void {
  const command = program.command('checkpoint').description('list, show and export the checkpoints of a run');
  const which = ['[name]', 'best, last, clone, a step or a name of the list', 'best'] as const;
  command
    .command('list')
    .description('the checkpoints that were kept')
    .argument('<run>', 'name or folder of a run')
    .option('--json', 'as JSON')
    .action(async (run: string, options: JsonOption) => (await actions()).list(run, options));
  command
    .command('show')
    .description('what a checkpoint is, was trained on and scores')
    .argument('<run>', 'name or folder of a run')
    .argument(...which)
    .option('--json', 'its header and the shapes of its tensors as JSON')
    .action(async (run: string, name: string, options: JsonOption) => (await actions()).show(run, name, options));
  command
    .command('export')
    .description(
      'weights and header, without the state of training, as one safetensors file with a model card beside it',
    )
    .argument('<run>', 'name or folder of a run')
    .argument(...which)
    .requiredOption('--to <file>', 'where to write, ending in .safetensors')
    .option('--json', 'the paths as JSON')
    .action(async (run: string, name: string, options: ExportOptions) =>
      (await actions()).exportTo(run, name, options),
    );
}

const actions = () => import('./checkpoint-actions.js');

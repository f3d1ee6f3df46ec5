/** `kgwalk models …`: the models that are here and how to get others. */
import type { Command } from 'commander';
import type { TrainModelFlags } from './models/train.js';
import { repeatable } from './options.js';

/** Adds the `models` commands to `program`. */
export function register(program: Command): void {
  const models = program.command('models').description('list, download, describe and measure language models');
  models
    .command('list')
    .description('the embedded model, downloaded ones, and those that can be had by name')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => (await import('./models/files.js')).listModels(flags));
  models
    .command('get <name-or-url>')
    .description(
      'download a model by its name, or a .gguf file from an address; a broken download goes on where it stopped',
    )
    .option('--name <name>', 'what to call it (default: the registry’s name, or the file’s)')
    .option('--sha256 <hash>', 'what the file must have; else the registry or the host says it')
    .option('--accept-licence', 'the licence was read and is accepted, for models that ask for it')
    .option('--accept-unverified', 'take a file although nobody gives its sha256')
    .option('--json', 'print JSON')
    .action(async (what: string, flags: object) => (await import('./models/files.js')).getModel(what, flags));
  models
    .command('info <name-or-file>')
    .description('architecture, size, context, template, vector length and sha256 of a model')
    .option('--json', 'print JSON')
    .action(async (what: string, flags: object) => (await import('./models/files.js')).describe(what, flags));
  models
    .command('bench <name-or-file>')
    .description('how fast a model reads prompts, writes replies and encodes texts on this machine')
    .option(
      '--threads <n>',
      'processor threads (default 1 for replies, as agents use; one a core, at most 4, for texts)',
    )
    .option('--gpu', 'use a graphics card where there is one')
    .option('--repeats <n>', 'measurements of each, of which the median counts', '3')
    .option('--json', 'print JSON')
    .action(async (what: string, flags: { repeats: string }) => (await import('./models/bench.js')).bench(what, flags));
  models
    .command('train')
    .description('make the embedded model again, from its data to the file: about an hour on native TensorFlow')
    .option('--out <dir>', 'folder of model, log, loss curve and checkpoint', 'models/demo')
    .option('--set <key=value>', 'change a setting, such as training.tokens=100000; repeatable', repeatable, [])
    .option('--resume', 'go on with the training in --out')
    .option(
      '--replay-batch <file>',
      'make the update again that a training diverged at: diverged.safetensors in its --out',
    )
    .option('--max-minutes <n>', 'stop after that long, with a checkpoint to resume from')
    .option('--backend <name>', 'tensorflow, wasm or cpu instead of the fastest that works')
    .option('--json', 'print JSON')
    .action(async (flags: TrainModelFlags) => (await import('./models/train.js')).trainModel(flags));
}

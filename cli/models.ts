/** `kgwalk models …`: available models and downloads. */
import type { Command } from 'commander';
import type { TrainModelFlags, TrainZeroShotFlags } from './models/train.js';
import { addThreadsOption, minutesOf, repeatable } from './options.js';
import { addRemove } from './remove.js';

/** Adds the `models` commands to `program`. */
export function register(program: Command): void {
  const models = program.command('models').description('list, download, describe and remove language models');
  models
    .command('list')
    .description('list the embedded model, downloaded models, and models that can be downloaded by name')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => (await import('./models/files.js')).listModels(flags));
  models
    .command('get <name-or-url>')
    .description(
      'download a model by name, or a .gguf file from a URL; an interrupted download continues where it stopped',
    )
    .option('--name <name>', 'name to save it under (default: the registry’s name, or the file’s)')
    .option('--sha256 <hash>', 'expected hash of the file (default: what the registry or the host states)')
    .option('--accept-licence', 'confirm that you have read and accept the licence, for models that require it')
    .option('--accept-unverified', 'accept a file without a known sha256')
    .option('--json', 'print JSON')
    .action(async (what: string, flags: object) => (await import('./models/files.js')).getModel(what, flags));
  models
    .command('info <name-or-file>')
    .alias('show')
    .description('show architecture, size, context, template, vector length and sha256 of a model')
    .option('--json', 'print JSON')
    .action(async (what: string, flags: object) => (await import('./models/files.js')).describe(what, flags));
  addRemove(models, {
    argument: '<name>',
    about: 'name of a downloaded model, as `kgwalk models list` shows it',
    description: 'delete a downloaded model, or what an interrupted download left',
    remove: async (name) => (await import('../src/llm/download-model.js')).removeModel(name),
    isUsedBy: (name, { encoder }) => (encoder as { model?: unknown } | undefined)?.model === name,
  });
  models
    .command('train')
    .description('rebuild the embedded model from its data; takes about an hour on native TensorFlow')
    .option('--out <dir>', 'folder for the model, log, loss curve and checkpoint', 'models/demo')
    .option('--set <key=value>', 'change a setting, such as training.tokens=100000; repeatable', repeatable, [])
    .option('--resume', 'continue the training in --out')
    .option('--max-minutes <n>', 'stop after this many minutes, with a checkpoint to resume from', minutesOf)
    .option(
      '--backend <name>',
      'simd, webgpu, tensorflow, tensorflow-gpu or wasm instead of the fastest backend that works',
    )
    .option('--json', 'print JSON')
    .action(async (flags: TrainModelFlags) => (await import('./models/train.js')).trainModel(flags));
  const zeroShot = models
    .command('train-zero-shot')
    .description('train the weights of the agent zero-shot again, on generated graphs; takes minutes')
    .option('--out <dir>', 'folder for the weights', 'models/zero-shot')
    .option('--set <key=value>', 'change a setting, such as seed=1; repeatable', repeatable, [])
    .option('--json', 'print JSON')
    .action(async (flags: TrainZeroShotFlags) => (await import('./models/train.js')).trainZeroShotModel(flags));
  addThreadsOption(zeroShot, 'the queries of a step');
}

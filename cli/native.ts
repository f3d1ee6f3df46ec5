/** `kgwalk native …`: the native build of TensorFlow, which is faster than WebAssembly and can use a GPU. */
import type { Command } from 'commander';
import { repeatable } from './options.js';

/** Adds the `native` commands to `program`. */
export function register(program: Command): void {
  const native = program.command('native').description('build or remove native TensorFlow, the faster tensor backend');
  native
    .command('install')
    .description('build it from a TensorFlow wheel in a separate folder that npm does not touch, and check it')
    .option('--gpu', 'with CUDA 12, for NVIDIA cards')
    .option(
      '--wheel <file>',
      'take this file instead of downloading by pip; with --gpu repeatable, for the wheels of CUDA libraries',
      repeatable,
      [],
    )
    .option('--json', 'print JSON')
    .action(async (flags: { gpu?: boolean; wheel: string[]; json?: boolean }) =>
      (await import('./native/install.js')).install(flags),
    );
  native
    .command('remove')
    .description('delete what `native install` made')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => (await import('./native/install.js')).remove(flags));
}

/** `kgwalk doctor` and `kgwalk native …`: what this machine has, and the native build of TensorFlow. */
import type { Command } from 'commander';
import { printable } from '../src/run/printable.js';
import type { Finding } from './diagnosis.js';
import { printJson, printLine, printTable } from './output.js';
import { repeatable } from './options.js';

/** Adds `kgwalk doctor`. */
export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('show what this machine has, what is missing and how to get it')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { diagnose } = await import('./diagnosis.js');
      const findings = await diagnose();
      if (json) printJson(findings);
      else printFindings(findings);
    });
}

function printFindings(findings: readonly Finding[]): void {
  printTable(findings.map(({ part, status, detail }) => ({ part, status, detail: printable(detail, 100) })));
  const remedies = findings.flatMap(({ part, remedy }) => (remedy === undefined ? [] : [`${part}: ${remedy}`]));
  if (remedies.length > 0) printLine(['', 'How to get what is missing:', ...remedies].join('\n'));
}

/** Adds the `native` commands to `program`. */
export function registerNative(program: Command): void {
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

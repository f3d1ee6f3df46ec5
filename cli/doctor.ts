/** `kgwalk doctor`: available and missing parts of this machine, with remedies. */
import type { Command } from 'commander';
import { printable } from '../src/run/printable.js';
import type { Finding } from './diagnosis.js';
import { printJson, printLine, printTable } from './output.js';

/** Adds `kgwalk doctor`. */
export function register(program: Command): void {
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

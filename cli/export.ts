/** `kgwalk export`: a trained agent as one page that works offline. */
import type { Command } from 'commander';
import { join, resolve } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import { printJson, printLine } from './output.js';

/** Adds `kgwalk export`. */
export function register(program: Command): void {
  program
    .command('export')
    .description(
      'write a trained agent as one HTML page of at most 10 MB that answers in a browser, offline: graph, weights and examples are in it',
    )
    .argument('<run>', 'name or folder of a run: a dialogue walker, a relation walker or an exact walker of chains')
    .option('--html [file]', 'the page to write; default: agent.html in the run’s folder')
    .option('--checkpoint <which>', 'best, last, clone or a step', 'best')
    .option('--encoder <file>', 'where the text encoder’s file is, if not where the run names it')
    .option('--json', 'path and size as JSON')
    .action(exportRun);
}

type Flags = { html?: string | true; checkpoint: string; encoder?: string; json?: boolean };

async function exportRun(run: string, { html, checkpoint, encoder, json }: Flags): Promise<void> {
  if (html === undefined) {
    throw new WorkbenchError('usage', 'expected the kind of file to write, got none', {
      hint: 'Add --html, the one kind there is.',
    });
  }
  const { openRun } = await import('../src/run/run-folder.js');
  const { writeAgentPage } = await import('../export/write-page.js');
  const file = html === true ? join(openRun(run).folder, 'agent.html') : resolve(html);
  const bytes = await writeAgentPage(file, { run, checkpoint, encoder });
  if (json) printJson({ page: file, bytes });
  else printLine(file);
}

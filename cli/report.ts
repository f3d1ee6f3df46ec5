/** `kgwalk report`: one page about one or more runs. */
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { printJson, printLine } from './output.js';

export function register(program: Command): void {
  program
    .command('report')
    .description('learning curves, tables and example walks of runs as PNG files and one HTML page that works offline')
    .argument('<run...>', 'names or folders of runs; those that differ only in the seed are averaged')
    .option('--to <dir>', 'where to write; default: report/ in the run, for several runs report/ beside the first')
    .option('--json', 'the paths as JSON')
    .action(report);
}

async function report(names: string[], { to, json }: { to?: string; json?: boolean }): Promise<void> {
  const { runsFolder } = await import('../src/run/locations.js');
  const { openRun, runFiles } = await import('../src/run/run-folder.js');
  const { writeReport } = await import('../reports/report.js');
  const runs = names.map((name) => openRun(name, runsFolder()));
  const folder = runs.length === 1 ? runFiles(runs[0]!.folder).report : join(dirname(runs[0]!.folder), 'report');
  const written = await writeReport(runs, { to: to === undefined ? folder : resolve(to) });
  if (json) printJson(written);
  else printLine(written.page);
}

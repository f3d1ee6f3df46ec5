/** `kgwalk report`: one page about one or more runs. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { runsFolder } from '../src/run/locations.js';
import { openRun, runFiles } from '../src/run/run-folder.js';
import { printJson, printLine } from './output.js';

export function register(program: Command): void {
  program
    .command('report')
    .description('learning curves, tables and example walks of runs as PNG files and one HTML page that works offline')
    .argument('<run...>', 'names or folders of runs; those that differ only in the seed are averaged')
    .option('--to <dir>', 'where to write; default: report/ in the run, for several runs report/ beside the runs')
    .option('--json', 'the paths as JSON')
    .action(async (names: string[], { to, json }: { to?: string; json?: boolean }) => {
      const runs = names.map((name) => openRun(name, runsFolder()));
      const own = runs.length === 1 ? runFiles(runs[0]!.folder).report : resolve(runsFolder(), 'report');
      const { writeReport } = await import('../reports/report.js');
      const report = await writeReport(runs, { to: to === undefined ? own : resolve(to) });
      if (json) printJson(report);
      else printLine(report.page);
    });
}

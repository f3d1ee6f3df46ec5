/** `kgwalk report`: one page about runs, and about evaluations of questions and of link queries. */
import type { Command } from 'commander';
import { dirname, join, resolve } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import type { SweepInfo } from '../src/run/sweep.js';
import { printJson, printLine } from './output.js';

/** Adds `kgwalk report`. */
export function register(program: Command): void {
  program
    .command('report')
    .description(
      'write learning curves, tables and examples of runs and evaluations as one HTML page that works offline, and as PNG files',
    )
    .argument(
      '<run-or-evaluation...>',
      'names or folders; runs and evaluations that differ only in the seed are averaged; or one sweep',
    )
    .option('--to <dir>', 'where to write; default: report/ in the only one named, of several report/ beside the first')
    .option('--title <text>', 'of the page; default: what it is about')
    .option('--evaluations <dir>', 'where evaluations are kept (default runs/evaluations)')
    .option('--json', 'the paths as JSON')
    .action(report);
}

interface ReportFlags {
  to?: string;
  title?: string;
  evaluations?: string;
  json?: boolean;
}

async function report(names: string[], { to, title, evaluations: root, json }: ReportFlags): Promise<void> {
  const sweeps = await foundSweeps(names);
  if (sweeps.length > 0) {
    if (names.length > 1) {
      throw new WorkbenchError('usage', `expected one sweep, or runs and evaluations, got ${names.join(' and ')}`, {
        hint: 'A page is about one sweep.',
      });
    }
    const written = await reportSweep(sweeps[0]!, to, title);
    return json ? printJson(written) : printLine(written.page);
  }
  const { foundEvaluation, unfinished } = await import('../evaluation/keep.js');
  const { openRun } = await import('../src/run/run-folder.js');
  const { writeReport } = await import('../reports/report.js');
  const { pairedFolders } = await import('../tasks/paired.js');
  const named = names.map((name) => {
    const evaluation = foundEvaluation(name, root);
    if (evaluation !== undefined) return { evaluation };
    // Of one that was stopped, this says how to go on.
    const begun = foundEvaluation(name, root, 'begun');
    if (begun !== undefined) throw unfinished(begun);
    return { run: openRun(name) };
  });
  const folders = named.map(({ run, evaluation }) => run?.folder ?? evaluation!);
  const parent = folders.length === 1 ? folders[0]! : dirname(folders[0]!);
  const written = await writeReport(
    named.flatMap(({ run }) => run ?? []),
    {
      to: to === undefined ? join(parent, 'report') : resolve(to),
      evaluations: named.flatMap(({ evaluation }) => evaluation ?? []),
      compare: pairedFolders,
      ...(title !== undefined && { title }),
    },
  );
  if (json) printJson(written);
  else printLine(written.page);
}

/** Those of the names that are sweeps: folders, or names inside `runs/`. */
async function foundSweeps(names: readonly string[]): Promise<SweepInfo[]> {
  const { sweepIn } = await import('../src/run/sweep.js');
  const { runsFolder } = await import('../src/run/locations.js');
  return names.flatMap((name) => {
    const isName = /^[^/\\]+$/.test(name) && !name.includes('\0');
    const found = sweepIn(name) ?? (isName ? sweepIn(join(runsFolder(), name)) : undefined);
    return found ? [found] : [];
  });
}

async function reportSweep(sweep: SweepInfo, to: string | undefined, title: string | undefined) {
  const { writeSweepPage } = await import('../reports/sweep-page.js');
  const { sweepResults } = await import('../sweep/results.js');
  const { sweepFiles } = await import('../src/run/sweep.js');
  const place = to === undefined ? sweepFiles(sweep.folder).report : resolve(to);
  return writeSweepPage(sweep, sweepResults(sweep), { to: place, ...(title !== undefined && { title }) });
}

/** `kgwalk report`: one page about runs and evaluations. */
import type { Command } from 'commander';
import { createHash } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
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
    .option(
      '--to <dir>',
      'where to write; default: report/ in the only one named, of several report-A-B/ next to the first',
    )
    .option('--title <text>', 'of the page; default: what it is about')
    .option(
      '--price <IN,CACHED,OUT,HOUR>',
      'price of a million tokens of prompts, cached prompts and replies, and of an hour of a processor core: says when training pays off',
    )
    .option('--evaluations <dir>', 'where evaluations are kept (default runs/evaluations)')
    .option('--json', 'the paths as JSON')
    .action(report);
}

type ReportFlags = { to?: string; title?: string; price?: string; evaluations?: string; json?: boolean };

async function report(names: string[], { to, title, price, evaluations: root, json }: ReportFlags): Promise<void> {
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
  const { checkEvaluations, checkLog } = await import('../checkpoints/chain.js');
  const { writeReport } = await import('../reports/report.js');
  const { keptStatistics } = await import('../tasks/kept-statistics.js');
  const { pricesOf } = await import('../tasks/language-model.js');
  const named = names.map((name) => {
    const evaluation = foundEvaluation(name, root);
    if (evaluation !== undefined) return { evaluation };
    // For a stopped run, the command to resume it.
    const begun = foundEvaluation(name, root, 'begun');
    if (begun !== undefined) throw unfinished(begun);
    const run = openRun(name);
    checkLog(run);
    checkEvaluations(run);
    return { run };
  });
  const folders = named.map(({ run, evaluation }) => run?.folder ?? evaluation!);
  // A comparison has a separate folder, so that it replaces no other.
  const place =
    folders.length === 1 ? join(folders[0]!, 'report') : join(dirname(folders[0]!), comparisonName(folders));
  const written = await writeReport(
    named.flatMap(({ run }) => run ?? []),
    {
      to: to === undefined ? place : resolve(to),
      evaluations: named.flatMap(({ evaluation }) => evaluation ?? []),
      statistics: keptStatistics,
      prices: price === undefined ? undefined : pricesOf([`price=${price}`]),
      title,
    },
  );
  if (json) printJson(written);
  else printLine(written.page);
}

/** Sweeps among the names: folders, or names inside `runs/`. */
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
  const { sweepResults } = await import('../plans/results.js');
  const { sweepFiles } = await import('../src/run/sweep.js');
  const place = to === undefined ? sweepFiles(sweep.folder).report : resolve(to);
  return writeSweepPage(sweep, sweepResults(sweep), { to: place, title });
}

/** `report-first-second`; for long or many names, prefixes and a hash of all. */
function comparisonName(folders: readonly string[]): string {
  const names = folders.map((folder) => basename(folder).replace(/[^\w.@-]+/g, '-'));
  const whole = `report-${names.join('-')}`;
  if (whole.length <= 80) return whole;
  const hash = createHash('sha256').update(JSON.stringify(folders)).digest('hex').slice(0, 8);
  return `report-${names
    .map((name) => name.slice(0, 24))
    .slice(0, 2)
    .join('-')}-${hash}`;
}

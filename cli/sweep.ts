/** `kgwalk sweep`: many runs of a preset with settings from a grid or drawn at random. */
import type { Command } from 'commander';
import { resolve } from 'node:path';
import { commandLine, shownPath } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import { wholeNumber } from '../tasks/flags.js';
import { addThreadsOption, minutesOf, repeatable } from './options.js';
import { printJson, printLine, printNote, printTable, type Row } from './output.js';
import { writeJobs } from './plan.js';
import type { ProgressReporter } from '../src/run/progress.js';
import type { OpenSweep, SweepFlags } from '../plans/sweep.js';
import type { SweepResults } from '../plans/results.js';
import type { SweepWork } from '../plans/run-sweep.js';
import type { SweepRecord } from '../src/run/sweep.js';

/** Adds `kgwalk sweep`. */
export function register(program: Command): void {
  const command = program
    .command('sweep')
    .description('train a preset with many settings, and say which is the best on valid')
    .argument('<preset>', 'a YAML file, or the name of a preset of the package')
    .option('--grid <key=a,b>', 'try each value; with several grids, each combination; repeatable', repeatable, [])
    .option(
      '--sample <key=range>',
      'sampled for every trial: log:1e-4..1e-2, uniform:0..1, int:1..8, logint:16..512, choice:a,b; repeatable',
      repeatable,
      [],
    )
    .option('--trials <n>', 'total number of trials; grid points take turns (default for a grid alone: its product)')
    .option('--seeds <n>', 'runs of a trial, from the preset’s seed on; or the seeds themselves, such as 1,2,3', '1')
    .option('--jobs <n>', 'runs at once, each a process', '1')
    .option('--seed <n>', 'random seed of --sample', '0')
    .option(
      '--halving <updates>',
      'stop runs early: first look after so many updates of PPO, then at η times as many …',
    )
    .option('--eta <n>', 'with --halving: keep 1 of N trials at each rung (default 3)')
    .option('--metric <eval/…>', 'the figure of valid that chooses (default the task’s main figure)')
    .option('--minimize', 'lower is better (default for a loss)')
    .option('--set <key=value>', 'a setting of every trial; repeatable', repeatable, [])
    .option('--model <model>', 'encodes the texts, as of `kgwalk train`')
    .option('--backend <name>', 'simd, webgpu, tensorflow, tensorflow-gpu or wasm instead of the fastest that works')
    .option('--name <name>', 'of the folder, runs/sweep-NAME (default from the preset and what is varied)')
    .option('--run-dir <dir>', 'the folder itself')
    .option('--resume', 'resume the sweep in the folder, if there is one')
    .option('--retry-failed', 'with --resume: run again what failed')
    .option('--max-minutes <n>', 'time limit; --resume continues', minutesOf)
    .option('--write <file>', 'run nothing; write the runs as a plan for `kgwalk work`: docs/how-to/sweeps.md')
    .option('--json', 'print the results as JSON');
  addThreadsOption(command, 'TransE of a trial').action((preset: string, flags: SweepFlags) =>
    sweep(preset, flags, program.opts<{ plugin?: string[] }>().plugin ?? []),
  );
}

async function sweep(preset: string, flags: SweepFlags, plugins: readonly string[]): Promise<void> {
  const jobs = wholeNumber(flags.jobs, '--jobs', 1);
  const { checkData, folderOf, jobsOf, openSweep, plannedSweep, sweepOf } = await import('../plans/sweep.js');
  if (flags.write !== undefined) await refuseToPlan(flags, plugins);
  const record = await plannedSweep(sweepOf(preset, flags, plugins));
  if (flags.write !== undefined) return writeJobs(flags.write, { jobs: await jobsOf(record), sweep: record });
  const folder = folderOf(flags, record);
  const { sweepIn } = await import('../src/run/sweep.js');
  if (!sweepIn(folder)) await checkData(record);
  const { terminalWork } = await import('./terminal.js');
  const { trialProcesses } = await import('../plans/run-sweep.js');
  // Before the lock: afterwards others see a running sweep, which an interrupt must stop in order.
  const { signal, progress } = terminalWork(flags.maxMinutes);
  const open = openSweep(folder, record, flags.resume ?? false);
  const run = trialProcesses({ preset, plugins: plugins.map((file) => resolve(file)), threads: flags.threads });
  const { sweepResults } = await import('../plans/results.js');
  const work = { jobs, run, signal, retryFailed: flags.retryFailed };
  try {
    await planned(open, work, progress);
  } catch (error) {
    if (!(error instanceof WorkbenchError) || error.code !== 'stopped') throw error;
    const { trials, finished, stopped, failed } = sweepResults(sweepIn(folder)!).counts;
    const done = `${finished + stopped + failed} of ${trials} trials done`;
    throw new WorkbenchError('stopped', `stopped with ${done}, at ${folder}`, {
      hint: 'The same command with --resume continues.',
    });
  } finally {
    open.close();
  }
  const results = sweepResults(sweepIn(folder)!);
  if (flags.json) printJson({ folder, ...results });
  else printResults(results, record);
  const { finished, failed } = results.counts;
  if (finished === 0 && failed > 0) {
    throw new WorkbenchError('failure', `expected a trial that finishes, got ${failed} failed, at ${folder}`, {
      hint: 'Their reasons are above and in logs/; --resume --retry-failed runs them again.',
    });
  }
  printNote(`\n${commandLine('report', shownPath(folder))}`);
}

/** Refuses a plan of runs that depend on each other, or on code. */
async function refuseToPlan({ halving, retryFailed }: SweepFlags, plugins: readonly string[]): Promise<void> {
  const other = (halving !== undefined && '--halving') || (retryFailed && '--retry-failed');
  if (other) {
    throw new WorkbenchError('usage', `expected --write without ${other}, got both`, {
      hint: 'The jobs of a plan are independent: what follows from earlier runs needs one process that sees them all.',
    });
  }
  if (plugins.length > 0) throw (await import('../src/run/plugins.js')).pluginsRefused('--plugin');
}

async function planned(open: OpenSweep, work: SweepWork, progress: ProgressReporter): Promise<void> {
  const { runSweep } = await import('../plans/run-sweep.js');
  const { record, folder, events } = open;
  const { trials, seeds } = record;
  printNote(`sweep ${folder}: ${trials} trials${seeds.length > 1 ? `, ${seeds.length} seeds each` : ''}`);
  let done = events.filter((event) => event.kind === 'end').length;
  const bar = progress('sweep', trials * seeds.length, 'runs', done);
  const onEnd: SweepWork['onEnd'] = ({ trial, seed, state, value, metric, reason }) => {
    const figure = value === undefined ? '' : ` · ${metric} ${figureText(value)}`;
    const why = reason === undefined ? '' : ` · ${reason}`;
    printNote(`trial ${trial} of ${trials}, seed ${seed}: ${state}${figure}${why}`);
    bar.update(++done);
  };
  await runSweep(open, { ...work, onEnd });
  bar.finish();
}

const figureText = (value: number) => value.toFixed(4);

/** One row per trial, best first; stopped, failed and waiting ones last. */
function printResults({ trials, metric, best, counts }: SweepResults, { better, seeds }: SweepRecord): void {
  const sign = better === 'high' ? -1 : 1;
  const order = ['finished', 'stopped', 'failed', 'waiting'];
  const rows = [...trials]
    .sort(
      (a, b) =>
        order.indexOf(a.state) - order.indexOf(b.state) ||
        sign * ((a.value ?? 0) - (b.value ?? 0)) ||
        a.trial - b.trial,
    )
    .map(({ trial, set, state, value, runs, reason }): Row => {
      const values = runs.flatMap(({ end }) => end?.value ?? []);
      return {
        trial,
        ...Object.fromEntries(
          Object.entries(set).map(([key, one]) => [key, typeof one === 'number' ? one : JSON.stringify(one)]),
        ),
        [metric ?? 'value']: value === undefined ? undefined : figureText(value),
        ...(seeds.length > 1 && { 'by seed': values.map(figureText).join(' ') }),
        state,
        ...(reason !== undefined && { why: reason }),
      };
    });
  printTable(rows);
  printLine();
  const { finished, stopped, failed } = counts;
  printLine(`${finished} of ${counts.trials} trials finished, ${stopped} stopped by halving, ${failed} failed`);
  if (!best) return;
  const alike = ` (${best.n} seeds, all alike)`;
  const interval =
    best.low === best.high
      ? alike
      : best.n > 1
        ? ` (95 % over ${best.n} seeds: ${figureText(best.low)} to ${figureText(best.high)})`
        : '';
  printLine(`Best on valid: trial ${best.trial}, ${metric} ${figureText(best.value)}${interval}. Again:`);
  printLine(best.command);
}

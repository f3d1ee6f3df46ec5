/** `kgwalk runs list|verify|export|remove`: the runs of the working folder. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import { isFolder } from '../src/run/files.js';
import type { Listed } from '../src/run/places.js';
import type { RunInfo } from '../src/run/records.js';
import type { SweepInfo } from '../src/run/sweep.js';
import { printJson, printLine, printTable, type Row } from './output.js';
import { addRemove } from './remove.js';

/** Adds `kgwalk runs`. */
export function register(program: Command): void {
  const command = program.command('runs').description('list runs, verify them, export their metrics and remove them');
  command
    .command('list')
    .description('list the runs below ./runs, or below another folder')
    .argument('[folder]', 'where run folders lie')
    .option('--json', 'print JSON')
    .action(list);
  command
    .command('verify')
    .description('verify the checksums of all files of a run')
    .argument('<run>', 'name or folder of a run')
    .option('--json', 'print JSON')
    .action(verify);
  command
    .command('export')
    .description('print the metrics of a run as CSV: phase, step, key, value; --wide: a row for each step')
    .argument('<run>', 'name or folder of a run')
    .option('--csv <file>', 'file to write (default: standard output)')
    .option('--wide', 'a column for each metric, with seconds and environment steps, as pandas and trackers read it')
    .option('--json', 'with --csv: print its path as JSON')
    .action(exportRun);
  addRemove(command, {
    argument: '<run>',
    about: 'name or folder of a run or a sweep below ./runs',
    description: 'delete a run with its checkpoints and evaluations, or a sweep with its runs',
    remove: async (name) => (await import('../src/run/remove.js')).removeRun(name),
  });
}

async function list(folder: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const { listRuns } = await import('../src/run/run-folder.js');
  const { runsFolder } = await import('../src/run/locations.js');
  const place = folder ?? runsFolder();
  const { listSweeps } = await import('../src/run/sweep.js');
  if (folder !== undefined && !isFolder(folder)) {
    const got = existsSync(folder) ? 'a file' : 'nothing';
    throw new WorkbenchError('usage', `expected a folder of runs, got ${got}, at ${folder}`, {
      hint: 'Without a folder the runs below ./runs are listed.',
    });
  }
  const rows = await Promise.all([...listRuns(place).map(summary), ...listSweeps(place).map(summaryOfSweep)]);
  if (json) printJson(rows);
  else if (rows.length === 0) printLine('no runs yet: `kgwalk train PRESET` starts one');
  else printTable(rows.map(scoredRow));
}

/** The row in a table: the score is one column with its figure, behind the status. */
function scoredRow({ run, status, metric = '', score, ...others }: Summary): Row {
  const scored = score === undefined ? undefined : `${metric.replace(/^eval\//, '')} ${score.toFixed(4)}`;
  return { run, status, score: scored, ...others };
}

/** Object of `runs list --json`. The score is the value on valid of the figure that chose the best checkpoint. */
type Summary = Row & { run: string; status: string; metric?: string | undefined; score?: number | undefined };

async function summary(run: Listed<RunInfo>): Promise<Summary> {
  if ('problem' in run) return { run: run.id, status: 'broken', problem: run.problem };
  const { config, state, environment, isStale } = run;
  const { datasetOf } = await import('../tasks/named-runs.js');
  const { taskOfConfig } = await import('../tasks/index.js');
  const dataset = datasetOf(run);
  const { problem, ...scored } = await scoreOf(run.folder);
  return {
    run: run.id,
    status: isStale ? 'stale' : state.status,
    ...scored,
    phase: state.phase,
    preset: config['name'] as string,
    seed: config['seed'] as number,
    dataset,
    graph: (await taskOfConfig(config)).datasets?.graphOf(run),
    started: environment.started,
    problem: state.reason ?? problem,
  };
}

async function scoreOf(folder: string): Promise<Pick<Summary, 'metric' | 'score'> & { problem?: string }> {
  const { bestOnValid } = await import('../checkpoints/store.js');
  try {
    return { ...bestOnValid(folder) };
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw error;
    return { problem: error.message };
  }
}

/** Table row of a sweep; `kgwalk runs list FOLDER` lists its trials. */
async function summaryOfSweep(sweep: Listed<SweepInfo>): Promise<Summary> {
  if ('problem' in sweep) return { run: sweep.id, status: 'broken', problem: sweep.problem };
  const { rankedTrials, trialsOf } = await import('../src/run/sweep.js');
  const { id, record, events, running } = sweep;
  const trials = trialsOf(record, events);
  const over = trials.filter(({ state }) => state !== 'waiting').length;
  const failed = trials.filter(({ state }) => state === 'failed').length;
  const all = Math.max(record.trials, trials.length);
  const [best] = rankedTrials(trials, record.better);
  return {
    run: id,
    status: running ? 'running' : over === all ? 'finished' : 'stopped',
    ...(best && { metric: best.runs[0]!.end!.metric, score: best.value }),
    preset: record.preset,
    trials: `${over} of ${all}`,
    problem: failed > 0 ? `${failed} failed` : undefined,
  };
}

async function verify(run: string, { json }: { json?: boolean }): Promise<void> {
  const { verifyRun } = await import('../checkpoints/chain.js');
  const verified = verifyRun(run);
  if (json) return printJson(verified);
  const { checkpoints, tables, evaluations } = verified;
  printLine(
    `whole: settings, ${checkpoints} checkpoints, ${tables} tables, the log, the notes and ${evaluations} evaluations fit each other`,
  );
}

async function exportRun(
  run: string,
  { csv, json }: { csv?: string; json?: boolean },
  command: Command,
): Promise<void> {
  // `--wide` is an option of the program, too, which takes it wherever it stands.
  const { wide } = command.optsWithGlobals<{ wide?: boolean }>();
  const { runFiles } = await import('../src/run/run-files.js');
  const { openRun } = await import('../src/run/run-folder.js');
  const { metricsCsv, readMetrics, readTimings, wideCsv } = await import('../src/run/metric-log.js');
  const { writeFileAtomic } = await import('../src/run/files.js');
  const { checkLog } = await import('../checkpoints/chain.js');
  const info = openRun(run);
  checkLog(info);
  const { metrics, timing } = runFiles(info.folder);
  const text = wide
    ? wideCsv(readMetrics(metrics), existsSync(timing) ? readTimings(timing) : [])
    : metricsCsv(metrics);
  if (csv === undefined) return printLine(text.trimEnd());
  writeFileAtomic(csv, text);
  if (json) printJson({ csv });
  else printLine(csv);
}

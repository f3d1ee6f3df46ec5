/** `kgwalk plan status|collect`, `kgwalk work`, and what commands need to write plans. */
import type { Command } from 'commander';
import { resolve } from 'node:path';
import type { Job, Plan } from '../jobs/job.js';
import { commandLine, shownPath } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printJson, printLine, printTable, printNote } from './output.js';
import type { WorkOptions } from '../jobs/work.js';
import type { Blocker } from '../src/run/run-lock.js';
import { wholeNumber } from '../tasks/flags.js';
import { minutesOf } from './options.js';

/** Adds `kgwalk plan`. */
export function registerPlan(program: Command): void {
  const command = program.command('plan').description('check and collect the jobs of a plan');
  const withStore = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .argument('<plan>', 'file of jobs')
      .requiredOption('--store <store>', 'where results are: s3://BUCKET/PREFIX or a folder')
      .option('--json', 'print JSON');
  withStore('status', 'show finished, started and failed jobs, with reasons').action(status);
  withStore('collect', 'collect the results into one folder, as if made on one machine')
    .requiredOption('--to <dir>', 'folder of the sweep, or of the evaluations')
    .action(collect);
}

type StoreFlags = { store: string; json?: boolean };

const stateNames = ['done', 'begun', 'failed', 'waiting'] as const;

async function status(file: string, { store: address, json }: StoreFlags): Promise<void> {
  const { readPlan } = await import('../jobs/job.js');
  const { openStore } = await import('../jobs/store.js');
  const { heldBy, readFailure } = await import('../jobs/results.js');
  const { jobs } = readPlan(file);
  const store = await openStore(address);
  const { results, progress, failed, rivals } = await heldBy(store);
  const stateOf = ({ key }: Job) =>
    results.has(key) ? 'done' : failed.has(key) ? 'failed' : progress.has(key) ? 'begun' : 'waiting';
  const states = jobs.map(stateOf);
  const counts = Object.fromEntries(stateNames.map((name) => [name, states.filter((state) => state === name).length]));
  const notReproduced = jobs.filter(({ key }) => rivals.has(key));
  const failures = await Promise.all(
    jobs
      .filter((_, i) => states[i] === 'failed')
      .map(async (job) => ({ part: job.part, key: job.key, reason: (await readFailure(store, job)) ?? '' })),
  );
  if (json) {
    return printJson({ jobs: jobs.length, ...counts, notReproduced: notReproduced.map(({ key }) => key), failures });
  }
  printTable([{ jobs: jobs.length, ...counts, 'not reproduced': notReproduced.length }]);
  for (const { part, reason } of failures.slice(0, 10)) printLine(`${part} failed: ${reason}`);
  if (failures.length > 10) printLine(`and ${failures.length - 10} more`);
}

async function collect(file: string, { store: address, to, json }: StoreFlags & { to: string }): Promise<void> {
  const { readPlan, wordsOf } = await import('../jobs/job.js');
  const { openStore } = await import('../jobs/store.js');
  const { readFailure, takeResult } = await import('../jobs/results.js');
  const { terminalWork } = await import('./terminal.js');
  const { throwIfStopped } = await import('../src/run/stop.js');
  const { signal, progress } = terminalWork();
  const { jobs, sweep } = readPlan(file);
  const store = await openStore(address);
  const bar = progress('collect', jobs.length, 'jobs');
  const folder = resolve(to);
  const failures = new Map<string, string | undefined>();
  let done = 0;
  for (const [i, job] of jobs.entries()) {
    throwIfStopped(signal);
    if (await takeResult(store, job, folder)) done++;
    else failures.set(job.part, await readFailure(store, job));
    bar.update(i + 1);
  }
  bar.finish();
  if (sweep) await (await import('../plans/run-sweep.js')).collectSweep(folder, sweep, failures);
  const missing = jobs.length - done;
  const next = sweep
    ? commandLine('report', shownPath(folder))
    : commandLine(...wordsOf(jobs[0]!, '--evaluations', shownPath(folder)));
  if (json) printJson({ folder, jobs: jobs.length, done, missing, next });
  else {
    printLine(`${done} of ${jobs.length} results in ${to}${missing > 0 ? `; ${missing} are missing` : ''}`);
    printLine(next);
  }
}

/** Writes a plan and says how to run it. */
export async function writeJobs(file: string, plan: Plan): Promise<void> {
  const { writePlan } = await import('../jobs/job.js');
  writePlan(file, plan);
  printLine(`${plan.jobs.length} jobs in ${file}`);
  printLine(commandLine('work', '--plan', file, '--store', 'STORE'));
}

interface WorkFlags {
  plan?: string;
  store: string;
  queue?: string;
  wait?: boolean;
  jobs: string;
  maxMinutes?: number;
  json?: boolean;
}

/** Adds `kgwalk work`. */
export function registerWork(program: Command): void {
  program
    .command('work')
    .description('run jobs of a plan; results are stored exactly once')
    .option('--plan <file>', 'plan written by `--write` of sweep or evaluate; with --queue its jobs are enqueued first')
    .requiredOption('--store <store>', 'where results are put: s3://BUCKET/PREFIX, or a folder that all machines see')
    .option('--queue <redis>', 'take jobs from redis://HOST:PORT/DB#NAME (rediss:// for TLS), with other workers')
    .option('--wait', 'with --queue: wait for more jobs where there are none')
    .option('--jobs <n>', 'number of concurrent jobs', '1')
    .option('--max-minutes <n>', 'stop after that long; what was done so far is kept in the store', minutesOf)
    .option('--json', 'print JSON')
    .action(work);
}

async function work({
  plan: file,
  store: address,
  queue: at,
  wait,
  maxMinutes,
  json,
  ...flags
}: WorkFlags): Promise<void> {
  const jobs = wholeNumber(flags.jobs, '--jobs', 1);
  if (file === undefined && at === undefined) {
    throw new WorkbenchError('usage', 'expected --plan or --queue, got neither', {
      hint: 'A plan is written by --write of `kgwalk sweep` or `kgwalk evaluate`.',
    });
  }
  if (wait && at === undefined) {
    throw new WorkbenchError('usage', 'expected --wait with --queue, got none', {
      hint: 'Without a queue a plan is all there is.',
    });
  }
  const { readPlan } = await import('../jobs/job.js');
  const { openStore } = await import('../jobs/store.js');
  const { workOn, workThrough } = await import('../jobs/work.js');
  const { terminalWork } = await import('./terminal.js');
  const { throwIfStopped } = await import('../src/run/stop.js');
  const plan = file === undefined ? undefined : readPlan(file).jobs;
  const { signal } = terminalWork(maxMinutes);
  const store = await openStore(address);
  const counts = { published: 0, known: 0, failed: 0, stopped: 0 };
  const options: WorkOptions = {
    ...{ store, jobs, signal },
    onEnd({ command, part, key }, ended) {
      counts[ended.state]++;
      const why = ended.state === 'failed' ? `: ${ended.reason}` : '';
      printNote(`${command} ${part} (${key.slice(0, 8)}): ${ended.state}${why}`);
    },
  };
  let held: Blocker[] = [];
  if (at === undefined) held = await workThrough(plan!, options);
  else {
    const { openQueue } = await import('../jobs/queue.js');
    const queue = await openQueue(at, (why) => printNote(`queue unreachable, retrying: ${why}`));
    try {
      if (plan) await queue.submit(plan);
      await workOn(queue, wait ?? false, options);
    } finally {
      await queue.close();
    }
  }
  throwIfStopped(signal);
  const [other] = held;
  if (other) {
    const who = `process ${other.pid} on ${other.host}`;
    printNote(`${held.length} jobs are held by other workers, such as ${who}; if it is gone, delete ${other.file}`);
  }
  if (json) printJson({ ...counts, held: held.length });
  else printLine(`${counts.published} results made here, ${counts.known} were there, ${counts.failed} tries failed`);
  // A queue retries failed jobs on any worker.
  if (counts.failed === 0 || at !== undefined) return;
  throw new WorkbenchError('failure', `expected all jobs to finish, got ${counts.failed} failed (see above)`, {
    hint: 'The same command tries them again; the others are done.',
  });
}

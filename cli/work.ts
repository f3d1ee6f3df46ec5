/** `kgwalk work`: runs jobs of a plan, on any number of machines. */
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import type { WorkOptions } from '../jobs/work.js';
import type { Blocker } from '../src/run/run-lock.js';
import { wholeNumber } from '../tasks/flags.js';
import { minutesOf } from './options.js';
import { printJson, printLine, printNote } from './output.js';

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
export function register(program: Command): void {
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

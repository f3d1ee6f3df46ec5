/** `kgwalk work`: runs jobs of a plan, on any number of machines. */
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import type { Shard } from '../src/run/shards.js';
import { wholeNumber } from '../tasks/flags.js';
import { addShardOption, minutesOf } from './options.js';
import { printJson, printLine, printNote } from './output.js';

interface WorkFlags {
  plan?: string;
  store: string;
  queue?: string;
  wait?: boolean;
  shard?: Shard;
  jobs: string;
  maxMinutes?: number;
  json?: boolean;
}

/** Adds `kgwalk work`. */
export function register(program: Command): void {
  const command = program
    .command('work')
    .description('run jobs of a plan; results are stored exactly once')
    .option('--plan <file>', 'plan written by `--write` of sweep or evaluate; with --queue its jobs are enqueued first')
    .requiredOption('--store <store>', 'where results are put: s3://BUCKET/PREFIX, or a folder that all machines see')
    .option('--queue <redis>', 'take jobs from redis://HOST:PORT/DB#NAME (rediss:// for TLS), with other workers')
    .option('--wait', 'with --queue: wait for more jobs where there are none')
    .option('--jobs <n>', 'number of concurrent jobs', '1')
    .option('--max-minutes <n>', 'stop after that long; what was done so far is kept in the store', minutesOf)
    .option('--json', 'print JSON');
  addShardOption(command, 'without --queue: every n-th job from the i-th on, one of n machines').action(work);
}

async function work({
  plan: file,
  store: address,
  queue: at,
  wait,
  shard,
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
  const conflict = at === undefined ? wait && '--wait' : shard && '--shard';
  if (conflict) {
    throw new WorkbenchError('usage', `expected ${conflict} ${at === undefined ? 'with' : 'without'} --queue`, {
      hint: 'A queue hands out jobs by itself; without one a plan is all there is.',
    });
  }
  const { readPlan } = await import('../jobs/job.js');
  const { openStore } = await import('../jobs/store.js');
  const { workOn, workThrough } = await import('../jobs/work.js');
  const { terminalWork } = await import('./terminal.js');
  const { throwIfStopped } = await import('../src/run/stop.js');
  const plan = file === undefined ? undefined : readPlan(file);
  const { signal } = terminalWork(maxMinutes);
  const store = await openStore(address);
  const counts = { published: 0, known: 0, failed: 0, stopped: 0 };
  const options: Parameters<typeof workThrough>[2] = {
    ...{ store, jobs, signal },
    onEnd({ command, part, key }, ended) {
      counts[ended.state]++;
      const why = ended.state === 'failed' ? `: ${ended.reason}` : '';
      printNote(`${command} ${part} (${key.slice(0, 8)}): ${ended.state}${why}`);
    },
  };
  if (at === undefined) await workThrough(plan!, shard ?? { part: 1, of: 1 }, options);
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
  if (json) printJson(counts);
  else printLine(`${counts.published} results made here, ${counts.known} were there, ${counts.failed} tries failed`);
  // A queue retries failed jobs on any worker.
  if (counts.failed === 0 || at !== undefined) return;
  throw new WorkbenchError('failure', `expected all jobs to finish, got ${counts.failed} failed (see above)`, {
    hint: 'The same command tries them again; the others are done.',
  });
}

/** The loop of a sweep: starts runs, so many at once, keeps how each ended, and stops those that halving gives up. */
import { join, basename } from 'node:path';
import { mainFigureOf } from '../checkpoints/keeper.js';
import { canonicalJson } from '../src/run/config-values.js';
import { WorkbenchError } from '../src/run/errors.js';
import { type MetricRecord, type Phase, metricRecord } from '../src/run/records.js';
import { throwIfStopped } from '../src/run/stop.js';
import { trialsOf, type Trial, type TrialEnd, type TrialRun, type SweepRecord } from '../src/run/sweep.js';
import { trialSettings } from './space.js';
import { openSweep, type OpenSweep, trialOverrides } from './sweep.js';
import { setTimeout } from 'node:timers/promises';
import { type ProgramEnd, runProgram } from '../jobs/run-job.js';
import { followRecords } from '../src/run/json-lines.js';
import { runFiles } from '../src/run/run-files.js';
import { runIn } from '../src/run/run-folder.js';
import { isLocked } from '../src/run/run-lock.js';

/** Execution options of a sweep; none changes the results, but for the order in which halving sees its runs. */
export interface SweepWork {
  jobs: number;
  run: RunTrial;
  /** Aborted: runs save and stop, and the sweep can be resumed. */
  signal?: AbortSignal | undefined;
  /** Runs that failed before are run again. */
  retryFailed?: boolean | undefined;
  onEnd?: ((end: TrialEnd) => void) | undefined;
}

/** Does what is left of a planned sweep. @throws WorkbenchError `stopped` once the signal is aborted, after the runs have saved */
export async function runSweep(sweep: OpenSweep, work: SweepWork): Promise<void> {
  const { record, events } = sweep;
  for (const { trial, set } of trialsOf(record, events)) {
    if (trial <= record.trials && canonicalJson(set) === canonicalJson(trialSettings(record, trial))) continue;
    throw new WorkbenchError(
      'data',
      `expected the trials of this sweep, got another trial ${trial}, at ${sweep.files.trials}`,
      { hint: 'The file was altered, or is of another version: begin another sweep by --name.' },
    );
  }
  const queue = new TrialQueue(sweep, work);
  for (let trial = 1; trial <= record.trials; trial++) {
    queue.add(beginTrial(sweep, trial, trialSettings(record, trial)));
  }
  await queue.idle();
  throwIfStopped(work.signal);
}

/** Records runs that jobs have made as the sweep that made them on one machine would have. @param failures reasons of those that failed, by name */
export async function collectSweep(
  folder: string,
  record: SweepRecord,
  failures: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  const open = openSweep(folder, record, true);
  try {
    await runSweep(open, { jobs: 1, run: collectedTrials(failures), retryFailed: true });
  } finally {
    open.close();
  }
}

/** The trial as it is kept; one that is new is kept now. */
function beginTrial(sweep: OpenSweep, trial: number, set: Record<string, unknown>): Trial {
  const known = () => trialsOf(sweep.record, sweep.events).find((one) => one.trial === trial);
  if (!known()) sweep.append({ kind: 'trial', trial, set });
  return known()!;
}

type Entry = { trial: Trial; at: TrialRun };

/** Runs that wait or are under way. */
class TrialQueue {
  readonly #sweep: OpenSweep;
  readonly #work: SweepWork;
  readonly #waiting: Entry[] = [];
  readonly #running = new Map<Promise<void>, AbortController>();
  #thrown: { error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(sweep: OpenSweep, work: SweepWork) {
    this.#sweep = sweep;
    this.#work = work;
    work.signal?.addEventListener('abort', this.#stopAll);
  }

  /** Queues the runs of a trial that have not ended. */
  add(trial: Trial): void {
    const { halving } = this.#sweep.record;
    const [first, ...others] = trial.runs;
    const open = (halving ? [first!] : trial.runs).filter((at) => this.#isOpen(trial, at));
    if (open.length === 0 && halving && this.#endOf(trial, first!)?.state === 'finished') {
      open.push(...others.filter((at) => this.#isOpen(trial, at)));
    }
    this.#waiting.push(...open.map((at) => ({ trial, at })));
    this.#start();
  }

  /** Resolves when nothing is left, or when the signal stopped everything. @throws what a run or a log threw */
  async idle(): Promise<void> {
    const { signal } = this.#work;
    const isDone = () =>
      this.#running.size === 0 && (this.#waiting.length === 0 || signal?.aborted || this.#thrown !== undefined);
    this.#start();
    while (!isDone()) await new Promise<void>((resolve) => (this.#wake = resolve));
    signal?.removeEventListener('abort', this.#stopAll);
    if (this.#thrown) throw this.#thrown.error;
  }

  readonly #stopAll = () => {
    for (const controller of this.#running.values()) controller.abort();
    this.#wake?.();
  };

  #start(): void {
    const { jobs, signal } = this.#work;
    while (!signal?.aborted && !this.#thrown && this.#running.size < jobs && this.#waiting.length > 0) {
      const entry = this.#waiting.shift()!;
      const controller = new AbortController();
      const promise = this.#run(entry, controller)
        .finally(() => this.#running.delete(promise))
        .then(() => this.#follow(entry))
        .catch((error: unknown) => {
          this.#thrown ??= { error };
          this.#stopAll();
        })
        .finally(() => {
          this.#start();
          this.#wake?.();
        });
      this.#running.set(promise, controller);
    }
  }

  async #run(entry: Entry, controller: AbortController): Promise<void> {
    const { record, folder, files } = this.#sweep;
    const { trial, at } = entry;
    let best: Evaluated | undefined;
    let stoppedAt: string | undefined;
    const onMetrics = (metrics: MetricRecord) => {
      // Evaluations logged while a run stops do not count: its value does not depend on how fast it stopped.
      const now = stoppedAt === undefined ? evaluatedIn(metrics, record) : undefined;
      if (!now) return;
      if (!best || isBetter(now.value, best.value, record.better)) best = now;
      if (now.phase === 'clone') return;
      const rung = trial.runs[0] === at ? this.#failedRung(entry, now.step, best.value) : undefined;
      if (rung === undefined) return;
      stoppedAt = `not among the best 1/${record.halving!.eta} at update ${rung}`;
      controller.abort();
    };
    const job = {
      folder: join(folder, at.name),
      log: join(files.logs, `${at.name}.log`),
      seed: at.seed,
      overrides: trialOverrides(record, trial.set),
    };
    const ended = await this.#work.run(job, { onMetrics, signal: controller.signal });
    if (stoppedAt !== undefined) return this.#end(entry, 'stopped', best, stoppedAt);
    if (ended.state === 'failed') return this.#end(entry, 'failed', best, ended.reason);
    if (ended.state === 'finished' && !best) return this.#end(entry, 'failed', undefined, noFigure(record.metric));
    if (ended.state === 'finished') return this.#end(entry, 'finished', best);
    // The sweep itself is being stopped: the run resumes with it.
  }

  /** Decides the rungs up to a step, each once. @returns the first at which the run does not continue */
  #failedRung({ trial: { trial }, at }: Entry, step: number, value: number): number | undefined {
    const { record, events } = this.#sweep;
    if (!record.halving) return undefined;
    return rungsUpTo(step, record.halving).find((rung) => {
      const reached = events.flatMap((event) => (event.kind === 'rung' && event.rung === rung ? [event] : []));
      const known = reached.find((event) => event.trial === trial && event.seed === at.seed);
      if (known) return !known.kept;
      const others = reached.map((event) => event.value);
      const kept = goesOn(value, others, record.halving!.eta, record.better);
      this.#sweep.append({ kind: 'rung', trial, seed: at.seed, rung, value, kept });
      return !kept;
    });
  }

  #end({ trial, at }: Entry, state: TrialEnd['state'], best?: Evaluated, reason?: string): void {
    const event: TrialEnd = { kind: 'end', trial: trial.trial, seed: at.seed, state, ...best, reason };
    this.#sweep.append(event);
    this.#work.onEnd?.(event);
  }

  #endOf({ trial }: Trial, { seed }: TrialRun): TrialEnd | undefined {
    return trialsOf(this.#sweep.record, this.#sweep.events)
      .find((one) => one.trial === trial)!
      .runs.find((one) => one.seed === seed)!.end;
  }

  /** Queues the other seeds of a trial that halving kept. */
  #follow({ trial, at }: Entry): void {
    const isFirst = this.#sweep.record.halving !== undefined && at === trial.runs[0];
    if (!isFirst || this.#endOf(trial, at)?.state !== 'finished') return;
    const rest = trial.runs.slice(1).filter((other) => this.#isOpen(trial, other));
    this.#waiting.unshift(...rest.map((other) => ({ trial, at: other })));
  }

  #isOpen(trial: Trial, at: TrialRun): boolean {
    const before = this.#endOf(trial, at);
    if (!before) return true;
    if (before.state !== 'failed' || !this.#work.retryFailed) return false;
    this.#sweep.append({ kind: 'retry', trial: trial.trial, seed: at.seed });
    return true;
  }
}

function noFigure(metric: string | undefined): string {
  return `expected ${metric ?? 'a figure under eval/'} in the evaluations on valid, got none`;
}

/** Rungs up to a number of updates, ascending: `first`, `first`·η, `first`·η² … */
function rungsUpTo(updates: number, { first, eta }: NonNullable<SweepRecord['halving']>): number[] {
  const rungs: number[] = [];
  for (let rung = first; rung <= updates; rung *= eta) rungs.push(rung);
  return rungs;
}

/**
 * True if a run that reaches a rung continues: it is among the best ⌊n/η⌋ of the n that have reached it, itself included, and
 * always where it is the best. As good as the last of these is good enough.
 * @param others values of the runs that reached the rung before
 * @source Li et al. 2020, "A system for massively parallel hyperparameter tuning" (ASHA), in the form that stops runs rather than
 *   pausing them, as Optuna's SuccessiveHalvingPruner does
 */
function goesOn(value: number, others: readonly number[], eta: number, better: SweepRecord['better']): boolean {
  const all = [...others, value].sort((a, b) => (better === 'high' ? b - a : a - b));
  const last = all[Math.max(1, Math.floor(all.length / eta)) - 1]!;
  return better === 'high' ? value >= last : value <= last;
}

/** Phases with evaluations of the walker on valid; embeddings log separate figures. */
const trained: readonly string[] = ['clone', 'fit', 'ppo'] satisfies Phase[];

type Evaluated = { phase: string; step: number; metric: string; value: number };

/** The figure of a sweep in a log record; undefined if absent or NaN. */
function evaluatedIn(
  { phase, step, metrics }: MetricRecord,
  { metric: wanted }: Pick<SweepRecord, 'metric'>,
): Evaluated | undefined {
  if (!trained.includes(phase)) return undefined;
  const metric = wanted ?? mainFigureOf(metrics);
  const value = metric === undefined ? undefined : metrics[metric];
  return metric === undefined || value === undefined || Number.isNaN(value)
    ? undefined
    : { phase, step, metric, value };
}

/** True if `a` is strictly better than `b`. */
const isBetter = (a: number, b: number, better: SweepRecord['better']): boolean => (better === 'high' ? a > b : a < b);

/** Polling interval of a run's metric log, in milliseconds. */
const lookEvery = 100;

interface TrialJob {
  folder: string;
  /** File for the process's output, appended. */
  log: string;
  seed: number;
  /** Overrides of the preset, as `--set` takes them. */
  overrides: readonly string[];
}

/** Runs or resumes a trial. @param signal aborted: the run saves and stops */
export type RunTrial = (
  job: TrialJob,
  listeners: { onMetrics: (record: MetricRecord) => void; signal: AbortSignal },
) => Promise<ProgramEnd>;

/** Reads a run that has finished, perhaps elsewhere. @returns false for any other */
function wasFinished(folder: string, onMetrics: (record: MetricRecord) => void): boolean {
  if (runIn(folder)?.state.status !== 'finished') return false;
  followRecords(runFiles(folder).metrics, metricRecord, onMetrics)();
  return true;
}

/** Takes runs that jobs have made. @param failures reasons of those that failed, by name */
function collectedTrials(failures: ReadonlyMap<string, string | undefined>): RunTrial {
  return async ({ folder }, { onMetrics }) => {
    if (wasFinished(folder, onMetrics)) return { state: 'finished' };
    const reason = failures.get(basename(folder));
    return reason === undefined ? { state: 'stopped' } : { state: 'failed', reason };
  };
}

/** Runs trials as child processes, which save and end with this one. @param options shared by all trials */
export function trialProcesses(options: {
  preset: string;
  plugins: readonly string[];
  threads?: string | undefined;
}): RunTrial {
  const { preset, plugins, threads } = options;
  return async ({ folder, log, seed, overrides }, { onMetrics, signal }) => {
    if (wasFinished(folder, onMetrics)) return { state: 'finished' };
    const look = followRecords(runFiles(folder).metrics, metricRecord, onMetrics);
    if (!(await isFree(folder, signal))) return { state: 'stopped' };
    const words = [
      ...plugins.flatMap((file) => ['--plugin', file]),
      ...['train', preset, ...overrides.flatMap((one) => ['--set', one])],
      ...['--seed', String(seed), '--run-dir', folder, '--resume', 'last'],
      ...(threads === undefined ? [] : ['--threads', threads]),
    ];
    const broken = new AbortController();
    const ticking = setInterval(() => {
      try {
        look();
      } catch (error) {
        clearInterval(ticking);
        broken.abort(error);
      }
    }, lookEvery);
    try {
      const ended = await runProgram(words, { log, signal: AbortSignal.any([signal, broken.signal]) });
      if (broken.signal.aborted) throw broken.signal.reason;
      look();
      const state = ended.state === 'failed' ? runIn(folder)?.state : undefined;
      return state?.status === 'failed' && state.reason !== undefined
        ? { state: 'failed', reason: state.reason }
        : ended;
    } finally {
      clearInterval(ticking);
    }
  };
}

/** Waits for a trial process whose sweep was killed: it notices, and saves. @returns true if the folder is free now */
async function isFree(folder: string, signal: AbortSignal): Promise<boolean> {
  const patience = 10 * 60_000;
  for (let waited = 0; isLocked(folder); waited += lookEvery) {
    if (signal.aborted) return false;
    if (waited > patience) {
      throw new WorkbenchError(
        'usage',
        `expected a run without another writer, got one that another process holds, at ${folder}`,
        { hint: 'It belongs to a sweep that was killed and should have ended with it: end it, and resume.' },
      );
    }
    await setTimeout(lookEvery);
  }
  return !signal.aborted;
}

/** The loop of a sweep: starts runs, so many at once, keeps how each ended, and stops those that halving gives up. */
import { join } from 'node:path';
import { throwIfStopped } from '../src/run/stop.js';
import { trialsOf, type Trial, type TrialEvent, type TrialRun } from '../src/run/sweep.js';
import { trialSettings } from './draws.js';
import { type OpenSweep, sameTrial } from './plan.js';
import { overridesOf } from './space.js';
import type { RunTrial } from './trial-process.js';
import { type Evaluated, evaluatedIn, goesOn, isBetter, rungsUpTo } from './trials.js';
import { WorkbenchError } from '../src/run/errors.js';

/** Execution options of a sweep; none changes the results, but for the order in which halving sees its runs. */
export interface SweepWork {
  /** Runs at once. */
  jobs: number;
  run: RunTrial;
  /** Aborted: runs save and stop, and the sweep can be resumed. */
  signal?: AbortSignal | undefined;
  /** Runs that failed before are run again. */
  retryFailed?: boolean | undefined;
  /** Called after every run. */
  onEnd?: ((end: Extract<TrialEvent, { kind: 'end' }>) => void) | undefined;
  /** Called after every evaluation of PPO, in the order of its updates. */
  onReport?: ((report: { trial: number; seed: number } & Evaluated) => void) | undefined;
}

/** Runs that wait or are under way. */
export interface TrialQueue {
  /** Puts the runs of a trial in line that have not ended. @param over called when none of them is left */
  add(trial: Trial, over?: () => void): void;
  /** Ends the runs of a trial, as stopped. */
  stop(trial: number, reason: string): void;
  /** Resolves when nothing is left, or when the signal stopped everything. @throws what a run or a log threw */
  idle(): Promise<void>;
}

/**
 * Does what is left of a planned sweep.
 * @throws WorkbenchError `stopped` once the signal is aborted, after the runs have saved
 */
export async function runSweep(sweep: OpenSweep, work: SweepWork): Promise<void> {
  const { record, events } = sweep;
  for (const { trial, set } of trialsOf(record, events)) {
    if (trial <= record.trials && sameTrial(set, trialSettings(record, trial))) continue;
    throw new WorkbenchError(
      'data',
      `expected the trials of this sweep, got another trial ${trial}, at ${sweep.files.trials}`,
      {
        hint: 'The file was altered, or is of another version: begin another sweep by --name.',
      },
    );
  }
  const queue = openQueue(sweep, work);
  for (let trial = 1; trial <= record.trials; trial++) {
    if (!record.seeds.some((seed) => sweep.isOurs(trial, seed))) continue;
    queue.add(beginTrial(sweep, trial, trialSettings(record, trial)));
  }
  await queue.idle();
  throwIfStopped(work.signal);
}

/** The trial as it is kept; one that is new is kept now. */
export function beginTrial(
  sweep: OpenSweep,
  trial: number,
  set: Record<string, unknown>,
  asked: { id?: string | number; seeds?: number[] } = {},
): Trial {
  const known = () => trialsOf(sweep.record, sweep.events).find((one) => one.trial === trial);
  if (!known()) sweep.append({ kind: 'trial', trial, set, ...asked });
  return known()!;
}

/** Opens a queue over a sweep. */
export function openQueue(
  sweep: OpenSweep,
  { jobs, run, signal, retryFailed, onEnd, onReport }: SweepWork,
): TrialQueue {
  const { record, folder, files, events } = sweep;
  const { halving, better } = record;
  interface Entry {
    trial: Trial;
    at: TrialRun;
    over: () => void;
  }
  const waiting: Entry[] = [];
  const running = new Map<Promise<void>, { trial: number; controller: AbortController }>();
  /** Trials that are given up, by another seed of theirs or from outside. */
  const givenUp = new Map<number, string>();
  let thrown: { error: unknown } | undefined;
  let wake: (() => void) | undefined;

  const stopAll = () => {
    for (const { controller } of running.values()) controller.abort();
    wake?.();
  };
  signal?.addEventListener('abort', stopAll);

  function end(
    trial: Trial,
    { seed }: TrialRun,
    state: 'finished' | 'stopped' | 'failed',
    best?: Evaluated,
    reason?: string,
  ) {
    const event = {
      kind: 'end' as const,
      trial: trial.trial,
      seed,
      state,
      ...best,
      ...(reason !== undefined && { reason }),
    };
    sweep.append(event);
    onEnd?.(event);
  }

  async function work(trial: Trial, at: TrialRun, controller: AbortController): Promise<void> {
    const { seed } = at;
    const number = trial.trial;
    let best: Evaluated | undefined;
    let stoppedAt: string | undefined;
    const decisions = new Map(at.rungs.map((rung) => [rung.rung, rung.kept]));
    const isHalved = halving !== undefined && trial.runs[0] === at;
    const onMetrics = (metrics: Parameters<typeof evaluatedIn>[0]) => {
      // What a run still logs while it stops counts no more: so it is worth the same however fast it stopped.
      const now = stoppedAt === undefined ? evaluatedIn(metrics, record) : undefined;
      if (!now) return;
      if (!best || isBetter(now.value, best.value, better)) best = now;
      if (now.phase === 'clone') return;
      onReport?.({ trial: number, seed, ...now });
      if (!isHalved) return;
      for (const rung of rungsUpTo(now.step, halving)) {
        let kept = decisions.get(rung);
        if (kept === undefined) {
          const others = events.flatMap((event) => (event.kind === 'rung' && event.rung === rung ? [event.value] : []));
          kept = goesOn(best.value, others, halving.eta, better);
          sweep.append({ kind: 'rung', trial: number, seed, rung, value: best.value, kept });
          decisions.set(rung, kept);
        }
        if (kept) continue;
        stoppedAt = `not among the best 1/${halving.eta} at update ${rung}`;
        controller.abort();
        return;
      }
    };
    const job = {
      folder: join(folder, at.name),
      log: join(files.logs, `${at.name}.log`),
      seed,
      overrides: [...record.overrides, ...overridesOf(trial.set)],
    };
    const ended = await run(job, { onMetrics, signal: controller.signal });
    const outside = givenUp.get(number);
    if (stoppedAt !== undefined) return end(trial, at, 'stopped', best, stoppedAt);
    if (ended.state === 'failed') return end(trial, at, 'failed', best, ended.reason);
    if (ended.state === 'finished' && !best) return end(trial, at, 'failed', undefined, noFigure(record.metric));
    if (ended.state === 'finished') return end(trial, at, 'finished', best);
    if (outside !== undefined) return end(trial, at, 'stopped', best, outside);
    // The sweep itself is being stopped: the run resumes with it.
  }

  const hasEnded = ({ trial }: Trial, { seed }: TrialRun) =>
    trialsOf(record, events)
      .find((one) => one.trial === trial)!
      .runs.find((one) => one.seed === seed)!.end;

  /** Work that waits for the end of a run: the other seeds of a trial that halving kept, and callers that wait for the trial. */
  function follow({ trial, at, over }: Entry): void {
    const isFirst = halving !== undefined && at === trial.runs[0];
    if (isFirst && hasEnded(trial, at)?.state === 'finished') {
      const rest = trial.runs.slice(1).filter((other) => isOpen(trial, other));
      waiting.unshift(...rest.map((other) => ({ trial, at: other, over })));
    }
    const isLeft =
      waiting.some((entry) => entry.trial === trial) || [...running.values()].some((one) => one.trial === trial.trial);
    if (!isLeft && hasEnded(trial, at)) over();
  }

  function isOpen(trial: Trial, at: TrialRun): boolean {
    const before = hasEnded(trial, at);
    if (!before) return true;
    if (before.state !== 'failed' || !retryFailed) return false;
    sweep.append({ kind: 'retry', trial: trial.trial, seed: at.seed });
    return true;
  }

  function start(): void {
    while (!signal?.aborted && !thrown && running.size < jobs && waiting.length > 0) {
      const entry = waiting.shift()!;
      const { trial, at } = entry;
      const controller = new AbortController();
      const promise = work(trial, at, controller)
        .finally(() => running.delete(promise))
        .then(() => follow(entry))
        .catch((error: unknown) => {
          thrown ??= { error };
          stopAll();
        })
        .finally(() => {
          start();
          wake?.();
        });
      running.set(promise, { trial: trial.trial, controller });
    }
  }

  return {
    add(trial, over = () => {}) {
      const [first, ...others] = trial.runs;
      const begins =
        halving === undefined ? trial.runs.filter(({ seed }) => sweep.isOurs(trial.trial, seed)) : [first!];
      const open = begins.filter((at) => isOpen(trial, at));
      if (open.length === 0 && halving !== undefined && hasEnded(trial, first!)?.state === 'finished') {
        open.push(...others.filter((at) => isOpen(trial, at)));
      }
      waiting.push(...open.map((at) => ({ trial, at, over })));
      if (open.length === 0) over();
      start();
    },
    stop(trial, reason) {
      givenUp.set(trial, reason);
      for (const one of running.values()) if (one.trial === trial) one.controller.abort();
      for (const one of waiting.filter((entry) => entry.trial.trial === trial)) {
        waiting.splice(waiting.indexOf(one), 1);
        end(one.trial, one.at, 'stopped', undefined, reason);
        follow(one);
      }
    },
    async idle() {
      const isDone = () => running.size === 0 && (waiting.length === 0 || signal?.aborted || thrown !== undefined);
      start();
      while (!isDone()) await new Promise<void>((resolve) => (wake = resolve));
      signal?.removeEventListener('abort', stopAll);
      if (thrown) throw thrown.error;
    },
  };
}

function noFigure(metric: string | undefined): string {
  return `expected ${metric ?? 'a figure under eval/'} in the evaluations on valid, got none`;
}

/** Background encoding on idle processor cores, before the vectors are needed. */
import { availableParallelism } from 'node:os';
import type { EncodeOptions } from '../src/encoder/state-encoder.js';
import type { ProgressReporter } from '../src/run/progress.js';
import type { Session } from './session.js';

/** Options of the encoding. */
export interface BackgroundOptions extends Pick<EncodeOptions, 'lanes'> {
  progress: ProgressReporter;
  signal: AbortSignal;
}

/** Encoding in the background. */
interface BackgroundEncoding<Result> {
  /** Waits for the vectors, from now on with all lanes and progress lines. @throws the encoding's errors */
  join(): Promise<Result>;
  /** Cancels it; vectors so far are kept. */
  stop(): Promise<void>;
}

/**
 * Starts at once on idle cores, or on joining if there are none. Vectors do not depend on their time of computation, so
 * the run's results do not either.
 * @param busy threads of the work that runs at the same time
 */
export function encodeInBackground<Result>(
  { progress, signal, trial }: Pick<Session, 'progress' | 'signal' | 'trial'>,
  busy: number,
  encode: (options: BackgroundOptions) => Promise<Result>,
  cores = availableParallelism(),
): BackgroundEncoding<Result> {
  const ended = new AbortController();
  const signals = AbortSignal.any(signal ? [signal, ended.signal] : [ended.signal]);
  const late = lateProgress(progress);
  let joined = false;
  let encoding: Promise<Result> | undefined;

  function begin(): Promise<Result> {
    encoding ??= encode({
      progress: late.progress,
      signal: signals,
      // While this thread is busy, lanes wait for their next text more than they compute: then all of them may run.
      lanes: () => (joined || busy === 1 ? Infinity : cores - busy),
    });
    // Reported by `join`, possibly later than the failure.
    encoding.catch(() => {});
    return encoding;
  }

  // A trial measures one thing at a time.
  if (cores > busy && !trial) void begin();
  return {
    join() {
      joined = true;
      late.show();
      return begin();
    },
    async stop() {
      ended.abort();
      await encoding?.catch(() => {});
    },
  };
}

/** Holds lines back until another progress line is finished: two at once would overwrite each other. */
function lateProgress(reporter: ProgressReporter) {
  let shown = false;
  const finished: (() => void)[] = [];
  const progress: ProgressReporter = (...about) => {
    const line = reporter(...about);
    let held: Parameters<typeof line.update> | undefined;
    return {
      update(...now) {
        held = shown ? undefined : now;
        if (shown) line.update(...now);
      },
      finish(...note) {
        const finish = () => {
          if (held) line.update(...held);
          line.finish(...note);
        };
        if (shown) finish();
        else finished.push(finish);
      },
    };
  };
  return {
    progress,
    show() {
      shown = true;
      for (const finish of finished.splice(0)) finish();
    },
  };
}

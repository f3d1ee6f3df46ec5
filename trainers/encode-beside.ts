/** Encoding that begins while the processor has a core to spare, before its vectors are asked for. */
import { availableParallelism } from 'node:os';
import type { EncodeOptions } from '../src/encoder/state-encoder.js';
import type { ProgressReporter } from '../src/run/progress.js';
import type { Session } from './session.js';

/** How the encoding is to be done. */
export interface BesideOptions extends Pick<EncodeOptions, 'lanes'> {
  progress: ProgressReporter;
  signal: AbortSignal;
}

/** Encoding that may be under way. */
export interface Beside<Result> {
  /** What was encoded; from now on with all lanes and lines of progress. @throws what encoding throws */
  join(): Promise<Result>;
  /** Ends it where nobody will ask; its vectors so far are kept. */
  stop(): Promise<void>;
}

/**
 * Begins at once on the cores that others leave idle, or where there are none when it is joined. Vectors do not depend on when
 * they are made, so nothing of a run does.
 * @param busy threads of what runs beside it
 */
export function encodeBeside<Result>(
  { progress, signal }: Pick<Session, 'progress' | 'signal'>,
  busy: number,
  encode: (options: BesideOptions) => Promise<Result>,
  cores = availableParallelism(),
): Beside<Result> {
  const ended = new AbortController();
  const signals = AbortSignal.any(signal ? [signal, ended.signal] : [ended.signal]);
  const late = lateProgress(progress);
  let joined = false;
  let encoding: Promise<Result> | undefined;

  function begin(): Promise<Result> {
    encoding ??= encode({
      progress: late.progress,
      signal: signals,
      // Beside work of this thread lanes wait for their next text more than they compute: then all of them may.
      lanes: () => (joined || busy === 1 ? Infinity : cores - busy),
    });
    // Told to whoever joins, which may be later than it fails.
    encoding.catch(() => {});
    return encoding;
  }

  if (cores > busy) void begin();
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

/** Lines that wait until another's is finished: two at once would overwrite each other. */
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

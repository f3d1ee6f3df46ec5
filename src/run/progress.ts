/** Progress on standard error, with rate and time to go: a line that is redrawn for a person, plain lines for a log. */
import { stderr } from 'node:process';
import { printable } from './printable.js';

/** One line; `finish` ends it. */
export interface Progress {
  /** @param note extra figures for the line, such as `loss 2.91` */
  update(done: number, note?: string): void;
  /** Ends the line, which stays on the screen with the last note. */
  finish(note?: string): void;
}

/**
 * Opens progress lines; the library's default is silent, the command line passes one that prints.
 * @param before of `total`, what was done by an earlier run: it says nothing about the rate. Default 0
 */
export type ProgressReporter = (label: string, total: number, unit: string, before?: number) => Progress;

/** Shows nothing. */
export const silentProgress: ProgressReporter = () => ({ update() {}, finish() {} });

/** `3725` → `1:02:05`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const minutes = String(Math.floor(whole / 60) % 60).padStart(2, '0');
  const rest = `${minutes}:${String(whole % 60).padStart(2, '0')}`;
  return whole < 3600 ? rest : `${Math.floor(whole / 3600)}:${rest}`;
}

/** How progress is shown: `auto` is a bar on a terminal and plain lines elsewhere. */
export const progressModes = ['auto', 'bar', 'plain', 'off'] as const;
/** One of `progressModes`. */
export type ProgressMode = (typeof progressModes)[number];

/** How progress is written; what is left out is right for a command. */
export interface ProgressOptions {
  mode?: ProgressMode;
  /** Milliseconds between two plain lines of what is under way; default half a minute. What ends always says so. */
  every?: number;
  /** Milliseconds of a clock that never goes back. Default `performance.now`. */
  now?: () => number;
}

/**
 * Progress for people: on a terminal a line that is redrawn at most ten times a second; elsewhere, such as in a log, a plain line as each
 * piece of work ends, and one every half a minute in between.
 * @param stream where lines go
 */
export function terminalProgress(
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'> = stderr,
  { mode = 'auto', every = 30_000, now = () => performance.now() }: ProgressOptions = {},
): ProgressReporter {
  if (mode === 'off') return silentProgress;
  const isBar = mode === 'bar' || (mode === 'auto' && stream.isTTY);
  return (label, total, unit, before = 0) => {
    const started = now();
    let drawn = isBar ? -Infinity : started;
    const render = (done: number, note: string) => {
      const rate = (done - before) / Math.max((now() - started) / 1000, 1e-9);
      const eta = done > before ? formatDuration((total - done) / rate) : '--:--';
      return `${label} ${done}/${total} ${unit} · ${rate >= 10 ? rate.toFixed(0) : rate.toFixed(2)}/s · ETA ${eta}${note && ` · ${note}`}`;
    };
    const write = (line: string, isLast: boolean) => {
      if (!isBar) return stream.write(`${printable(line)}\n`);
      const shown = isLast ? printable(line) : printable(line).slice(0, (stream.columns || 120) - 1);
      return stream.write(`\r\x1b[2K${shown}${isLast ? '\n' : ''}`);
    };
    let last = { done: 0, note: '' };
    return {
      update(done, note = '') {
        last = { done, note };
        if (now() - drawn < (isBar ? 100 : every)) return;
        drawn = now();
        write(render(done, note), false);
      },
      finish(note = last.note) {
        write(
          `${label}: ${last.done} ${unit} in ${formatDuration((now() - started) / 1000)}${note && ` · ${note}`}`,
          true,
        );
      },
    };
  };
}

/** Progress on standard error, with rate and remaining time: a redrawn line on a terminal, plain lines in a log. */
import { stderr } from 'node:process';
import { formatDuration, timeToGo } from './duration.js';
import { printable } from './printable.js';

/** One progress line; `finish` ends it. */
export interface Progress {
  /** @param note extra figures for the line, such as `loss 2.91` */
  update(done: number, note?: string): void;
  /** Ends the line, which stays visible with the last note. */
  finish(note?: string): void;
}

/**
 * Opens progress lines; silent by default in the library, printed by the command line.
 * @param before part of `total` done by an earlier run, excluded from the rate. Default 0
 */
export type ProgressReporter = (label: string, total: number, unit: string, before?: number) => Progress;

/** Shows nothing. */
export const silentProgress: ProgressReporter = () => ({ update() {}, finish() {} });

/** Display of progress: `auto` is a bar on a terminal and plain lines elsewhere. */
export const progressModes = ['auto', 'bar', 'plain', 'off'] as const;
/** One of `progressModes`. */
export type ProgressMode = (typeof progressModes)[number];

export interface ProgressOptions {
  mode?: ProgressMode;
  /** Milliseconds between two plain lines of running work; default half a minute. The end is always reported. */
  every?: number;
  now?: () => number;
}

/** A redrawn line on a terminal; in a log a line at the end of each piece of work and every half minute. */
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
      const [steps, seconds] = [done - before, Math.max((now() - started) / 1000, 1e-9)];
      const rate = steps / seconds;
      const eta = timeToGo(total - done, { steps, seconds }) ?? '--:--';
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
        const took = formatDuration((now() - started) / 1000);
        write(`${label}: ${last.done} ${unit} in ${took}${note && ` · ${note}`}`, true);
      },
    };
  };
}

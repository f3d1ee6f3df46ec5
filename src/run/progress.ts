/** One progress line on standard error, with rate and time to go; silent when it is not a terminal. */
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

/**
 * Progress for a person: redrawn at most ten times a second on a terminal; nothing elsewhere, such as in a log.
 * @param stream where lines go
 */
export function terminalProgress(stream: NodeJS.WriteStream = stderr): ProgressReporter {
  return (label, total, unit, before = 0) => {
    const started = performance.now();
    let drawn = 0;
    const render = (done: number, note: string) => {
      const seconds = (performance.now() - started) / 1000;
      const rate = (done - before) / Math.max(seconds, 1e-9);
      const eta = done > before ? formatDuration((total - done) / rate) : '--:--';
      return `${label} ${done}/${total} ${unit} · ${rate >= 10 ? rate.toFixed(0) : rate.toFixed(2)}/s · ETA ${eta}${note && ` · ${note}`}`;
    };
    let last = { done: 0, note: '' };
    return {
      update(done, note = '') {
        last = { done, note };
        if (!stream.isTTY || performance.now() - drawn < 100) return;
        drawn = performance.now();
        stream.write(`\r\x1b[2K${printable(render(done, note)).slice(0, (stream.columns || 120) - 1)}`);
      },
      finish(note = last.note) {
        const seconds = formatDuration((performance.now() - started) / 1000);
        if (stream.isTTY)
          stream.write(
            `\r\x1b[2K${printable(`${label}: ${last.done} ${unit} in ${seconds}${note && ` · ${note}`}`)}\n`,
          );
      },
    };
  };
}

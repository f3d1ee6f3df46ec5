/** Numbers as people read them. */
import type { Figure } from './results.js';

/** `0.2912` → `29.1`. */
export function percent(fraction: number): string {
  return (100 * fraction).toFixed(1);
}

/** `27.2–31.0`, and `± 0.3` where there is a deviation over seeds. */
export function interval({ low, high, deviation }: Figure): string[] {
  const seeds = deviation === undefined ? [] : [`± ${percent(deviation)}`];
  return [`${percent(low)}–${percent(high)}`, ...seeds];
}

/** `14213` → `14,213`; fractions keep four significant digits. */
export function plain(value: number): string {
  return value.toLocaleString('en-US', Number.isInteger(value) ? {} : { maximumSignificantDigits: 4 });
}

/** `512.7` → `8 min 33 s`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.round((whole % 3600) / 60)} min`;
}

/** `1.84` → `1.8 ms`, `5123` → `5.1 s`. */
export function milliseconds(ms: number): string {
  return ms < 1000 ? `${ms < 100 ? ms.toFixed(1) : Math.round(ms)} ms` : duration(ms / 1000);
}

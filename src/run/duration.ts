/** Durations in words and the time that work still takes, for the terminal and pages. */

/** `3725` → `1:02:05`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const minutes = String(Math.floor(whole / 60) % 60).padStart(2, '0');
  const rest = `${minutes}:${String(whole % 60).padStart(2, '0')}`;
  return whole < 3600 ? rest : `${Math.floor(whole / 3600)}:${rest}`;
}

/**
 * Time that the rest of some work takes at its pace so far, such as `03:25`.
 * @param left steps
 * @param pace steps that were timed, and the seconds that they took
 * @returns undefined where no step was timed
 */
export function timeToGo(left: number, { steps, seconds }: { steps: number; seconds: number }): string | undefined {
  return steps > 0 ? formatDuration((left * seconds) / steps) : undefined;
}

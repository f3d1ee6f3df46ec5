/** Progress over several steps: the current step, its share, and the remaining time of all. */
import { stderr } from 'node:process';
import { printable } from '../../src/run/printable.js';
import { formatDuration } from '../../src/run/duration.js';
import type { ProgressReporter } from '../../src/run/progress.js';

/** A step with the measured seconds of its parts, by the label of their progress lines. */
export type PlannedStep = { title: string; parts: Readonly<Record<string, number>> };

/** Receives start and end of each step; `line` shows progress inside a step. */
export interface OverallProgress {
  /** Starts the next step and prints it. */
  begin(): void;
  /** Lines for the parts of the step; unplanned labels are shown but not counted. */
  line: ProgressReporter;
  /** Ends the step. @param note result, or reason for skipping */
  end(note: string): void;
}

/** Planned seconds used as they are, before the clock shows the speed of this machine. */
const trust = 20;

/**
 * @param isKnown true if the planned seconds are of the model in use; otherwise a part alone is estimated, from its own speed
 * @param stream redrawn lines on a terminal; elsewhere, such as in a log, a line for each step and part, and every 30 s
 * @param now seconds of a monotonic clock
 */
export function overallProgress(
  plan: readonly PlannedStep[],
  isKnown = true,
  stream: NodeJS.WriteStream = stderr,
  now: () => number = () => performance.now() / 1000,
): OverallProgress {
  // Reused steps take no time: their plan is removed on both sides, so that the machine does not look fast.
  let step = -1;
  let planned = 0;
  let worked = 0;
  let begun = 0;
  let drawn = -Infinity;
  const shares = new Map<string, number>();
  const secondsOf = ({ parts }: PlannedStep) => Object.values(parts).reduce((sum, seconds) => sum + seconds, 0);
  const doneInStep = () =>
    [...shares].reduce((sum, [label, share]) => sum + share * (plan[step]!.parts[label] ?? 0), 0);
  const toGo = () => {
    const here = doneInStep();
    const rate = (worked + now() - begun + trust) / (planned + here + trust);
    const later = plan.slice(step + 1).reduce((sum, one) => sum + secondsOf(one), 0);
    return rate * (secondsOf(plan[step]!) - here + later);
  };
  const place = () => `[${step + 1}/${plan.length}]`;
  const show = (partToGo: number, text: string) => {
    if (now() - drawn < (stream.isTTY ? 0.1 : 30)) return;
    drawn = now();
    const left = isKnown ? `${formatDuration(toGo())} to go` : `${formatDuration(partToGo)} to go in this part`;
    const whole = `${place()} ${left} · ${text}`;
    if (!stream.isTTY) return write(whole);
    stream.write(`\r\x1b[2K${printable(whole).slice(0, (stream.columns || 120) - 1)}`);
  };
  const write = (text: string) => void stream.write(`${stream.isTTY ? '\r\x1b[2K' : ''}${printable(text)}\n`);
  return {
    begin() {
      step++;
      begun = now();
      if (!stream.isTTY) drawn = begun;
      shares.clear();
      const left = isKnown ? `${formatDuration(toGo())} to go in all` : 'time to go unknown with this model';
      write(`${place()} ${plan[step]!.title} · ${left}`);
    },
    line(label, total, unit, before = 0) {
      let last = { done: 0, note: '' };
      const opened = now();
      return {
        update(done, note = '') {
          last = { done, note };
          shares.set(label, Math.max(shares.get(label) ?? 0, Math.min(1, done / total)));
          show(
            ((now() - opened) * (total - done)) / Math.max(1, done - before),
            `${label} ${done}/${total} ${unit}${note && ` · ${note}`}`,
          );
        },
        finish(note = last.note) {
          if (label in plan[step]!.parts) write(`      ${label}: ${last.done} ${unit}${note && ` · ${note}`}`);
        },
      };
    },
    end(note) {
      const seconds = now() - begun;
      // A step with almost nothing to do says nothing about speed.
      if (doneInStep() > secondsOf(plan[step]!) / 2) {
        planned += secondsOf(plan[step]!);
        worked += seconds;
      }
      write(`      ${note} · ${formatDuration(seconds)}`);
    },
  };
}

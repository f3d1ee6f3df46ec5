/** Progress through several steps: which one, how far, and how long all of them will still take. */
import { stderr } from 'node:process';
import { printable } from '../../src/run/printable.js';
import type { ProgressReporter } from '../../src/run/progress.js';
import { formatDuration } from '../../src/run/progress.js';

/** A step with the seconds that its parts took where they were measured, by the label of their progress lines. */
export interface PlannedStep {
  title: string;
  parts: Readonly<Record<string, number>>;
}

/** Told where each step begins and ends; its `line` shows what is inside a step. */
export interface OverallProgress {
  /** Begins the next step, and says so. */
  begin(): void;
  /** Lines for the parts of the step; those of labels that are not planned are shown but count nothing. */
  line: ProgressReporter;
  /** Ends the step. @param note what came of it, or why nothing was to be done */
  end(note: string): void;
}

/** Planned seconds that the plan is believed for before the clock says how fast this machine is. */
const trust = 20;

/**
 * @param stream redrawn lines on a terminal; elsewhere, such as in a log, one line at the beginning and the end of each step
 * @param now seconds of a monotonic clock
 */
export function overallProgress(
  plan: readonly PlannedStep[],
  stream: NodeJS.WriteStream = stderr,
  now: () => number = () => performance.now() / 1000,
): OverallProgress {
  // What is reused takes no time: its plan is struck out on both sides, so that it does not look like a fast machine.
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
  const show = (text: string) => {
    if (!stream.isTTY || now() - drawn < 0.1) return;
    drawn = now();
    const whole = `${place()} ${formatDuration(toGo())} to go · ${text}`;
    stream.write(`\r\x1b[2K${printable(whole).slice(0, (stream.columns || 120) - 1)}`);
  };
  const write = (text: string) => stream.write(`${stream.isTTY ? '\r\x1b[2K' : ''}${printable(text)}\n`);
  return {
    begin() {
      step++;
      begun = now();
      shares.clear();
      write(`${place()} ${plan[step]!.title} · ${formatDuration(toGo())} to go in all`);
    },
    line(label, total, unit) {
      let last = { done: 0, note: '' };
      return {
        update(done, note = '') {
          last = { done, note };
          shares.set(label, Math.max(shares.get(label) ?? 0, Math.min(1, done / total)));
          show(`${label} ${done}/${total} ${unit}${note && ` · ${note}`}`);
        },
        finish(note = last.note) {
          if (label in plan[step]!.parts) write(`      ${label}: ${last.done} ${unit}${note && ` · ${note}`}`);
        },
      };
    },
    end(note) {
      const seconds = now() - begun;
      // A step in which next to nothing was left to do says nothing about speed.
      if (doneInStep() > secondsOf(plan[step]!) / 2) {
        planned += secondsOf(plan[step]!);
        worked += seconds;
      }
      write(`      ${note} · ${formatDuration(seconds)}`);
    },
  };
}

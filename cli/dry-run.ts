/** `kgwalk train --dry-run`: a second of every phase, and what the whole run would take. */
import { formatDuration } from '../src/run/progress.js';
import type { TrialReport } from '../trainers/trial.js';
import { printJson, printLine, printNote, printTable } from './output.js';
import type { PlannedRun } from './planned-runs.js';
import { terminalWork } from './terminal.js';

/** Prints the trial of a run; nothing stays of it but text vectors in the cache. */
export async function dryRun(run: PlannedRun, threads: number, json: boolean, maxMinutes?: number): Promise<void> {
  const { tryRun } = await import('../tasks/train.js');
  printNote('trying each phase for a second, and two steps at least');
  const report = await tryRun({ ...run, threads, signal: terminalWork(maxMinutes).signal });
  if (json) printJson(report);
  else printReport(report);
}

function printReport({ notes, networks, phases, seconds, texts, memoryBytes, diskBytes }: TrialReport): void {
  for (const note of notes) printLine(note);
  printLine(`networks computed on ${networks}`);
  printLine();
  printTable(
    phases.map(({ phase, steps, unit, secondsPerStep, seconds: all }) => ({
      phase,
      steps: unit === '' ? '' : `${steps} ${unit}`,
      'a step': unit === '' ? '' : shortTime(secondsPerStep),
      time: formatDuration(all),
    })),
  );
  printLine();
  if (texts.missing > 0) {
    printLine(`texts: ${texts.missing} to encode, ${shortTime(texts.secondsPerText)} each by ${texts.encoder}`);
  }
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
  printLine(
    `total: about ${formatDuration(seconds)}, ${gigabytes(memoryBytes)} of memory, ${gigabytes(diskBytes)} of disk`,
  );
}

/** `3.1 µs`, `12 ms`, `2.5 s`. */
function shortTime(seconds: number): string {
  const [scale, unit] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
  return `${Number((seconds * scale).toPrecision(2))} ${unit}`;
}

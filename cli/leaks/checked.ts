/** What a check looks at, whatever was walked. */
import type { LeakReportParts } from '../../evaluation/leaks/leak-report.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { RunInfo } from '../../src/run/records.js';

/** Parts of a report, and what stands around it. */
export interface Checked extends Omit<LeakReportParts, 'dataset'> {
  /** What is checked, in words: `run first`. */
  title: string;
  /** What the data set says of its graph. */
  note: string;
  /** Whatever no notes of a run can show. */
  cannotExclude: string[];
}

/** The encoder and what it has read. */
export const encoderDoubt = (encoder: string | undefined): string[] =>
  encoder === undefined
    ? []
    : [`what the text encoder (${encoder}) was trained on: its makers alone know whether it has read these texts`];

/** @throws WorkbenchError `usage` where the run was trained on something else */
export function checkDataset(name: string, of: string | undefined, what: string): void {
  if (of === name) return;
  throw new WorkbenchError('usage', `expected the data set of ${what}, which is ${of ?? 'none'}, got ${name}`);
}

/** @throws WorkbenchError `data` where the graph is not the one of the run */
export function checkGraph(hash: string, { id, environment }: RunInfo): void {
  const of = environment.hashes.graph;
  if (of === undefined || of === hash) return;
  throw new WorkbenchError('data', `expected the graph of run ${id} (${of.slice(0, 12)}), got ${hash.slice(0, 12)}`, {
    hint: 'The data set was imported anew since then, from other files.',
  });
}

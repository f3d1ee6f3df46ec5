/** Paired comparison of kept evaluations, for pages. */
import { readEvaluation } from '../evaluation/keep.js';
import { pairedOverSeeds } from '../evaluation/compare.js';
import type { Measure, Row } from '../evaluation/score.js';
import type { PairedDifference } from '../src/metrics/bootstrap.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { Figure } from '../src/run/figures.js';
import { loadTask, taskNames, type TaskName } from './index.js';

/**
 * The difference of each agent from a reference.
 * @param agents, reference folders of the evaluations of each, one a seed
 * @returns undefined for those that do not compare, or whose task is not known here
 */
export async function pairedFolders(
  task: string,
  figure: Figure,
  agents: readonly (readonly string[])[],
  reference: readonly string[],
): Promise<(PairedDifference | undefined)[]> {
  if (!taskNames.includes(task as TaskName)) return agents.map(() => undefined);
  const { measure }: { measure: Measure<Row> } = await loadTask(task as TaskName);
  const rowsOf = (folders: readonly string[]) => {
    try {
      return folders.map((folder) => readEvaluation(folder, measure).rows);
    } catch (error) {
      // A record whose rows are gone is shown all the same.
      if (error instanceof WorkbenchError) return undefined;
      throw error;
    }
  };
  const against = rowsOf(reference);
  return agents.map((folders) => {
    const rows = against && rowsOf(folders);
    return rows && pairedOverSeeds(measure, figure, rows, against);
  });
}

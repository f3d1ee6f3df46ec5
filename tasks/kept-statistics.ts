/** Statistics over the rows of kept evaluations, for pages: differences from a reference, and intervals over seeds. */
import { estimateOverSeeds, pairedOverSeeds } from '../evaluation/compare.js';
import { readEvaluation } from '../evaluation/keep.js';
import type { Measure, Row } from '../evaluation/score.js';
import { leastSeeds, type PairedDifference } from '../src/metrics/bootstrap.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { Estimate, Figure } from '../src/run/figures.js';
import { loadTask, taskNames, type TaskName } from './index.js';

/** Evaluations whose rows are gone, or whose task is not known here, have none. */
export const keptStatistics = {
  /** Number of seeds from which on intervals and tests draw them as well. */
  leastSeeds,

  /** The difference of each agent, and a reference, given by the folders of the evaluations of each, one a seed. */
  async differences(
    task: string,
    figure: Figure,
    agents: readonly (readonly string[])[],
    reference: readonly string[],
  ): Promise<(PairedDifference | undefined)[]> {
    const measure = await measureOf(task);
    const against = measure && readRows(measure, reference);
    return agents.map((folders) => {
      const own = against && readRows(measure, folders);
      // A run and its clone share a seed; evaluations without a run are drawn apart.
      const paired = own?.every(({ run }, i) => run !== undefined && run === against![i]?.run);
      const rowsOf = (all: typeof own) => all!.map(({ rows }) => rows);
      return own && pairedOverSeeds(measure!, figure, rowsOf(own), rowsOf(against), { paired });
    });
  },

  /** Figures of one agent over its seeds, by key. */
  async estimates(
    task: string,
    figures: readonly Figure[],
    folders: readonly string[],
  ): Promise<Readonly<Record<string, Estimate>>> {
    const measure = await measureOf(task);
    const own = measure && readRows(measure, folders)?.map(({ rows }) => rows);
    const found = own ? figures.map((figure) => [figure.key, estimateOverSeeds(measure, figure, own)] as const) : [];
    return Object.fromEntries(found.flatMap(([key, estimate]) => (estimate ? [[key, estimate]] : [])));
  },
};

async function measureOf(task: string): Promise<Measure<Row> | undefined> {
  return taskNames.includes(task as TaskName) ? (await loadTask(task as TaskName)).measure : undefined;
}

function readRows(measure: Measure<Row>, folders: readonly string[]) {
  try {
    return folders.map((folder) => {
      const { record, rows } = readEvaluation(folder, measure);
      return { run: record.run, rows };
    });
  } catch (error) {
    // A record whose rows are gone is shown all the same.
    if (error instanceof WorkbenchError) return undefined;
    throw error;
  }
}

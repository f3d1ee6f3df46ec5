/** Statistics over the rows of kept evaluations, for pages: differences from a reference, and intervals over seeds. */
import { estimateOverSeeds, pairedOverSeeds } from '../evaluation/compare.js';
import { readEvaluation } from '../evaluation/keep.js';
import type { Measure, Row } from '../evaluation/score.js';
import { leastSeeds, type PairedDifference } from '../src/metrics/bootstrap.js';
import { mean } from '../src/metrics/intervals.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { Estimate, Figure } from '../src/run/figures.js';
import { trainingCostOf } from './training-cost.js';
import { loadTask, taskNames, type TaskName } from './index.js';

/** Statistics of one agent. */
interface AgentStatistics {
  /** From the reference; undefined where they do not compare. */
  difference?: PairedDifference | undefined;
  /** Figures over seeds and samples by key, where there are enough seeds; undefined where there are not, or rows are gone. */
  estimates?: Readonly<Record<string, Estimate>> | undefined;
  /** Processor seconds of training, mean over seeds; undefined where some seed's are not known. */
  trainingSeconds?: number | undefined;
}

/**
 * Statistics of agents on the same samples, each given by the folders of its evaluations, one a seed. Evaluations whose rows are gone, or
 * whose task is not known here, have none.
 * @param figures the first is compared
 * @param reference place of the agent that others are compared with
 */
export async function keptStatistics(
  task: string,
  figures: readonly [Figure, ...Figure[]],
  agents: readonly (readonly string[])[],
  reference: number,
): Promise<AgentStatistics[]> {
  const measure = await measureOf(task);
  const against = measure && readRows(measure, agents[reference]!);
  return agents.map((folders, place) => {
    const own = place === reference ? against : measure && readRows(measure, folders);
    if (!own) return {};
    const rowsOf = (all: typeof own) => all.map(({ rows }) => rows);
    // A run and its clone share a seed; evaluations without a run are drawn apart.
    const paired = own.every(({ run }, i) => run !== undefined && run === against?.[i]?.run);
    const difference =
      against && against !== own
        ? pairedOverSeeds(measure!, figures[0], rowsOf(own), rowsOf(against), { paired })
        : undefined;
    const estimates = own.length < leastSeeds ? undefined : estimatesOf(measure!, figures, rowsOf(own));
    const trained = own.map(({ record }, i) => trainingCostOf({ folder: folders[i]!, record })?.cpuSeconds ?? NaN);
    return { difference, estimates, trainingSeconds: mean(trained) || undefined };
  });
}

function estimatesOf(measure: Measure<Row>, figures: readonly Figure[], seeds: readonly (readonly Row[])[]) {
  const found = figures.map((figure) => [figure.key, estimateOverSeeds(measure, figure, seeds)] as const);
  return Object.fromEntries(found.flatMap(([key, estimate]) => (estimate ? [[key, estimate]] : [])));
}

async function measureOf(task: string): Promise<Measure<Row> | undefined> {
  return taskNames.includes(task as TaskName) ? (await loadTask(task as TaskName)).measure : undefined;
}

function readRows(measure: Measure<Row>, folders: readonly string[]) {
  try {
    return folders.map((folder) => {
      const { record, rows } = readEvaluation(folder, measure);
      return { run: record.run, record, rows };
    });
  } catch (error) {
    // A record whose rows are gone is shown all the same.
    if (error instanceof WorkbenchError) return undefined;
    throw error;
  }
}

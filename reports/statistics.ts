/** Statistics that need the rows of evaluations: differences with tests, and intervals over seeds. */
import type { Estimate, Figure, TestedDifference } from '../src/run/figures.js';
import { mainRow, type ResultRow, type ResultSet } from './results.js';
import { namedBy } from './run-data.js';

/** Statistics from the rows of the evaluations of agents, each given by their folders, one a seed; in their order. */
export type Statistics = (
  task: string,
  /** The first is compared. */
  figures: readonly [Figure, ...Figure[]],
  agents: readonly (readonly string[])[],
  /** Place of the agent that others are compared with. */
  reference: number,
) => Promise<
  {
    difference?: TestedDifference | undefined;
    /** Figures over seeds and samples by key, where there are enough seeds. */
    estimates?: Readonly<Record<string, Estimate>> | undefined;
    /** Processor seconds of training, mean over seeds, where they are known. */
    trainingSeconds?: number | undefined;
  }[]
>;

/** Sets with the difference of each agent from the set's subject, and with intervals over seeds where there are enough. */
export function withStatistics(sets: readonly ResultSet[], statistics: Statistics): Promise<ResultSet[]> {
  return Promise.all(
    sets.map(async (set) => {
      const { main, rows, about } = set;
      const figures = [main, ...set.figures.filter((one) => one !== main)] as const;
      const folders = rows.map((row) => row.folders);
      const found = await statistics(about.task, figures, folders, rows.indexOf(mainRow(set)));
      return {
        ...set,
        rows: rows.map((row, i): ResultRow => {
          const { difference, estimates, trainingSeconds } = found[i]!;
          if (!estimates) return { ...row, difference, trainingSeconds };
          const metrics = Object.entries(row.metrics).map(([key, mean]) => {
            const { low, high } = estimates[key] ?? mean;
            return [key, { ...mean, low, high }] as const;
          });
          return {
            ...row,
            difference,
            trainingSeconds,
            metrics: namedBy(metrics),
            overSeeds: Object.keys(estimates).length > 0,
          };
        }),
      };
    }),
  );
}

/** Level of the intervals of rows: `over seeds and dialogues, else over dialogues`. Default: all rows. */
export function intervalsOver({ about: { clusters }, rows }: ResultSet, some: readonly ResultRow[] = rows): string {
  const over = some.map(({ overSeeds, seeds }) =>
    overSeeds ? `over seeds and ${clusters}` : `over ${clusters}${seeds > 1 ? ' of these runs alone' : ''}`,
  );
  return [...new Set(over)].sort().reverse().join(', else ');
}

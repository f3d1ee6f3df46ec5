/** Statistics that need the rows of evaluations: differences with tests, and intervals over seeds. */
import type { Estimate, Figure, TestedDifference } from '../src/run/figures.js';
import { mainRow, type ResultRow, type ResultSet } from './results.js';
import { namedBy } from './run-data.js';

/** Statistics from the rows of evaluations. Agents are given by the folders of their evaluations, one a seed. */
export interface Statistics {
  /** Number of seeds from which on intervals and tests draw them as well. */
  leastSeeds: number;
  /** Paired comparison with a reference; undefined if they cannot be compared. */
  differences(
    task: string,
    figure: Figure,
    agents: readonly (readonly string[])[],
    reference: readonly string[],
  ): Promise<(TestedDifference | undefined)[]>;
  /** Figures over seeds and samples, by key. */
  estimates(
    task: string,
    figures: readonly Figure[],
    folders: readonly string[],
  ): Promise<Readonly<Record<string, Estimate>>>;
}

/** Sets with the difference of each agent from the set's subject, and with intervals over seeds where there are enough. */
export function withStatistics(sets: readonly ResultSet[], statistics: Statistics): Promise<ResultSet[]> {
  return Promise.all(
    sets.map(async (set) => {
      const reference = mainRow(set);
      const others = set.rows.filter((row) => row !== reference);
      const of = others.map(({ folders }) => folders);
      const { task } = set.about;
      const differences = await statistics.differences(task, set.main, of, reference.folders);
      const found = new Map(others.map((row, i) => [row, differences[i]]));
      const rows = set.rows.map(async (row): Promise<ResultRow> => {
        const difference = found.get(row);
        if (row.seeds < statistics.leastSeeds) return { ...row, difference };
        const estimates = await statistics.estimates(task, set.figures, row.folders);
        const metrics = Object.entries(row.metrics).map(([key, mean]) => {
          const { low, high } = estimates[key] ?? mean;
          return [key, { ...mean, low, high }] as const;
        });
        return { ...row, difference, metrics: namedBy(metrics), overSeeds: Object.keys(estimates).length > 0 };
      });
      return { ...set, rows: await Promise.all(rows) };
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

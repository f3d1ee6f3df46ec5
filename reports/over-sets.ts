/** Agents over the data sets of a page: aggregates that few runs bear, and how often a run is above a score. */
import {
  interquartileMean,
  optimalityGap,
  overRuns,
  performanceProfile,
  probabilityOfImprovement,
  type RunScores,
} from '../src/metrics/aggregate.js';
import { intervalText, type Estimate } from '../src/run/figures.js';
import { plain } from './format.js';
import type { Cell, PartView, ResultView } from './html.js';
import type { Draw } from './pictures.js';
import { mainRow, type ResultRow, type ResultSet } from './results.js';

interface OverSets {
  label: string;
  color: string;
  own: boolean;
  scores: RunScores;
}

/** Scores at which profiles are drawn. */
const thresholds = Array.from({ length: 101 }, (_, i) => i / 100);

/** A view for each main figure that two or more sets of real results share, of the agents that stand in all of them. */
export async function overSetsViews(sets: readonly ResultSet[], draw: Draw): Promise<ResultView[]> {
  const real = sets.filter(({ simulated, main }) => simulated === undefined && main.unit === '%');
  const alike = Map.groupBy(real, ({ main, about: { task, split } }) => `${task} ${split} ${main.key}`);
  const views: ResultView[] = [];
  for (const same of alike.values()) {
    const data = new Set(same.map(({ about: { dataset, subsets } }) => `${dataset} ${String(subsets)}`));
    const agents = agentsOver(same);
    if (data.size === same.length && same.length > 1 && agents.length > 0) views.push(await viewOf(same, agents, draw));
  }
  return views;
}

function agentsOver(sets: readonly ResultSet[]): OverSets[] {
  const [first] = sets as [ResultSet];
  return first.rows.flatMap(({ label, color, own }) => {
    const rows = sets.map((set) => set.rows.find((row) => row.label === label));
    const scores = rows.map((row, i) => scoresOf(row, sets[i]!));
    return scores.every((runs) => runs.length > 0) ? [{ label, color, own, scores }] : [];
  });
}

const scoresOf = (row: ResultRow | undefined, { main }: ResultSet): number[] =>
  row?.records.flatMap(({ metrics }) => metrics[main.key]?.value ?? []) ?? [];

async function viewOf(sets: readonly ResultSet[], agents: readonly OverSets[], draw: Draw): Promise<ResultView> {
  const [{ main, about }] = sets as [ResultSet];
  const subject = agents.find(({ label }) => label === mainRow(sets[0]!).label) ?? agents[0]!;
  const cell = (estimate: Estimate): Cell => ({ text: intervalText(estimate, main.unit)! });
  const rows = agents.map((agent) => {
    const { label, own, scores } = agent;
    const better = agent !== subject && overRuns(probabilityOfImprovement, [subject.scores, scores]);
    const cells = [
      { text: label },
      { text: scores.map((runs) => runs.length).join(' + ') },
      cell(overRuns(interquartileMean, [scores])),
      cell(overRuns((one: RunScores) => optimalityGap(one), [scores])),
      better ? cell(better) : { text: '' },
    ];
    return { cells, own };
  });
  const names = sets.map(({ about: { dataset } }) => dataset).join(', ');
  const title = `${main.title} over ${plain(sets.length)} data sets: ${names}, ${about.split}`;
  const head = [
    ...['agent', 'runs', `interquartile mean of ${main.title}, %`, 'optimality gap, %'],
    `probability that ${subject.label} is better, %`,
  ];
  const lines = agents.map(({ label, color, scores }) => {
    const shares = performanceProfile(scores, thresholds);
    return { label, color, x: [thresholds.map((one) => 100 * one)], seeds: [shares] };
  });
  const said = lines.map(({ label, seeds }) => `${label} ${Math.round(100 * seeds[0]![50]!)} % above 50 %`).join(', ');
  const figures = await draw([
    {
      charts: [
        {
          name: `over-sets-${about.task}-${about.split}-${main.key}`,
          alt: `Share of runs above a score of ${main.title}: ${said}`,
          plot: {
            ...{ kind: 'lines' as const, title: `runs above a score, % · ${title}`, unit: '%' as const, lines },
            ...{ axes: [`${main.title}, %`], fromZero: true, stepped: true, smooths: false },
          },
        },
      ],
      caption:
        'Performance profile: the share of runs whose score lies above the one on the axis, data sets weighted alike.',
    },
  ]);
  const table: PartView = { table: { head, rows }, caption };
  return { title, parts: [table, { figures }] };
}

const caption =
  'Of the agents that were evaluated on all of these data sets, in percent. Interquartile mean: of the middle half of all runs. Optimality gap: the mean distance from 100\u00a0%. Brackets: 95\u00a0% bootstrap intervals, runs drawn within each data set; one run a data set gives no width (Agarwal et al. 2021).';

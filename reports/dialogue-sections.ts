/** What the page says of walks in dialogues: results set by set, and worked examples. */
import type { ExampleWalk } from '../src/run/records.js';
import { barChart } from './bar-chart.js';
import { palette } from './chart.js';
import type { ExampleView, FigureGroup, MessageView, PageView, PartView, ResultView, WalkView } from './html.js';
import { paperTables } from './llm-ark.js';
import type { ChartGroup, Draw, NamedChart } from './pictures.js';
import { mainRow, shownKs, type ResultRow, type ResultSet } from './results.js';
import type { RunGroup } from './run-data.js';
import { agentTable, coverageFacts, sliceTable } from './tables.js';
import { interval, percent, plain, readRelation } from './words.js';

/** Every set, folded but the first. @param groups the runs, of which LLM-ARK's have its paper's tables */
export async function walkResults(
  sets: readonly ResultSet[],
  groups: readonly RunGroup[],
  draw: Draw,
): Promise<ResultView[]> {
  const results: ResultView[] = [];
  for (const set of sets) {
    const [first, others] = [true, false].map((isFirst) => resultFigures(set, fileNameOf(set), isFirst));
    const figures = { first: await draw(first!), others: await draw(others!) };
    results.push(resultView(set, figures, paperTables(set, groups), set !== sets[0]));
  }
  return results;
}

/** Worked walks of the first set's main agent. */
export function workedWalks(sets: readonly ResultSet[]): Pick<PageView, 'examples' | 'examplesCaption'> {
  const main = sets[0] && mainRow(sets[0]);
  return {
    examples: (main?.record.examples ?? []).slice(0, shownExamples).map(exampleView),
    examplesCaption: main
      ? `${main.label} on ${titleOfWalks(sets[0]!)}, drawn by seed. Each list is the top of the beam with its probabilities; green edges agree with the gold, the first that does not is red.`
      : '',
  };
}

const shownExamples = 6;

/** @param folded of sets after the first */
function resultView(
  set: ResultSet,
  figures: Record<'first' | 'others', FigureGroup[]>,
  beside: readonly PartView[],
  folded: boolean,
): ResultView {
  const main = mainRow(set)!;
  const baseline = set.rows.find((row) => !row.own && row !== main);
  const slices = sliceTable(main, baseline);
  return {
    title: titleOfWalks(set),
    folded,
    parts: [
      {
        table: agentTable(set),
        caption: captionOf(set),
      },
      { figures: figures.first },
      ...beside,
      { heading: 'All figures, for every k', figures: figures.others, table: agentTable(set, true), folded: true },
      ...(slices.rows.length > 0 ? [{ heading: `By kind of sample: ${main.label}`, table: slices, folded: true }] : []),
      { heading: 'What can be answered at all', facts: coverageFacts(set), folded: true },
    ],
  };
}

function captionOf({ rows }: ResultSet): string {
  const counted = rows.filter(({ arkCounted }) => arkCounted > 0);
  const partly = counted.some(({ arkCounted, seeds }) => arkCounted < seeds)
    ? ' They are left out where not all seeds were counted so.'
    : '';
  const ark =
    ' ark-path, target-any and ark-target repeat the bookkeeping of LLM-ARK’s published code (ark-target: for the end of the gold’s first hop): they compare with that paper alone, and with no other column.';
  return `Percent of all samples, failures included. Below each figure: 95\u00a0% bootstrap interval over dialogues, averaged over seeds where there are several, then ± the standard deviation over seeds.${counted.length > 0 ? ark + partly : ''}`;
}

/** `opendialkg, test, graph dialogue, all turns`. */
export function titleOfWalks({ dataset, split, graph, turns }: ResultSet): string {
  return `${dataset}, ${split}, graph ${graph}, ${turns === 'all' ? 'all turns' : `${turns} turns`}`;
}

function fileNameOf({ dataset, split, graph, turns, n }: ResultSet): string {
  return [dataset, split, graph, turns, n].join('-');
}

/** Bars of path@k and target@k, for the smallest, a middle and the largest k; `first` those of one answer, else the others. */
function resultFigures({ rows, n }: ResultSet, setName: string, first: boolean): ChartGroup[] {
  const bound = Math.max(0, ...rows.map(({ record }) => record.coverage?.reachable ?? 0));
  const charts = ['path', 'target'].flatMap((name) =>
    shownKs(rows, name).flatMap((k): NamedChart[] => {
      if ((k === 1) !== first) return [];
      const key = `${name}@${k}`;
      const bars = rows.flatMap((row) => {
        const figure = row.metrics[key];
        return figure ? [{ label: row.label, figure, ...colorOf(row) }] : [];
      });
      const level =
        name === 'path' && bound > 0 && bound < 0.9995
          ? { label: `at most ${percent(bound)}`, value: bound }
          : undefined;
      const said = bars.map(({ label, figure }) => `${label} ${percent(figure.value)} (${interval(figure)[0]!})`);
      const title = `${key}, % of ${plain(n)} samples`;
      return [
        {
          name: `${setName}-${key}`,
          alt: `${title}, with 95 % intervals: ${said.join(', ')}`,
          chart: barChart(bars, { title, percent: true, bound: level }),
        },
      ];
    }),
  );
  const caption =
    'Share of samples whose gold is among the first k. Whiskers: 95\u00a0% bootstrap interval over dialogues. Colour: trained agents; grey: baselines.';
  return charts.length > 0 ? [{ charts, caption }] : [];
}

/** The colour of a group's curves, paler for all but its best checkpoint; baselines have none. */
function colorOf({ own, group, record }: ResultRow): { color?: string } {
  const color = palette[group % palette.length]!;
  return own ? { color: record.checkpoint === 'best' ? color : `${color}99` } : {};
}

type Hops = ExampleWalk['gold'];

const shownMessages = 3;

/** Prepares a worked example for the page; nothing is escaped yet. */
export function exampleView({ id, messages, sender, start, gold, beam, firstWrongHop }: ExampleWalk): ExampleView {
  const said = messages.map(({ sender, text }): MessageView => ({
    assistant: sender === 'assistant',
    lines: text.split(/\r?\n/),
  }));
  const rank = beam.findIndex(({ path }) => JSON.stringify(path) === JSON.stringify(gold));
  const right = firstWrongHop === undefined;
  const wrong = rank > 0 ? `gold is ranked ${rank + 1}` : `first wrong edge: hop ${(firstWrongHop ?? 0) + 1}`;
  return {
    id: `${id}, the ${sender} chooses`,
    right,
    verdict: right ? 'right' : wrong,
    earlier: said.slice(0, -shownMessages),
    messages: said.slice(-shownMessages),
    gold: walkView(start, gold),
    beam: beam.map(({ path, logProb }) => ({ ...walkView(start, path, gold), ...shareView(logProb) })),
  };
}

/** @param gold marks the hops: right up to the first that differs, which is wrong */
function walkView(start: string, path: Hops, gold?: Hops): WalkView {
  const wrong = gold ? path.findIndex((hop, i) => JSON.stringify(hop) !== JSON.stringify(gold[i])) : -1;
  return {
    start,
    hops: path.map(([, relation, entity], i) => {
      const mark = !gold || (wrong >= 0 && i > wrong) ? '' : i === wrong ? 'wrong' : 'right';
      return { ...readRelation(relation), entity, mark };
    }),
  };
}

/** Agents that rank by a score which is no log-probability have no share to show. */
function shareView(logProb: number): { share: string; width: number } {
  if (!(logProb <= 0)) return { share: '', width: 0 };
  const probability = Math.exp(logProb);
  return { share: `${(100 * probability).toFixed(1)} %`, width: Math.round(100 * probability) };
}

/** What the page says of walks in dialogues: results set by set, and worked examples. */
import { exampleView } from './examples.js';
import type { FigureGroup, PageView, PartView, ResultView } from './html.js';
import { paperTables } from './llm-ark-tables.js';
import type { Draw } from './pictures.js';
import { resultFigures } from './result-figures.js';
import type { ResultSet } from './results.js';
import { mainRow } from './results.js';
import type { RunGroup } from './run-data.js';
import { agentTable, coverageFacts, sliceTable } from './tables.js';

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

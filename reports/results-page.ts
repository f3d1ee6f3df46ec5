/** All records of results as one page with a table to sort. */
import type { Cell, Fact, PageView, Table } from './html.js';
import { factsIn, renderPage } from './html.js';
import { commandsOf, mainFigureOf, type ResultRecord } from './result-records.js';

/** The page as HTML that works offline. */
export function resultsPage(records: readonly ResultRecord[]): string {
  const tasks = [...new Set(records.map(({ task }) => task))];
  const ours = records.filter(({ evaluate }) => evaluate !== undefined);
  const view: PageView = {
    title: 'Results',
    status: '',
    tiles: [],
    walk: undefined,
    done: '',
    result: `${ours.length} rows measured here and ${records.length - ours.length} published ones. A press on the head of a column sorts by it.`,
    reservations:
      'Published figures are mostly of other splits, graphs or amounts of training data: docs/results.md says which rows compare.',
    facts: [],
    results: tasks.map((task) => {
      const rows = records.filter((record) => record.task === task);
      return { title: task, parts: [{ table: tableOf(rows) }] };
    }),
    noise: [],
    curves: [],
    examples: [],
    costs: [],
    shared: [],
    runs: ours.map((record) => ({
      title: record.id,
      command: commandsOf(record).join('\n'),
      environment: environmentOf(record),
      config: JSON.stringify(record, null, 2),
    })),
    diagnostics: [],
    plots: [],
  };
  return renderPage(view);
}

const environmentOf = ({ machine, measured, commit }: ResultRecord): Fact[] => factsIn({ machine, measured, commit });

function tableOf(records: readonly ResultRecord[]): Table {
  const head = [
    'row',
    'agent',
    'data',
    'split',
    'n',
    'figure',
    'value',
    '95 %',
    'further',
    'seeds',
    'processor s',
    'parameters',
    'published',
  ];
  return { head, rows: records.map((record) => ({ cells: cellsOf(record), own: record.evaluate !== undefined })) };
}

function cellsOf(record: ResultRecord): Cell[] {
  const { id, agent, title, data, split, n, interval, sd, seeds, seconds, parameters, published, figures } = record;
  const [name, value] = mainFigureOf(record);
  const further = Object.entries(figures).slice(1);
  const text = (one: unknown = '') => ({ text: String(one) });
  return [
    ...[text(id), text(title ?? agent), text(data), text(split), text(n), text(name), text(value)],
    text(interval ? `${interval[0]} to ${interval[1]}` : sd && `± ${sd} over seeds`),
    { text: further.map(([key, other]) => `${key} ${other}`).join(', '), wraps: true },
    ...[text(seeds?.join(', ')), text(seconds), text(parameters)],
    { text: published ?? '', wraps: true },
  ];
}

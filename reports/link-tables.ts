/** The tables of link queries: results by direction, what bounds them, chains of relations, cost. */
import type { ChainRecord, LinkDirection } from '../src/run/link-records.js';
import type { Cell, Fact, Table } from './html.js';
import { figureOf, type LinkRow, type LinkSet } from './link-results.js';
import { shareCell } from './tables.js';
import { chainText, duration, percent, plain } from './words.js';

/** Directions as the page names them. */
export const directionNames: Readonly<Record<LinkDirection, string>> = {
  tail: 'tails',
  head: 'heads',
  both: 'both directions',
};

const shownFirst: readonly [LinkDirection, string][] = [
  ['tail', 'mrr'],
  ['tail', 'hits@1'],
  ['tail', 'hits@3'],
  ['tail', 'hits@10'],
  ['head', 'mrr'],
  ['both', 'mrr'],
  ['both', 'hits@10'],
];

/** What a figure is called: `MRR`, `Hits@10`, `MRR, summed`. */
export function linkFigureName(key: string): string {
  const [, sum, name] = /^(sum-)?(.*)$/.exec(key)!;
  const plainName = name === 'mrr' ? 'MRR' : name!.replace('hits@', 'Hits@').replace('reached', 'in the beam');
  return sum ? `${plainName}, summed` : plainName;
}

/** Every agent with the figures that the field reports, by its own pooling; columns that nobody has are left out. */
export function linkTable({ rows, n }: LinkSet): Table {
  const columns = shownFirst.filter(([direction, key]) => rows.some(({ directions }) => directions[direction]?.[key]));
  return {
    head: ['agent', ...columns.map(([direction, key]) => `${linkFigureName(key)} ${direction}, %`), 'triples'],
    rows: rows.map((row) => ({
      own: row.own,
      cells: [
        agentCell(row),
        ...columns.map(([direction, key]) => shareCell(figureOf(row, direction, key))),
        { text: plain(n) },
      ],
    })),
  };
}

/** Every ranking figure of one direction. */
export function directionTable({ rows }: LinkSet, direction: LinkDirection): Table {
  const asked = rows.filter(({ directions }) => directions[direction]);
  const keys = [...new Set(asked.flatMap(({ directions }) => Object.keys(directions[direction]!)))].filter(
    (key) => !key.startsWith('reachable@'),
  );
  return {
    head: ['agent', ...keys.map((key) => `${linkFigureName(key)}, %`), 'queries'],
    rows: asked.map((row) => ({
      own: row.own,
      cells: [
        agentCell(row),
        ...keys.map((key) => shareCell(row.directions[direction]![key])),
        { text: plain(row.directions[direction]!.mrr?.n ?? 0) },
      ],
    })),
  };
}

/** What no walk can exceed, and what was ranked last. */
export function linkFacts({ rows, n, main }: LinkSet): Fact[] {
  const measured = rows.find(({ directions }) => Object.keys(directions[main] ?? {}).some(isReachable)) ?? rows[0]!;
  const figures = measured.directions[main] ?? {};
  const { unseen } = rows[0]!.record;
  return [
    { name: 'triples', value: plain(n) },
    ...Object.entries(figures)
      .filter(([key]) => isReachable(key))
      .map(([key, { value }]) => ({
        name: `answers within ${key.slice('reachable@'.length)} edges, ${directionNames[main]}`,
        value: `${percent(value)} %`,
      })),
    { name: 'queries with an entity that train lacks', value: plain(unseen.entities) },
    { name: 'queries with a relation that train lacks', value: plain(unseen.relations) },
  ];
}

const isReachable = (key: string) => key.startsWith('reachable@');

/** Chains that the page shows of one agent; the record holds all. */
export const shownChains = 40;

/** The most used chains of relations, those of one relation together, most asked relations first. */
export function chainTable(chains: readonly ChainRecord[]): Table {
  const uses = new Map<string, number>();
  for (const { relation, uses: some } of chains) uses.set(relation, (uses.get(relation) ?? 0) + some);
  const ordered = [...chains].sort(
    (a, b) =>
      uses.get(b.relation)! - uses.get(a.relation)! ||
      (a.relation < b.relation ? -1 : a.relation > b.relation ? 1 : b.uses - a.uses),
  );
  return {
    head: ['asked', 'chain of relations', 'uses', 'right', 'precision, %'],
    rows: ordered.slice(0, shownChains).map(({ relation, chain, uses: some, right, precision }, i) => ({
      cells: [
        { text: ordered[i - 1]?.relation === relation ? '' : chainText([relation]), wraps: true },
        { text: chain.length === 0 ? 'stays' : chainText(chain), wraps: true },
        { text: plain(some) },
        { text: plain(right) },
        { text: percent(precision) },
      ],
    })),
  };
}

/** Time of the agents that told it. */
export function linkCostTable({ rows }: LinkSet): Table {
  const told = rows.filter(({ record: { cost } }) => cost.seconds !== undefined || cost.queriesPerSecond !== undefined);
  return {
    head: ['agent', 'wall time', 'queries a second'],
    rows: told.map(({ label, own, record: { cost } }) => ({
      own,
      cells: [
        { text: label },
        { text: cost.seconds === undefined ? '' : duration(cost.seconds) },
        { text: cost.queriesPerSecond === undefined ? '' : plain(Number(cost.queriesPerSecond.toPrecision(3))) },
      ],
    })),
  };
}

function agentCell({ label, note, seeds, pooling }: LinkRow): Cell {
  const details = [
    ...(note ? [note] : []),
    ...(pooling === 'sum' ? ['walks summed'] : []),
    ...(seeds > 1 ? [`mean of ${seeds} seeds`] : []),
  ];
  return { text: label, details };
}

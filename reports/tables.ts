/** The tables of a report: results, slices, coverage, cost. */
import type { EvaluationRecord } from '../src/run/records.js';
import { phaseTitle } from './curves.js';
import type { Cell, Fact, Table } from './html.js';
import { ksOf, shownKs, type ResultRow, type ResultSet } from './results.js';
import type { RunGroup } from './run-data.js';
import { largest, meanOf, type Figure, type Figures } from './series.js';
import { duration, interval, percent, plain } from './words.js';

const sliceNames: Record<string, string> = {
  'hops=1': 'one-hop golds',
  'hops=2': 'two-hop golds',
  'sender=user': 'user chooses',
  'sender=assistant': 'assistant chooses',
  'target=seen': 'target seen in train',
  'target=unseen': 'target unseen in train',
  'path=first': 'first path of its dialogue',
  'path=later': 'later path of its dialogue',
};

/** Every agent with its first answers; `all` its figures for every k. */
export function agentTable({ rows, n }: ResultSet, all = false): Table {
  const keys = all ? metricKeys(rows) : countedKeys(rows, (name) => (ksOf(rows, name).includes(1) ? [1] : []));
  return {
    head: ['agent', ...keys.map((key) => `${key}, %`), 'samples'],
    rows: rows.map(({ label, note, own, seeds, metrics, record }) => {
      const details = [...(note ? [note] : []), ...edgeNotes(record), ...(seeds > 1 ? [`mean of ${seeds} seeds`] : [])];
      return {
        own,
        cells: [{ text: label, details }, ...keys.map((key) => shareCell(metrics[key])), { text: plain(n) }],
      };
    }),
  };
}

/** The parts of the samples, for one agent beside the strongest baseline. */
export function sliceTable(row: ResultRow, baseline: ResultRow | undefined): Table {
  const keys = ['path', 'target'].flatMap((name) => shownKs([row], name).map((k) => `${name}@${k}`));
  const slices = Object.keys(row.slices);
  const compared = baseline && slices.some((slice) => baseline.slices[slice]?.['path@1']) ? baseline : undefined;
  return {
    head: ['samples', 'n', ...keys.map((key) => `${key}, %`), ...(compared ? [`path@1 of ${compared.label}, %`] : [])],
    rows: [
      ['all', row.metrics, compared?.metrics] as const,
      ...slices.map((name) => [name, row.slices[name], compared?.slices[name]] as const),
    ].map(([name, figures, other]) => ({
      cells: [
        { text: sliceNames[name] ?? name },
        { text: plain(sizeOf(figures)) },
        ...keys.map((key) => shareCell(figures?.[key])),
        ...(compared ? [shareCell(other?.['path@1'])] : []),
      ],
    })),
  };
}

/** How much of the set can be answered by anyone, and why the first agent missed what it missed. */
export function coverageFacts({ rows, n }: ResultSet): Fact[] {
  const { coverage, misses } = rows[0]!.record;
  const share = (name: string, value: number | undefined) =>
    value === undefined ? [] : [{ name, value: `${percent(value)} %` }];
  const missed = Object.entries(misses ?? {}).filter(([, count]) => count > 0);
  return [
    { name: 'samples', value: plain(n) },
    ...share('start has edges', coverage?.startHasEdges),
    ...share('gold path in the graph', coverage?.goldInGraph),
    ...share('gold path may be walked', coverage?.goldWalkable),
    ...share('upper bound of path@k', coverage?.reachable),
    ...(coverage ? [{ name: 'edges at the start, mean', value: plain(coverage.meanActions) }] : []),
    ...missed.map(([reason, count]) => ({
      name: `missed, ${reason.replaceAll('-', ' ')}`,
      value: plain(count),
    })),
  ];
}

/** Wall time, memory and the figures of each phase, averaged over runs. */
export function phaseCostTable(groups: readonly RunGroup[]): Table {
  const runs = groups.flatMap((group) => group.runs);
  const phases = [...new Set(runs.flatMap(({ timings }) => timings.map(({ phase }) => phase)))];
  const rows = phases.map((phase) => {
    const timed = runs
      .map(({ timings }) => timings.filter((record) => record.phase === phase))
      .filter((records) => records.length > 0);
    const seconds = timed.map((records) => records.reduce((sum, record) => sum + record.seconds, 0));
    const memory = largest(timed.flat().map(({ rss_mb }) => rss_mb));
    return {
      cells: [
        { text: phaseTitle(phase, groups) },
        { text: duration(meanOf(seconds)), details: seconds.length > 1 ? [`mean of ${seconds.length} runs`] : [] },
        { text: `${plain(memory)} MiB` },
        {
          wraps: true,
          text: figuresOfPhase(runs, phase)
            .flatMap(([name, value]) => (value === 0 ? [] : [`${plain(value)} ${name}`]))
            .join(' · '),
        },
      ],
    };
  });
  return { head: ['phase', 'wall time', 'most memory', 'counts'], rows };
}

/** What answering cost each agent; columns that nobody has are left out. */
export function agentCostTable({ rows, n }: ResultSet): Table {
  const figures = [...new Set(rows.flatMap(({ record }) => Object.keys(record.cost ?? {})))].filter(
    (key) => key !== 'seconds',
  );
  const timed = rows.some(({ record }) => record.cost?.seconds !== undefined);
  const priced = rows.filter(({ record }) => Object.keys(record.cost ?? {}).length > 0);
  return {
    head: [
      'agent',
      ...(timed ? ['time a sample'] : []),
      ...figures.map((key) => key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)),
    ],
    rows: priced.map(({ label, own, record: { cost } }) => ({
      own,
      cells: [
        { text: label },
        ...(timed ? [{ text: cost.seconds === undefined ? '' : `${plain((1000 * cost.seconds) / n)} ms` }] : []),
        ...figures.map((key) => ({ text: cost[key] === undefined ? '' : plain(cost[key]) })),
      ],
    })),
  };
}

/** What a phase of a single step measured, and the sums of its `time/` counts, of the first run that has the phase. */
function figuresOfPhase(runs: readonly RunGroup['runs'][number][], phase: string): [string, number][] {
  const { timings, metrics } = runs.find((run) => run.timings.some((record) => record.phase === phase))!;
  const totals = new Map<string, number>();
  for (const record of timings.filter((one) => one.phase === phase)) {
    for (const [key, value] of Object.entries(record)) {
      if (key.startsWith('time/')) totals.set(key, (totals.get(key) ?? 0) + Number(value));
    }
  }
  const [tokens, encodeSeconds] = [totals.get('time/tokens'), totals.get('time/encode_seconds')];
  if (tokens && encodeSeconds) totals.set('time/tokens/s', Math.round(tokens / encodeSeconds));
  const logged = metrics.filter((record) => record.phase === phase);
  const counted = logged.length === 1 ? logged[0]!.metrics : {};
  return [...Object.entries(counted), ...totals].map(([key, value]) => [
    key.replace(/^\w+\//, '').replaceAll('_', ' '),
    value,
  ]);
}

/** What stands beside a strict count where LLM-ARK's code counted too. */
const arkBeside: Readonly<Record<string, readonly string[]>> = {
  path: ['ark-path'],
  target: ['target-any', 'ark-target'],
};

/** Keys of path@k and target@k, each beside the other countings of the same that some row has. */
function countedKeys(rows: readonly ResultRow[], ksOfName: (name: string) => readonly number[]): string[] {
  const keys = ['path', 'target'].flatMap((name) =>
    ksOfName(name).flatMap((k) => [name, ...arkBeside[name]!].map((counting) => `${counting}@${k}`)),
  );
  return keys.filter((key) => rows.some(({ metrics }) => metrics[key]));
}

function metricKeys(rows: readonly ResultRow[]): string[] {
  const keys = countedKeys(rows, (name) => ksOf(rows, name));
  return [...keys, ...(rows.some(({ metrics }) => metrics.mrr) ? ['mrr'] : [])];
}

function sizeOf(figures: Figures | undefined): number {
  return Object.values(figures ?? {})[0]?.n ?? 0;
}

/** Which edges the agent may walk, and how many golds that leaves; nothing where it is all of them. */
export function edgeNotes({ edges, coverage: { goldWalkable } }: EvaluationRecord): string[] {
  if (!edges) return [];
  const left = goldWalkable === undefined ? '' : `, ${percent(goldWalkable)} % of golds left`;
  return [`edges ${edges.policy}, ${edges.maxOut} actions${left}`];
}

/** A warning where dialogues of the evaluation's own kind chose edges of some agent. */
export function edgeReservations({ rows }: ResultSet): string[] {
  const leaks = rows.filter(({ record: { edges } }) => (edges?.brought?.valid ?? 0) + (edges?.brought?.test ?? 0) > 0);
  return leaks.length === 0
    ? []
    : [
        `Dialogues of valid and test chose edges of ${leaks.map(({ label }) => label).join(', ')} (env.edgePolicy=ark): such figures compare with LLM-ARK’s alone.`,
      ];
}

/** A share in percent over its interval. */
export function shareCell(figure: Figure | undefined): Cell {
  return figure ? { text: percent(figure.value), details: interval(figure) } : { text: '' };
}

/** A count over its interval. */
export function countCell(figure: Figure | undefined): Cell {
  return figure
    ? { text: figure.value.toFixed(1), details: [`${figure.low.toFixed(1)}–${figure.high.toFixed(1)}`] }
    : { text: '' };
}

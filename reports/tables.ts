/** Tables of a report: results, slices, misses, findings, cost. */
import { sampleText, type Section } from '../src/run/evaluation.js';
import { numberText, type Figure, type TestedDifference } from '../src/run/figures.js';
import { phaseTitle } from './curves.js';
import type { Cell, Fact, Table } from './html.js';
import { headOf, mainFigures, mainRow, type ResultRow, type ResultSet } from './results.js';
import type { Figures, Mean, RunGroup } from './run-data.js';
import { largest, meanOf } from './plots/series.js';
import { duration, milliseconds, percent, plain, pText, signed, wordsOf } from './format.js';

/** Up to this number, agents are columns in the slice table; above it, rows. */
const mostAgents = 10;

/** Main figures of every agent, with cost if some call a model. */
export function resultTable(set: ResultSet): Table {
  const { rows } = set;
  const asks = rows.some(({ model }) => model !== undefined);
  const timed = asks && rows.some(({ speed }) => speed);
  const against = `${set.main.title} against ${mainRow(set).label}`;
  const further: (Column | false)[] = [
    rows.some(({ difference }) => difference) && {
      head: against,
      cell: (row) => differenceCell(row.difference, set.main),
    },
    asks && { head: 'calls', cell: (row) => callsCell(row, set) },
    asks && { head: 'model tokens', cell: tokensCell },
    timed && { head: 'time', cell: speedCell },
  ];
  return agentsTable(set, mainFigures(set), further.filter(Boolean) as Column[]);
}

/** `−6.4`, its interval, and p. */
export function differenceCell(difference: TestedDifference | undefined, figure: Figure): Cell {
  if (!difference) return { text: '' };
  const { value, low, high, pValue } = difference;
  const text = (one: number) => signed(one, figure);
  return { text: text(value), details: [`${text(low)} to ${text(high)}`, `p ${pText(pValue)}`] };
}

/** All figures of every agent, without those that no agent has. */
export function wholeTable(set: ResultSet): Table {
  const { figures, rows } = set;
  const isCounted = ({ key, place }: Figure) => place === 'main' || rows.some(({ metrics }) => metrics[key]?.value);
  return agentsTable(set, figures.filter(isCounted), []);
}

/** Figures of every agent by the values of one slice. @param slices such as `direction=tail` */
export function sliceTable(set: ResultSet, slices: readonly string[]): Table {
  const rows = slices.flatMap((slice) =>
    set.rows.flatMap((row) => {
      const metrics = row.slices[slice];
      return metrics ? [{ ...row, label: `${slice.slice(slice.indexOf('=') + 1)}: ${row.label}`, metrics }] : [];
    }),
  );
  return agentsTable({ ...set, rows }, mainFigures(set), [
    { head: 'n', cell: ({ metrics }) => ({ text: plain(sizeOf(metrics)) }) },
  ]);
}

type Column = { head: string; cell: (row: ResultRow) => Cell };

function agentsTable({ rows }: ResultSet, figures: readonly Figure[], further: readonly Column[]): Table {
  const shown = figures.filter(({ key }) => rows.some(({ metrics }) => metrics[key]));
  return {
    head: ['agent', ...shown.map(headOf), ...further.map(({ head }) => head)],
    rows: rows.map((row) => ({
      own: row.own,
      cells: [
        { text: row.label, details: [...row.aside] },
        ...shown.map((figure) => figureCell(row.metrics[figure.key], figure)),
        ...further.map(({ cell }) => cell(row)),
      ],
    })),
  };
}

/** Main figure of every agent by slice; for a single agent, all its figures. Empty if there are no slices. */
export function slicesTable(set: ResultSet, slices: readonly string[]): Table {
  const { rows, main } = set;
  const columns = (
    rows.length === 1
      ? mainFigures(set).map((figure) => ({ row: rows[0]!, figure, head: headOf(figure) }))
      : rows.map((row) => ({ row, figure: main, head: row.label }))
  ).filter(({ row, figure }) => Object.values(row.slices).some((figures) => figures[figure.key]));
  if (rows.length > mostAgents) return slicesByAgent(set, slices);
  const figuresOf = (row: ResultRow, slice: string) => (slice === 'all' ? row.metrics : row.slices[slice]);
  const largestOf = (slice: string) => largest(rows.map((row) => sizeOf(figuresOf(row, slice))));
  return {
    head: ['samples', 'n', ...columns.map(({ head }) => head)],
    rows: (slices.length === 0 ? [] : ['all', ...slices]).map((slice) => ({
      cells: [
        { text: slice.replace('=', ': ') },
        { text: plain(largestOf(slice)) },
        ...columns.map(({ row, figure }) => figureCell(figuresOf(row, slice)?.[figure.key], figure)),
      ],
    })),
  };
}

function slicesByAgent({ rows, main }: ResultSet, slices: readonly string[]): Table {
  const sizes = slices.map((slice) => largest(rows.map((row) => sizeOf(row.slices[slice]))));
  return {
    head: ['agent', 'all', ...slices.map((slice, i) => `${slice.replace('=', ': ')} (n = ${plain(sizes[i]!)})`)],
    rows: (slices.length === 0 ? [] : rows).map((row) => ({
      own: row.own,
      cells: [
        { text: row.label },
        ...[row.metrics, ...slices.map((slice) => row.slices[slice])].map((one) => figureCell(one?.[main.key], main)),
      ],
    })),
  };
}

/** Misses by reason, percent of all samples. Empty if nothing was missed. */
export function missTable({ rows }: ResultSet): Table {
  const reasons = [...new Set(rows.flatMap(({ misses }) => Object.keys(misses)))].filter((name) =>
    rows.some(({ misses }) => misses[name]),
  );
  const missed = ({ misses }: ResultRow) => Object.values(misses).reduce((sum, count) => sum + count, 0);
  return {
    head: ['agent', 'no miss', ...reasons.map((name) => name.replaceAll('-', ' '))],
    rows: (reasons.length === 0 ? [] : rows).map((row) => ({
      own: row.own,
      cells: [
        { text: row.label },
        { text: percent((row.asked - missed(row)) / row.asked) },
        ...reasons.map((name) => ({ text: row.misses[name] ? percent(row.misses[name] / row.asked) : '' })),
      ],
    })),
  };
}

/** Findings as lines, by agent. */
export const linesTable = (found: readonly { row: ResultRow; section: Section }[]): Table => ({
  head: ['agent', found[0]!.section.title.toLowerCase()],
  rows: found.map(({ row, section }) => ({
    own: row.own,
    cells: [{ text: row.label }, { text: section.lines!.join(' · '), wraps: true }],
  })),
});

type SectionRows = NonNullable<Section['rows']>;

/** Findings as rows. @param label agent name, if rows of several agents are shown */
export function rowsTable(found: readonly { label?: string; own?: boolean; rows: SectionRows }[]): Table {
  const keys = [...new Set(found.flatMap(({ rows }) => rows.flatMap((row) => Object.keys(row))))];
  const named = found.some(({ label }) => label !== undefined);
  const text = (value: string | number = ''): Cell =>
    typeof value === 'number' ? { text: plain(value) } : { text: value, wraps: true };
  return {
    head: [...(named ? ['agent'] : []), ...keys],
    rows: found.flatMap(({ label, own = false, rows }) =>
      rows.map((row) => ({
        own,
        cells: [...(named ? [{ text: label ?? '' }] : []), ...keys.map((key) => text(row[key]))],
      })),
    ),
  };
}

/** Evaluated samples, agents and counts. */
export function askedFacts({ about, labels, rows }: ResultSet): Fact[] {
  const { graph, limit, n, excluded } = about;
  const missed = rows.length === 1 ? Object.entries(rows[0]!.misses).filter(([, count]) => count > 0) : [];
  return [
    { name: 'data set', value: about.dataset },
    ...(graph === undefined ? [] : [{ name: 'graph', value: [graph, ...labels.map((one) => `[${one}]`)].join(' ') }]),
    { name: 'split', value: about.split },
    { name: 'samples', value: plain(n) },
    ...(limit === undefined ? [] : [{ name: 'drawn', value: sampleText(about) }]),
    ...Object.entries(about).flatMap(([key, value]) =>
      ownFacts.has(key) && value !== undefined ? [{ name: wordsOf(key), value: String(value) }] : [],
    ),
    ...Object.entries(excluded).map(([reason, count]) => ({ name: `not asked, ${reason}`, value: plain(count) })),
    ...missed.map(([reason, count]) => ({ name: `missed, ${reason.replaceAll('-', ' ')}`, value: plain(count) })),
  ];
}

const ownFacts = new Set(['turns', 'holdOut', 'beamWidth', 'horizon', 'pooling']);

/** Wall time, memory and figures of each phase, averaged over runs. */
export function phaseCostTable(groups: readonly RunGroup[]): Table {
  const runs = groups.flatMap((group) => group.runs);
  const phases = [...new Set(runs.flatMap(({ timings }) => timings.map(({ phase }) => phase)))];
  const rows = phases.map((phase) => {
    const timed = runs
      .map(({ timings }) => timings.filter((record) => record.phase === phase))
      .filter((records) => records.length > 0);
    const seconds = timed.map((records) => records.reduce((sum, record) => sum + record.seconds, 0));
    const memory = largest(timed.flat().map(({ rss_mb }) => rss_mb));
    const counts = figuresOfPhase(runs, phase).filter(([, value]) => value !== 0);
    return {
      cells: [
        { text: phaseTitle(phase, groups) },
        { text: duration(meanOf(seconds)), details: seconds.length > 1 ? [`mean of ${seconds.length} runs`] : [] },
        { text: `${plain(memory)} MiB` },
        { wraps: true, text: counts.map(([name, value]) => `${plain(value)} ${name}`).join(' · ') },
      ],
    };
  });
  return { head: ['phase', 'wall time', 'most memory', 'counts'], rows };
}

/** Figures of a single-step phase, and the sums of its `time/` counts, from the first run that has the phase. */
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
  const words = (key: string) => key.replace(/^\w+\//, '').replaceAll('_', ' ');
  return [...Object.entries(counted), ...totals].map(([key, value]) => [words(key), value]);
}

/** Price of tokens, and of a second of a processor core. */
export interface Prices {
  of(usage: { promptTokens: number; cachedTokens: number; completionTokens: number }): number;
  processorSecond: number;
}

/** Cost per sample and in total for each agent, and when training pays off; empty columns are left out. */
export function agentCostTable(set: ResultSet, prices?: Prices): Table {
  const { rows } = set;
  const trained = mainRow(set);
  const pays = rows.map((row) => paysOffCell(trained, row, prices));
  const isPaid = pays.some((cell) => cell !== undefined);
  const kinds = [...new Set(rows.flatMap(({ cost }) => Object.keys(cost)))].filter((kind) =>
    rows.some(({ cost }) => cost[kind]?.total),
  );
  const timed = rows.some(({ speed }) => speed);
  const priced = rows.filter(({ cost, speed }) => speed || kinds.some((kind) => cost[kind]?.total));
  return {
    head: [
      ...['agent', ...(timed ? ['time a sample'] : []), ...kinds.map((kind) => `${wordsOf(kind)} a sample`)],
      ...(isPaid ? [`training of ${trained.label} pays off`] : []),
    ],
    rows: priced.map((row) => ({
      own: row.own,
      cells: [
        { text: row.label },
        ...(timed ? [speedCell(row)] : []),
        ...kinds.map((kind): Cell => {
          const cost = row.cost[kind];
          if (!cost?.total) return { text: '' };
          const details = [`${plain(Math.round(cost.total))} in all`];
          return { text: plain(Number(cost.mean.toPrecision(3))), details };
        }),
        ...(isPaid ? [pays[rows.indexOf(row)] ?? { text: '' }] : []),
      ],
    })),
  };
}

/**
 * After how many samples training was cheaper than asking this agent: by price, else by processor time. Undefined where either is not
 * known, and for agents that ask no model.
 */
function paysOffCell(trained: ResultRow, row: ResultRow, prices: Prices | undefined): Cell | undefined {
  const costOf = ({ speed, cost, model }: ResultRow) => {
    const seconds = speed?.cpuPerSample;
    if (!prices) return seconds;
    const mean = (kind: string) => cost[kind]?.mean ?? 0;
    const [promptTokens, cachedTokens] = [mean('promptTokens'), mean('cachedTokens')];
    const tokens = prices.of({ promptTokens, cachedTokens, completionTokens: mean('completionTokens') });
    return model === undefined && seconds === undefined ? undefined : tokens + prices.processorSecond * (seconds ?? 0);
  };
  const [own, other] = [costOf(trained), costOf(row)];
  if (trained.trainingSeconds === undefined || row.model === undefined || own === undefined || other === undefined)
    return undefined;
  const write = (value: number) => `${plain(Number(value.toPrecision(2)))}${prices ? '' : ' processor s'}`;
  const training = trained.trainingSeconds * (prices ? prices.processorSecond : 1);
  const text = other > own ? `after ${plain(Math.ceil(training / (other - own)))} samples` : 'never';
  return { text, details: [`${write(training)}, then ${write(own)} a sample against ${write(other)}`] };
}

/** A value over its interval, in the figure's unit. */
export function figureCell(mean: Mean | undefined, { unit }: Pick<Figure, 'unit'>): Cell {
  if (!mean) return { text: '' };
  const text = (value: number) => numberText(value, unit);
  const seeds = mean.deviation === undefined ? [] : [`± ${text(mean.deviation)}`];
  return { text: text(mean.value), details: [`${text(mean.low)}–${text(mean.high)}`, ...seeds] };
}

function callsCell({ metrics, cost: { calls } }: ResultRow, { figures }: ResultSet): Cell {
  if (!calls || calls.max === 0) return { text: '0' };
  const counted = figures.find(({ unit, key }) => unit === 'calls' && metrics[key]);
  const { text, details = [] } = counted ? figureCell(metrics[counted.key], counted) : { text: calls.mean.toFixed(1) };
  return { text, details: [...details, `p95 ${plain(calls.p95)}, max ${plain(calls.max)}`] };
}

function tokensCell({ simulated, cost: { promptTokens, cachedTokens, completionTokens } }: ResultRow): Cell {
  const prompt = promptTokens?.mean ?? 0;
  const written = completionTokens?.mean ?? 0;
  if (prompt + written === 0) return { text: '0' };
  const cached = prompt > 0 && !simulated ? [`${percent((cachedTokens?.mean ?? 0) / prompt)} % cached`] : [];
  return { text: plain(Math.round(prompt + written)), details: [`${plain(Math.round(written))} written`, ...cached] };
}

function speedCell({ speed }: ResultRow): Cell {
  if (!speed) return { text: '' };
  const { msPerSample, tokensPerSecond, cpuPerSample } = speed;
  const cpu = cpuPerSample === undefined ? [] : [`${plain(Number(cpuPerSample.toPrecision(2)))} processor s`];
  const rate = tokensPerSecond === undefined ? [] : [`${plain(Math.round(tokensPerSecond))} tokens/s`];
  return { text: milliseconds(msPerSample), details: [...cpu, ...rate] };
}

const sizeOf = (figures: Figures | undefined): number => Math.max(0, ...Object.values(figures ?? {}).map(({ n }) => n));

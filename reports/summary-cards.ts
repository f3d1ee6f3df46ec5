/** Summary cards of the first screen: the figure, its interval, the distance to the strongest other agent, and cost. */
import { numberText } from '../src/run/figures.js';
import type { Tile } from './html.js';
import { meanOf } from './plots/smoothing.js';
import { mainRow, type ResultRow, type ResultSet } from './results.js';
import type { Subject } from './run-data.js';
import { duration, milliseconds, plain, pText, signed } from './format.js';

/** Three or four cards about the subject of the set. @param subject its runs, if available */
export function tilesOf(set: ResultSet, subject: Subject | undefined): Tile[] {
  const { main, about } = set;
  const row = mainRow(set);
  const estimate = row.metrics[main.key];
  if (!estimate) return [];
  const { value, low, high, deviation } = estimate;
  const of = (one: number) => numberText(one, main.unit);
  const seeds = deviation === undefined ? '' : `; ± ${of(deviation)} between ${row.seeds} seeds`;
  return [
    { name: main.title, value: text(value, set), detail: `${row.label}, n = ${plain(about.n)}` },
    { name: '95\u00a0% interval', value: `${of(low)} to ${of(high)}`, detail: `over ${about.clusters}${seeds}` },
    ...againstTile(set),
    ...costTile(row, row.own ? subject : undefined),
  ];
}

function againstTile(set: ResultSet): Tile[] {
  const other = strongest(set);
  if (!other) return [];
  const { away, pValue } = distanceOf(set, other);
  const points = set.main.unit === '%' ? ' points' : '';
  return [
    {
      name: `against ${other.label}`,
      value: `${signed(away, set.main)}${points}`,
      detail: [
        `it has ${text(valueOf(other, set), set)}`,
        ...(pValue === undefined ? [] : [`p ${pText(pValue)}${pValue >= 0.05 ? ', may be chance' : ''}`]),
      ].join('; '),
    },
  ];
}

/** Training cost, otherwise cost per answer. */
function costTile({ cost, model, speed }: ResultRow, subject: Subject | undefined): Tile[] {
  const tokens = (cost.promptTokens?.mean ?? 0) + (cost.completionTokens?.mean ?? 0);
  const answering = [
    ...(model !== undefined && cost.calls
      ? [`${cost.calls.mean.toFixed(1)} calls`, `${plain(Math.round(tokens))} tokens`]
      : []),
    ...(speed ? [milliseconds(speed.msPerSample)] : []),
  ];
  const runs = subject?.groups.flatMap((group) => group.runs) ?? [];
  const seconds = meanOf(runs.map(({ timings }) => timings.reduce((sum, { seconds: lap }) => sum + lap, 0)));
  if (seconds > 0) {
    const each = runs.length > 1 ? ' each' : '';
    const detail = answering.length > 0 ? `${answering.join(', ')} a sample` : 'on this machine';
    return [{ name: `training${each}`, value: duration(seconds), detail }];
  }
  const [first, ...others] = answering;
  return first === undefined ? [] : [{ name: 'cost a sample', value: first, detail: others.join(', ') }];
}

/** The best other agent of the set; untrained ones if the subject is trained. */
export function strongest(set: ResultSet): ResultRow | undefined {
  const row = mainRow(set);
  return set.rows.find((one) => one !== row && !(row.own && one.own) && one.metrics[set.main.key] !== undefined);
}

/** Distance of the subject to another agent, with p if they were compared. */
export function distanceOf(set: ResultSet, other: ResultRow): { away: number; pValue?: number } {
  const away = valueOf(mainRow(set), set) - valueOf(other, set);
  return other.difference ? { away: -other.difference.value, pValue: other.difference.pValue } : { away };
}

/** Main figure of an agent; 0 if it has none. */
export const valueOf = ({ metrics }: ResultRow, { main }: ResultSet): number => metrics[main.key]?.value ?? 0;

/** A value of the main figure with its unit. */
export const text = (value: number, { main: { unit } }: Pick<ResultSet, 'main'>): string =>
  `${numberText(value, unit)}${unit === '%' ? '\u00a0%' : ''}`;

/** A distance in the main figure: `9.0 points`, `0.031`. */
export const pointsText = (away: number, { main: { unit } }: Pick<ResultSet, 'main'>): string =>
  `${numberText(away, unit)}${unit === '%' ? ' points' : ''}`;

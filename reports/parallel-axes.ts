/** Parallel-axes plot: one line per trial across its settings to its figure, as SVG in the page's colours. */
import { display } from '../src/run/config-keys.js';
import type { SweepAxis } from '../src/run/sweep.js';
import { escapeText } from './html.js';
import { plain } from './format.js';

interface AxesTrial {
  label: string;
  set: Readonly<Record<string, unknown>>;
  value: number;
  /** Stopped before its last update. */
  isStopped: boolean;
}

const column = 150;
const top = 46;
const height = 240;
const margin = 70;

/**
 * @param figure name of the figure
 * @param write formats a value of the figure
 * @param better direction; the best line is drawn last, in another colour
 */
export function parallelAxes(
  axes: readonly SweepAxis[],
  trials: readonly AxesTrial[],
  { figure, write, better }: { figure: string; write: (value: number) => string; better: 'high' | 'low' },
): string {
  const values = trials.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const shareOf = (value: number) => (high > low ? (value - low) / (high - low) : 0.5);
  const x = (i: number) => margin + i * column;
  const y = (level: number) => top + (1 - level) * height;
  const width = 2 * margin + axes.length * column;
  const sign = better === 'high' ? 1 : -1;
  // Ties go to the earlier trial, as elsewhere.
  const ordered = [...trials]
    .reverse()
    .sort((a, b) => Number(b.isStopped) - Number(a.isStopped) || sign * (a.value - b.value));
  const best = ordered.findLast(({ isStopped }) => !isStopped);
  const lines = ordered.map((trial) => {
    const { label, set, value, isStopped } = trial;
    const positions = [...axes.map(({ key, placeOf }) => (key in set ? placeOf(set[key]) : 0.5)), shareOf(value)];
    const course = positions.map((position, i) => pathTo(i, x, y, position, positions[i - 1])).join('');
    const kind = trial === best ? 'best' : isStopped ? 'stopped' : '';
    const strength = (better === 'high' ? shareOf(value) : 1 - shareOf(value)) * 0.7 + 0.2;
    const parts = [...Object.entries(set).map(([key, one]) => `${key} ${display(one)}`), `${figure} ${write(value)}`];
    const title = `<title>${escapeText(`${label}${isStopped ? ', stopped' : ''}: ${parts.join(', ')}`)}</title>`;
    return `<path class="${kind}" opacity="${strength.toFixed(2)}" d="${course}">${title}</path>`;
  });
  const named = axes.map((axis, i) => axisDrawing(x(i), axis.key, ticksOf(axis), y, i === 0));
  const figureTicks = [low, high].map((value) => ({ level: shareOf(value), text: write(value) }));
  const last = axisDrawing(x(axes.length), figure, low < high ? figureTicks : figureTicks.slice(0, 1), y);
  const said = best ? ` The best, ${best.label}, is at ${write(best.value)}.` : '';
  const alt = `${trials.length} trials, a line each, across ${axes.map(({ key }) => key).join(', ')} to ${figure}.${said}`;
  return `<svg class="axes" role="img" aria-label="${escapeText(alt)}" viewBox="0 0 ${width} ${top + height + 30}" style="min-width:${Math.round(width * 0.8)}px;max-width:${Math.round(width * 1.3)}px">
${lines.join('\n')}
${[...named, last].join('\n')}
</svg>`;
}

/** A curve that is horizontal at every axis. */
function pathTo(
  i: number,
  x: (i: number) => number,
  y: (level: number) => number,
  level: number,
  before: number | undefined,
): string {
  const at = (value: number) => value.toFixed(1);
  if (before === undefined) return `M${x(i)} ${at(y(level))}`;
  const middle = (x(i - 1) + x(i)) / 2;
  return `C${middle} ${at(y(before))} ${middle} ${at(y(level))} ${x(i)} ${at(y(level))}`;
}

type Tick = { level: number; text: string };

function ticksOf({ values, low, high, isLog, placeOf }: SweepAxis): Tick[] {
  if (values) return values.map((value) => ({ level: placeOf(value), text: display(value) }));
  const middle = isLog ? Math.sqrt(low! * high!) : (low! + high!) / 2;
  const ends = [low!, high!].map((value) => ({ level: placeOf(value), text: plain(value) }));
  return [...ends, { level: placeOf(middle), text: String(Number(middle.toPrecision(2))) }];
}

/** @param isFirst labels the ticks on the left, where there is no line */
function axisDrawing(
  x: number,
  name: string,
  ticks: readonly Tick[],
  y: (level: number) => number,
  isFirst = false,
): string {
  const position = isFirst ? `text-anchor="end" x="${x - 7}"` : `x="${x + 7}"`;
  // Breaks dotted names before their last part, to keep columns narrow.
  const dot = name.lastIndexOf('.') + 1;
  const [section, key] = [name.slice(0, dot), name.slice(dot)];
  const marks = ticks.map(
    ({ level, text }) =>
      `<line class="tick" x1="${x - 3}" x2="${x + 3}" y1="${y(level).toFixed(1)}" y2="${y(level).toFixed(1)}"/>` +
      `<text class="quiet" ${position} y="${(y(level) + 4).toFixed(1)}">${escapeText(text)}</text>`,
  );
  return [
    `<line class="axis" x1="${x}" x2="${x}" y1="${y(1)}" y2="${y(0)}"/>`,
    ...(section ? [`<text class="quiet" text-anchor="middle" x="${x}" y="16">${escapeText(section)}</text>`] : []),
    `<text text-anchor="middle" x="${x}" y="32">${escapeText(key)}</text>`,
    ...marks,
  ].join('');
}

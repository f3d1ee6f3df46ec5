/** Points with whiskers over a logarithmic axis: score against cost. */
import type { Chart as Drawing, ChartConfiguration, Plugin, ScaleOptions } from 'chart.js';
import { axis, driven, font, plugins, ticks, valueWith, type Theme, type View } from './chart.js';
import type { PlotEstimate, ScatterPlot } from './plot.js';

type Point = ScatterPlot['points'][number];

/** Above this number of points, names that do not fit are left out. */
const mostNamed = 10;

/** Longer names are cut. */
const longestName = 22;

/** Points by cost on a logarithmic axis with a separate position for 0 at its left end. */
export function scatterConfig(plot: ScatterPlot, theme: Theme, view?: View): ChartConfiguration {
  const { title, unit, xLabel } = plot;
  const points = plot.points.filter(({ label }) => !view?.hidden.has(label));
  const { place, marks } = logarithmicAxis(points.map(({ x }) => x));
  const percent = unit === '%';
  const above = plugins(title, theme, view);
  return {
    type: 'scatter',
    data: {
      datasets: [
        {
          data: points.map(({ x, y }) => ({ x: place(x.value), y: y.value })),
          pointRadius: 5,
          pointHoverRadius: 7,
          pointBackgroundColor: points.map(({ color }) => theme.shade(color)),
          pointBorderColor: theme.paper,
          clip: 8,
        },
      ],
    },
    options: {
      ...(view && driven),
      layout: { padding: { top: 4, right: 18, bottom: 2, left: 2 } },
      plugins: {
        ...above,
        tooltip: {
          ...above.tooltip,
          callbacks: {
            title: (items: { dataIndex: number }[]) => points[items[0]?.dataIndex ?? 0]?.label ?? '',
            label: ({ dataIndex }: { dataIndex: number }) => {
              const { x, y } = points[dataIndex]!;
              const interval = `(95 %: ${valueWith(unit, y.low)} to ${valueWith(unit, y.high)})`;
              return [`${valueWith(unit, y.value)} ${interval}`, `${xLabel.split(',')[0]}: ${valueWith('', x.value)}`];
            },
          },
        },
      },
      scales: {
        x: {
          type: 'logarithmic',
          ...axis(theme, xLabel),
          min: view?.x?.min ?? marks[0]!.at / 1.5,
          max: view?.x?.max ?? marks.at(-1)!.at * 1.2,
          afterBuildTicks: (scale: { ticks: { value: number }[] }) => {
            scale.ticks = marks.map(({ at }) => ({ value: at }));
          },
          ticks: {
            ...ticks(theme),
            autoSkip: false,
            callback: (value: number | string) => marks.find(({ at }) => at === value)?.text ?? '',
          },
        },
        y: { ...axis(theme), ...(percent && { min: 0, max: 1 }), ...view?.y, ticks: ticks(theme, percent) },
      } as unknown as Record<string, ScaleOptions<'linear'>>,
    },
    plugins: [crosses(points, place, theme)],
  } as ChartConfiguration;
}

/** Ticks at decades, or at 1, 3, 10 … if there are few decades; 0 is one decade left of the smallest value. */
export function logarithmicAxis(values: readonly ({ value: number } & Partial<PlotEstimate>)[]): {
  place: (value: number) => number;
  marks: { at: number; text: string }[];
} {
  const seen = values
    .filter(({ value }) => value > 0)
    .flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
  const positive = seen.filter((value) => value > 0);
  const [least, most] = positive.length > 0 ? [Math.min(...positive), Math.max(...positive)] : [1, 10];
  const first = Math.floor(Math.log10(least) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(most) - 1e-9));
  const hasZero = values.some(({ value }) => value === 0);
  const zero = 10 ** (first - 1);
  const steps = last - first > 3 ? [1] : [1, 3];
  const marks = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    .flatMap((exponent) => steps.map((step) => step * 10 ** exponent))
    .filter((at) => at <= 10 ** last * 1.001)
    .map((at) => ({ at, text: String(Number(at.toPrecision(2))) }));
  return { place: (value) => (value > 0 ? value : zero), marks: hasZero ? [{ at: zero, text: '0' }, ...marks] : marks };
}

/** Whiskers in both directions and names next to the points, placed without overlaps. */
const crosses = (points: readonly Point[], place: (value: number) => number, theme: Theme): Plugin => ({
  id: 'crosses',
  afterDatasetsDraw({ ctx, chartArea, scales }: Drawing) {
    const across = (value: number) => scales.x!.getPixelForValue(place(value));
    const up = (value: number) => scales.y!.getPixelForValue(value);
    ctx.save();
    ctx.lineWidth = 1.4;
    const spots = points.map(({ x, y, color }) => {
      const [px, py] = [across(x.value), up(y.value)];
      ctx.strokeStyle = theme.shade(color);
      ctx.beginPath();
      ctx.moveTo(px, up(y.low));
      ctx.lineTo(px, up(y.high));
      if (x.low !== undefined && x.high !== undefined && x.value > 0) {
        ctx.moveTo(across(x.low), py);
        ctx.lineTo(across(x.high), py);
      }
      ctx.stroke();
      const [left, right] = [across(x.low ?? x.value), across(x.high ?? x.value)];
      return {
        spot: { left: px - 7, right: px + 7, top: py - 7, bottom: py + 7 },
        bars: [
          { left: px - 2, right: px + 2, top: up(y.high), bottom: up(y.low) },
          { left, right, top: py - 2, bottom: py + 2 },
        ],
      };
    });
    ctx.font = `12px ${font}`;
    ctx.textBaseline = 'middle';
    const taken: Box[] = spots.flatMap(({ spot, bars }) => [spot, ...bars]);
    points.forEach(({ label: name }, i) => {
      const label = cutInside(name, longestName);
      const width = ctx.measureText(label).width;
      const { spot } = spots[i]!;
      const isCrowded = points.length > mostNamed;
      const box = placeFor(spot, width, taken, chartArea, isCrowded ? 3 : 10);
      if (isCrowded && taken.some((other) => overlaps(box, other))) return;
      taken.push(box);
      leader(ctx, spot, box, theme);
      ctx.strokeStyle = theme.paper;
      ctx.lineWidth = 3;
      ctx.strokeText(label, box.left, (box.top + box.bottom) / 2);
      ctx.fillStyle = theme.ink;
      ctx.fillText(label, box.left, (box.top + box.bottom) / 2);
    });
    ctx.restore();
  },
});

/** Cuts the middle of a text: variants of one agent differ at the end. */
const cutInside = (text: string, limit: number) =>
  text.length <= limit ? text : `${text.slice(0, limit / 2 - 1)}…${text.slice(-limit / 2)}`;

/** Line from a point to a name that is not next to it. */
function leader(ctx: Drawing['ctx'], spot: Box, box: Box, { quiet }: Theme): void {
  const [x, y] = [(spot.left + spot.right) / 2, (spot.top + spot.bottom) / 2];
  const to = (box.top + box.bottom) / 2;
  if (Math.abs(to - y) <= letterHeight) return;
  ctx.strokeStyle = quiet;
  ctx.lineWidth = 0.8;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(box.left > x ? box.left - 2 : box.right + 2, to);
  ctx.stroke();
}

/** A rectangle, in pixels from the upper left corner. */
export type Box = { left: number; right: number; top: number; bottom: number };

const letterHeight = 14;

/**
 * Nearest position around a point that lies inside the area and overlaps nothing; the nearest of all if there is none.
 * @param reach lines of text above and below to try
 */
export function placeFor(spot: Box, width: number, taken: readonly Box[], area: Box, reach = 10): Box {
  const middle = (spot.top + spot.bottom) / 2;
  const steps = Array.from({ length: reach }, (_, i) => i + 1).flatMap((step) => [-step, step]);
  const sides = [0, ...steps].flatMap((step) => {
    const top = middle - letterHeight / 2 + step * letterHeight;
    return [spot.right + 2, spot.left - 2 - width].map((left) => ({
      left,
      right: left + width,
      top,
      bottom: top + letterHeight,
    }));
  });
  const isInside = (box: Box) =>
    box.left >= area.left && box.right <= area.right + 12 && box.top >= area.top - 4 && box.bottom <= area.bottom + 4;
  const isFree = (box: Box) => taken.every((other) => !overlaps(box, other));
  return sides.find((box) => isInside(box) && isFree(box)) ?? sides.find(isInside) ?? sides[0]!;
}

function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/**
 * Interactive charts in a browser, from the JSON of `plots/plot.ts`:
 *
 *     const drawn = drawChart(element, plot);   // fills the element, whose width it takes
 *     drawn.update(later);                      // new points; zoom, smoothing and switched-off lines stay as they are
 *     drawn.remove();
 *
 * chart.js must be there as the global `Chart` (its own UMD build, before this module). A reader points, drags a range to zoom,
 * turns the wheel over a chart that has the focus (or with Ctrl), and double-clicks for the whole; by keys: arrows go from
 * point to point, + and − zoom, 0 shows the whole. The names below switch lines off; next to them are smoothing, logarithmic axes,
 * what the horizontal axis counts, and the values as CSV. Colours are those of day or night; the style is that of `style.ts`.
 */
import type { Chart as ChartType } from 'chart.js';
import { dark, light, type View } from '../plots/chart.js';
import { configOf, sizeOf } from '../plots/config.js';
import { meaningOf } from '../../src/run/figure-meanings.js';
import { csvCell } from '../../src/run/printable.js';
import type { LinePlot, Plot, PlotLine, Value } from '../plots/plot.js';
import { courseOf } from '../plots/series.js';
import { listen, type Handled } from './pointer.js';

declare const Chart: typeof ChartType;

/** A chart on a page. */
export interface DrawnChart {
  /** Draws other values; the reader's view (zoom, axis, smoothing) is kept. */
  update(plot: Plot): void;
  /** Clears the element and frees the chart. */
  remove(): void;
}

/** Options that are not part of the plot. */
interface DrawOptions {
  /** Alternative text. Default: its title. */
  alt?: string | undefined;
  /** File name of the CSV without extension. Default: the title. */
  fileName?: string | undefined;
}

/** Fills an empty element with an interactive chart once it comes near the viewport; far from it, updates wait. */
export function drawChart(host: HTMLElement, first: Plot, { alt, fileName }: DrawOptions = {}): DrawnChart {
  let plot = first;
  let view = viewOf(plot);
  let chart: ChartType | undefined;
  let isNear = false;
  let isStale = true;
  const night = window.matchMedia('(prefers-color-scheme: dark)');
  const paper = window.matchMedia('print');

  const title = make('p', 'plot-title');
  const canvas = make('canvas', '');
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'img');
  const stage = make('div', 'plot-stage', canvas);
  const said = make('p', 'plot-said');
  said.setAttribute('aria-live', 'polite');
  const names = make('div', 'plot-names');
  names.setAttribute('role', 'group');
  names.setAttribute('aria-label', 'shown');
  const tools = make('div', 'plot-tools');
  host.classList.add('plot', plot.kind);

  const redraw = (now = isNear) => {
    isStale = !now;
    if (isStale) return;
    if (!host.hasChildNodes()) host.append(title, stage, said, names, tools);
    chart?.destroy();
    const theme = night.matches && !paper.matches ? dark : light;
    chart = new Chart(canvas, configOf(plot, theme, view));
    handled.chart = chart;
    reset.disabled = view.x === undefined && view.y === undefined;
  };
  const change = (part: Partial<View>) => {
    view = { ...view, ...part };
    redraw();
  };
  const handled: Handled = {
    canvas,
    stage,
    said,
    chart: undefined as unknown as ChartType,
    plot: () => plot,
    zoomTo: (x, y) => change({ x, y }),
  };
  const reset = button('whole', () => handled.zoomTo());
  reset.title = 'Show the whole again (double click, or 0)';

  const furnish = () => {
    const { title: text } = plot;
    title.textContent = text;
    title.title = meaningOf(text) ?? '';
    canvas.setAttribute('aria-label', alt ?? text);
    // Without title and names, which are shown next to the canvas.
    stage.style.height = `${plot.kind === 'lines' ? (plot.height ?? 250) - 40 : sizeOf(plot).height - 20}px`;
    names.replaceChildren(...nameButtons(plot, view, change));
    const csv = csvButton(() => plot, fileName);
    tools.replaceChildren(...toolsFor(() => plot, view, change), ...(plot.kind === 'bars' ? [csv] : [reset, csv]));
  };
  furnish();
  const near = new IntersectionObserver(
    (entries) => {
      isNear = entries.at(-1)!.isIntersecting;
      if (isNear && isStale) redraw();
    },
    { rootMargin: '600px' },
  );
  near.observe(host);
  const ignore = listen(handled);
  const onTheme = () => {
    furnish();
    redraw(isNear || chart !== undefined);
  };
  night.addEventListener('change', onTheme);
  paper.addEventListener('change', onTheme);

  return {
    update(next) {
      const before = shapeOf(plot, view);
      if (next.kind === 'lines' && plot.kind === 'lines') {
        if (view.axis >= next.axes.length) view = viewOf(next);
        // A range in other units is none.
        else if (next.axes[view.axis] !== plot.axes[view.axis]) view = { ...view, x: undefined, y: undefined };
        if (view.window === plot.window) view = { ...view, window: next.window ?? 1 };
      }
      plot = next;
      if (shapeOf(plot, view) !== before) furnish();
      redraw();
    },
    remove() {
      near.disconnect();
      ignore();
      night.removeEventListener('change', onTheme);
      paper.removeEventListener('change', onTheme);
      chart?.destroy();
      host.replaceChildren();
    },
  };
}

/** Inputs of the controls: the controls are rebuilt when they change. */
function shapeOf(plot: Plot, { window }: View): string {
  if (plot.kind === 'lines') {
    const { title, axes, lines, levels } = plot;
    return JSON.stringify([
      title,
      axes,
      lines.map(({ label, color }) => [label, color]),
      levels,
      window,
      canSmooth(plot),
    ]);
  }
  const of = plot.kind === 'bars' ? plot.bars : plot.points;
  return JSON.stringify([plot.title, of.map(({ label, color }) => [label, color])]);
}

function viewOf(plot: Plot): View {
  const window = plot.kind === 'lines' ? (plot.window ?? 1) : 1;
  return { axis: 0, logX: false, logY: false, window, hidden: new Set() };
}

/** One button per name; none for a single name, or where names label the lines directly. */
function nameButtons(plot: Plot, view: View, change: (part: Partial<View>) => void): HTMLElement[] {
  if (plot.kind === 'bars') return [];
  const named =
    plot.kind === 'lines'
      ? [...plot.lines, ...(plot.levels ?? []).map(({ label }, i) => ({ label, color: i }))]
      : plot.points;
  if (named.length < 2) return [];
  const hidden = new Set(view.hidden);
  const { shade } = window.matchMedia('(prefers-color-scheme: dark)').matches ? dark : light;
  return named.map(({ label, color }) => {
    const one = button(label, () => {
      if (!hidden.delete(label)) hidden.add(label);
      one.setAttribute('aria-pressed', String(!hidden.has(label)));
      change({ hidden: new Set(hidden) });
    });
    one.setAttribute('aria-pressed', String(!hidden.has(label)));
    const stroke = make('i', typeof color === 'string' ? '' : color === 0 ? 'level' : 'level next');
    if (typeof color === 'string') stroke.style.background = shade(color);
    one.prepend(stroke);
    return one;
  });
}

function toolsFor(current: () => Plot, view: View, change: (part: Partial<View>) => void): HTMLElement[] {
  const plot = current();
  if (plot.kind !== 'lines') return [];
  const toggle = (text: string, key: 'logX' | 'logY') => {
    const one = button(text, () => {
      const isOn = one.getAttribute('aria-pressed') !== 'true';
      one.setAttribute('aria-pressed', String(isOn));
      change({ [key]: isOn });
    });
    one.setAttribute('aria-pressed', String(view[key]));
    one.title = `Logarithmic ${key === 'logX' ? 'horizontal' : 'vertical'} axis`;
    return one;
  };
  return [
    ...axisChoice(plot, view, change),
    ...(canSmooth(plot) ? [smoother(() => longestOf(current() as LinePlot), view, change)] : []),
    toggle('log x', 'logX'),
    toggle('log y', 'logY'),
  ];
}

function axisChoice({ axes }: LinePlot, view: View, change: (part: Partial<View>) => void): HTMLElement[] {
  if (axes.length < 2) return [];
  const choice = make('select', '');
  choice.setAttribute('aria-label', 'horizontal axis');
  choice.append(...axes.map((label, i) => new Option(label, String(i), false, i === view.axis)));
  choice.addEventListener('change', () => change({ axis: Number(choice.value), x: undefined, y: undefined } as object));
  return [choice];
}

const longestOf = ({ lines }: LinePlot) => Math.max(0, ...lines.map(({ seeds }) => seeds[0]?.length ?? 0));

function canSmooth(plot: LinePlot): boolean {
  return plot.smooths ?? (longestOf(plot) >= 10 && plot.lines.every(({ low }) => low === undefined));
}

/** A slider over odd windows, up to half of the longest line. */
function smoother(longest: () => number, view: View, change: (part: Partial<View>) => void): HTMLElement {
  const slider = make('input', '');
  slider.type = 'range';
  slider.min = '0';
  // Windows grow by squares: one point, then few, up to half of all.
  const steps = 12;
  slider.max = String(steps);
  const windowAt = (place: number) => 1 + 2 * Math.round((longest() / 4 - 0.5) * (place / steps) ** 2);
  const nearest = Array.from({ length: steps }, (_, i) => i).find((i) => windowAt(i) >= view.window) ?? steps;
  slider.value = String(nearest);
  const label = make('label', '', document.createTextNode('smooth'), slider);
  const describe = (window: number) => {
    const text = window <= 1 ? 'not smoothed' : `moving mean of ${window} points`;
    slider.setAttribute('aria-valuetext', text);
    label.title = text;
  };
  describe(view.window);
  slider.addEventListener('input', () => {
    const window = windowAt(Number(slider.value));
    describe(window);
    change({ window });
  });
  return label;
}

function csvButton(plot: () => Plot, fileName: string | undefined): HTMLElement {
  const one = button('CSV', () => {
    const file = new Blob([csvOf(plot())], { type: 'text/csv' });
    const link = make('a', '');
    link.href = URL.createObjectURL(file);
    link.download = `${(fileName ?? plot().title).replace(/[^\w@-]+/g, '-').slice(0, 100)}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
  one.title = 'The values of this chart as a file';
  return one;
}

function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  ...children: Node[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function button(text: string, onClick: () => void): HTMLButtonElement {
  const one = make('button', '', document.createTextNode(text));
  one.type = 'button';
  one.addEventListener('click', onClick);
  return one;
}

/** One row per point or bar, with its interval; lines as logged, not smoothed. */
export function csvOf(plot: Plot): string {
  const rows =
    plot.kind === 'lines'
      ? linesRows(plot.lines, plot.axes)
      : plot.kind === 'bars'
        ? [
            ['name', 'value', 'low', 'high', 'n'],
            ...plot.bars.map(({ label, value, low, high, n }) => [label, value, low, high, n]),
          ]
        : [
            ['name', plot.xLabel, 'low', 'high', plot.title, 'low', 'high'],
            ...plot.points.map(({ label, x, y }) => [label, x.value, x.low, x.high, y.value, y.low, y.high]),
          ];
  return `${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
}

function linesRows(lines: readonly PlotLine[], axes: readonly string[]) {
  const most = Math.max(0, ...lines.map(({ seeds }) => seeds.length));
  const seedNames = most > 1 ? Array.from({ length: most }, (_, i) => `seed ${i + 1}`) : [];
  return [
    ['name', ...axes, 'value', 'low', 'high', ...seedNames],
    ...lines.flatMap((line) => {
      const { mean, low, high } = courseOf(line, 1);
      return mean.map((value, i) => [
        line.label,
        ...axes.map((_, a) => line.x[a]?.[i]),
        ...[value, low?.[i], high?.[i]],
        ...seedNames.map((_, s) => line.seeds[s]?.[i]),
      ]);
    }),
  ];
}

const cell = (value: string | Value | undefined) =>
  value === undefined || value === null || Number.isNaN(value) ? '' : csvCell(value);

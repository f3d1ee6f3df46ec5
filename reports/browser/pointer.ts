/** Pointer, wheel and keyboard control of a chart: values under the pointer, zoom. */
import type { Chart } from 'chart.js';
import type { LineDataset } from '../plots/config.js';
import type { Plot } from '../plots/plot.js';

type Range = { min: number; max: number };

/** The controlled chart and the callback for zoom. */
export interface Handled {
  canvas: HTMLCanvasElement;
  stage: HTMLElement;
  /** Text for screen readers. */
  said: HTMLElement;
  /** The current chart: every change creates another. */
  chart: Chart;
  plot: () => Plot;
  /** Zooms; without ranges, to the whole. */
  zoomTo: (x?: Range, y?: Range) => void;
}

type Active = { datasetIndex: number; index: number };

/** Shorter drags are clicks, in pixels. */
const leastDrag = 6;

/** Starts listening. @returns stops listening */
export function listen(handled: Handled): () => void {
  const { canvas, stage } = handled;
  const brush = document.createElement('div');
  brush.className = 'plot-brush';
  let from: { x: number; y: number } | undefined;
  let point = -1;

  const placeOf = (event: MouseEvent) => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const zooms = () => handled.plot().kind !== 'bars';
  const on: { [Kind in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Kind]) => void } = {
    pointerdown(event) {
      if (event.button !== 0 || !zooms()) return;
      from = placeOf(event);
      canvas.setPointerCapture(event.pointerId);
    },
    pointermove(event) {
      const at = placeOf(event);
      if (from && Math.abs(at.x - from.x) >= leastDrag) {
        showBrush(brush, stage, handled, from, at);
        show(handled, []);
      } else show(handled, nearest(handled, at));
    },
    pointerup(event) {
      const at = placeOf(event);
      const dragged = from && Math.abs(at.x - from.x) >= leastDrag ? from : undefined;
      from = undefined;
      brush.remove();
      if (dragged) zoomToBox(handled, dragged, at);
    },
    pointercancel() {
      from = undefined;
      brush.remove();
    },
    pointerleave() {
      show(handled, []);
    },
    blur() {
      point = -1;
      show(handled, []);
    },
    dblclick() {
      handled.zoomTo();
    },
    wheel(event) {
      // The wheel zooms only a focused chart, so that pages scroll past the others.
      if (!zooms() || (!event.ctrlKey && document.activeElement !== canvas)) return;
      event.preventDefault();
      zoomBy(handled, event.deltaY > 0 ? 1.25 : 0.8, placeOf(event).x);
    },
    keydown(event) {
      const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      const step = steps[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (step !== undefined || event.key === 'Home' || event.key === 'End') {
        const count = countOf(handled);
        if (count === 0) return;
        if (event.key === 'Home') point = 0;
        else if (event.key === 'End') point = count - 1;
        else point = Math.min(count - 1, Math.max(0, point + (step ?? 0)));
        const active = atPoint(handled, point);
        show(handled, active);
        handled.said.textContent = saidOf(handled, active);
      } else if (event.key === '+' || event.key === '=') zoomBy(handled, 0.8);
      else if (event.key === '-') zoomBy(handled, 1.25);
      else if (event.key === '0' || event.key === 'Escape') handled.zoomTo();
      else return;
      event.preventDefault();
    },
  };
  for (const [kind, act] of Object.entries(on)) canvas.addEventListener(kind, act as EventListener, { passive: false });
  return () => {
    for (const [kind, act] of Object.entries(on)) canvas.removeEventListener(kind, act as EventListener);
  };
}

/** Datasets that react to the pointer: means of lines, or the only one of bars and points. */
function mains({ chart }: Handled): { datasetIndex: number; data: readonly unknown[] }[] {
  const { datasets } = chart.data;
  const some = datasets.map((dataset, datasetIndex) => ({ datasetIndex, dataset, data: dataset.data }));
  const lines = some.filter(({ dataset }) => (dataset as unknown as LineDataset).line !== undefined);
  return lines.length > 0 ? lines : some.slice(0, 1);
}

/** Hit test: the nearest point along the axis for each line; the bar at this height; the nearest point of a scatter plot. */
function nearest(handled: Handled, { x, y }: { x: number; y: number }): Active[] {
  const { chart } = handled;
  const { kind } = handled.plot();
  const { left, right, top, bottom } = chart.chartArea;
  if (x < left - 8 || x > right + 8 || y < top - 8 || y > bottom + 8) {
    if (kind !== 'bars') return [];
  }
  return mains(handled).flatMap(({ datasetIndex }): Active[] => {
    const elements = chart.getDatasetMeta(datasetIndex).data;
    const away = elements.map((element) =>
      kind === 'lines'
        ? Math.abs(element.x - x)
        : kind === 'bars'
          ? Math.abs(element.y - y)
          : Math.hypot(element.x - x, element.y - y),
    );
    const least = Math.min(...away.filter(Number.isFinite));
    const index = away.indexOf(least);
    const limit = kind === 'lines' ? Infinity : kind === 'bars' ? 16 : 40;
    return index < 0 || least > limit ? [] : [{ datasetIndex, index }];
  });
}

/** Points visited by the arrow keys: the visible ones of the longest line, or bars or points by cost. */
const countOf = (handled: Handled): number => inOrder(handled).length;

function inOrder(handled: Handled): { x: number; index: number }[] {
  const { chart } = handled;
  const [longest] = mains(handled).sort((a, b) => b.data.length - a.data.length);
  if (!longest) return [];
  const { left, right } = chart.chartArea;
  const elements = chart.getDatasetMeta(longest.datasetIndex).data.map(({ x }, index) => ({ x, index }));
  if (handled.plot().kind === 'bars') return elements;
  return elements.filter(({ x }) => x >= left - 1 && x <= right + 1).sort((a, b) => a.x - b.x);
}

function atPoint(handled: Handled, place: number): Active[] {
  const at = inOrder(handled)[place];
  if (!at) return [];
  if (handled.plot().kind !== 'lines') return [{ datasetIndex: mains(handled)[0]!.datasetIndex, index: at.index }];
  const { top, bottom } = handled.chart.chartArea;
  return nearest(handled, { x: at.x, y: (top + bottom) / 2 });
}

function show({ chart }: Handled, active: Active[]): void {
  const { tooltip } = chart;
  if (!tooltip || (active.length === 0 && tooltip.getActiveElements().length === 0)) return;
  const element = active[0] && chart.getDatasetMeta(active[0].datasetIndex).data[active[0].index];
  const at = element ? { x: element.x, y: element.y } : { x: 0, y: 0 };
  chart.setActiveElements(active);
  tooltip.setActiveElements(active, at);
  chart.render();
}

function saidOf({ chart }: Handled, active: Active[]): string {
  if (active.length === 0 || !chart.tooltip) return '';
  const { title, body } = chart.tooltip as unknown as { title: string[]; body: { lines: string[] }[] };
  return [...title, ...body.flatMap(({ lines }) => lines)].join('; ');
}

function showBrush(
  brush: HTMLElement,
  stage: HTMLElement,
  { chart, plot }: Handled,
  from: { x: number; y: number },
  to: { x: number; y: number },
): void {
  const { left, right, top, bottom } = chart.chartArea;
  const clip = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));
  const [x1, x2] = [clip(Math.min(from.x, to.x), left, right), clip(Math.max(from.x, to.x), left, right)];
  const isBox = plot().kind === 'scatter';
  const y1 = isBox ? clip(Math.min(from.y, to.y), top, bottom) : top;
  const y2 = isBox ? clip(Math.max(from.y, to.y), top, bottom) : bottom;
  Object.assign(brush.style, { left: `${x1}px`, top: `${y1}px`, width: `${x2 - x1}px`, height: `${y2 - y1}px` });
  stage.append(brush);
}

function zoomToBox(handled: Handled, a: { x: number; y: number }, b: { x: number; y: number }): void {
  const { x: across, y: up } = handled.chart.scales;
  const values = (scale: typeof across, one: number, other: number): Range | undefined => {
    const [p, q] = [scale?.getValueForPixel(one), scale?.getValueForPixel(other)];
    if (p === undefined || q === undefined || !scale) return undefined;
    const [min, max] = [Math.max(scale.min, Math.min(p, q)), Math.min(scale.max, Math.max(p, q))];
    return max > min ? { min, max } : undefined;
  };
  const isBox = handled.plot().kind === 'scatter' && Math.abs(a.y - b.y) >= leastDrag;
  const x = values(across, a.x, b.x);
  if (x) handled.zoomTo(x, isBox ? values(up, a.y, b.y) : undefined);
}

/** @param at pixel that stays fixed. Default: the middle */
function zoomBy(handled: Handled, factor: number, at?: number): void {
  const scale = handled.chart.scales.x;
  if (!scale || handled.plot().kind === 'bars') return;
  const center = at ?? (scale.left + scale.right) / 2;
  const pixel = (edge: number) => scale.getValueForPixel(center + (edge - center) * factor);
  const [min, max] = [pixel(scale.left), pixel(scale.right)];
  if (min === undefined || max === undefined || !(max > min)) return;
  handled.zoomTo({ min, max });
}

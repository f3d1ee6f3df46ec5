/** Live curves of the selected runs. */
import { drawChart, type DrawnChart } from '../../reports/browser/charts.js';
import type { LinePlot } from '../../reports/plots/plot.js';
import { type Axis, plotsOf } from '../../reports/plots/series.js';
import { curveTitle, phaseHeading, phaseName, phaseWords, sectionTitles } from '../../reports/titles.js';
import type { ShownSet } from '../api.js';
import { choice, controls, get, h } from './dom.js';
import type { Change, State } from './state.js';

interface NamedPlot {
  /** `demo ppo eval/path@1`. */
  id: string;
  /** Heading of its section. */
  section: string;
  plot: LinePlot;
}

/** A chart of the page, with its plot as JSON. */
type Card = { element: HTMLElement; drawn: DrawnChart; shown: string };

let filter = '';

/** Fills the view. @returns redraws after changes of logs or selection, and frees the charts */
export function openCurves(view: HTMLElement, state: State) {
  const cards = new Map<string, Card>();
  const body = h('div', { class: 'sections' });
  const note = h('p', { class: 'quiet', role: 'status' });
  const draw = (reset = false) => update(reset);
  let sets: readonly ShownSet[] = [];
  view.replaceChildren(h('h1', {}, sectionTitles.curves), controlsOf(state, draw), note, body);

  /** @param reset drops zooms and chosen axes */
  function update(reset = false): void {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const plots = shownPlots(state, sets).filter(({ id, plot }) =>
      words.every((word) => `${id} ${plot.title}`.toLowerCase().includes(word)),
    );
    const troubles = state.shownRuns().flatMap(({ id, key }) => {
      const { trouble } = state.logs.get(key) ?? {};
      return trouble === undefined ? [] : [`${id}: ${trouble}`];
    });
    const none = state.shownRuns().length > 0 ? 'Nothing is logged yet.' : 'Choose runs to see their curves.';
    note.textContent = [...(plots.length > 0 ? [] : [none]), ...troubles].join(' ');
    const wanted = new Set(plots.map(({ id }) => id));
    for (const [id, { drawn }] of cards) {
      if (wanted.has(id) && !reset) continue;
      drawn.remove();
      cards.delete(id);
    }
    for (const { id, plot } of plots) {
      const card = cards.get(id);
      const shown = JSON.stringify(plot);
      if (!card) {
        const element = h('div', { class: 'card', 'data-plot': id });
        cards.set(id, { element, drawn: drawChart(element, plot), shown });
      } else if (card.shown !== shown) {
        card.shown = shown;
        card.drawn.update(plot);
      }
    }
    arrange(body, plots, (id) => cards.get(id)!.element);
  }

  /** Figures of evaluations name curves; without them, their keys do. */
  const readSets = async () => {
    ({ sets } = await get<{ sets: ShownSet[] }>('/api/results').catch(() => ({ sets })));
    update();
  };
  update();
  void readSets();
  return {
    update: (change: Change) => (change === 'list' ? void readSets() : update()),
    close() {
      for (const { drawn } of cards.values()) drawn.remove();
    },
  };
}

const phases = Object.keys(phaseWords);
const kinds = ['eval', 'rollout', 'train'];

/** Plots of the selected runs: the last phase first, evaluations before training metrics; those of two data sets never share a chart. */
function shownPlots(state: State, sets: readonly ShownSet[]): NamedPlot[] {
  const { axis, smoothing } = state.options;
  const lines = state.shownLines().map((line) => ({
    ...line,
    dataset: line.runs[0]!.dataset ?? '',
    runs: line.runs.flatMap(({ key }) => state.logs.get(key) ?? []),
  }));
  const logged = new Set(lines.flatMap(({ runs }) => runs.flatMap(({ metrics }) => metrics.map(({ phase }) => phase))));
  const datasets = [...new Set(lines.map(({ dataset }) => dataset))];
  const kindOf = (key: string) => kinds.indexOf(key.split('/')[0]!) + 1 || kinds.length + 1;
  const plotsIn = (phase: string, dataset: string) => {
    const own = lines.filter((line) => line.dataset === dataset);
    const runs = state.shownRuns().filter((run) => (run.dataset ?? '') === dataset);
    const algorithms = runs.flatMap(({ algorithm }) => algorithm ?? []);
    const name = phaseName(phase, algorithms);
    const section = phaseHeading(name, datasets.length > 1 ? dataset : undefined);
    const isTrained = (set: ShownSet) => set.dataset === dataset && set.rows.some((row) => row.own);
    const figures = sets.filter(isTrained).flatMap((set) => set.figures);
    return [...plotsOf(own, phase, { axis, smoothing, figures, growing: true })]
      .sort(([a], [b]) => kindOf(a) - kindOf(b) || (a < b ? -1 : 1))
      .map(([key, plot]) => {
        const title = curveTitle(name, plot.title);
        return { id: `${dataset} ${phase} ${key}`, section, plot: { ...plot, title, showsLogged: true } };
      });
  };
  return [...logged]
    .sort((a, b) => phases.indexOf(b) - phases.indexOf(a) || (a < b ? -1 : 1))
    .flatMap((phase) => datasets.flatMap((dataset) => plotsIn(phase, dataset)));
}

/** @param draw called after changes; true drops zooms and chosen axes */
function controlsOf(state: State, draw: (reset?: boolean) => void): HTMLElement {
  const { options } = state;
  const slider = h('input', {
    ...{ type: 'range', min: 0, max: 0.5, step: 0.01, value: options.smoothing, 'aria-label': 'smoothing' },
    input: () => {
      options.smoothing = Number(slider.value);
      said.textContent = options.smoothing.toFixed(2);
      draw();
    },
  });
  const said = h('output', {}, options.smoothing.toFixed(2));
  const search = h('input', {
    ...{ type: 'search', placeholder: 'figure, such as eval', value: filter },
    'aria-label': 'show figures whose name holds',
    input: () => {
      filter = search.value;
      draw();
    },
  });
  const axes = [
    ['step', 'updates or epochs'],
    ['time/env_steps', 'environment steps'],
    ['seconds', 'seconds'],
    ['time/cpu_ms', 'processor time'],
  ] as const;
  const seeds = [
    ['together', 'mean with band'],
    ['apart', 'each by itself'],
  ] as const;
  return controls(
    h('label', { class: 'field' }, h('span', {}, 'smoothing'), slider, said),
    choice('x axis', axes, options.axis, (value) => {
      options.axis = value as Axis;
      draw(true);
    }),
    choice('seeds', seeds, options.seeds, (value) => {
      options.seeds = value as typeof options.seeds;
      draw(true);
      state.recolored();
    }),
    h('label', { class: 'field' }, h('span', {}, 'figures'), search),
  );
}

/** One section per phase and data set; unchanged elements are not touched, so that focus is kept. */
function arrange(body: HTMLElement, plots: readonly NamedPlot[], elementOf: (id: string) => HTMLElement): void {
  const present = new Map(
    [...body.querySelectorAll<HTMLElement>('details.phase')].map((one) => [one.dataset.section!, one]),
  );
  const sections = [...new Set(plots.map(({ section }) => section))];
  for (const [name, element] of present) if (!sections.includes(name)) element.remove();
  sections.forEach((name, place) => {
    const own = plots.filter(({ section }) => section === name);
    const element =
      present.get(name) ??
      h('details', { class: 'phase', open: true, 'data-section': name }, h('summary'), h('div', { class: 'cards' }));
    const count = h('span', { class: 'quiet' }, `${own.length} ${own.length === 1 ? 'figure' : 'figures'}`);
    element.querySelector('summary')!.replaceChildren(h('h2', {}, name), count);
    const cards = own.map(({ id }) => elementOf(id));
    keepInOrder(element.querySelector('.cards')!, cards);
    if (body.children[place] !== element) body.insertBefore(element, body.children[place] ?? null);
  });
}

function keepInOrder(parent: Element, children: readonly Element[]): void {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, i) => {
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] ?? null);
  });
}

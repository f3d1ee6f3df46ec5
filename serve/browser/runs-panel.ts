/** The list of runs with selection and progress. */
import { dark } from '../../reports/plots/chart.js';
import { paceOf } from '../../reports/plots/series.js';
import { phaseName } from '../../reports/titles.js';
import { timeToGo } from '../../src/run/duration.js';
import type { RunSummary } from '../api.js';
import { h, quiet } from './dom.js';
import type { State } from './state.js';

const stateTitles: Readonly<Record<RunSummary['state'], string>> = {
  running: 'a process holds it',
  stale: 'its process is gone; kgwalk train --resume continues it',
  stopped: 'stopped, saved',
  failed: 'failed',
  finished: 'done',
  broken: 'cannot be read',
};

/** Fills the panel; call again after changes of the list or selection. */
export function drawRuns(panel: HTMLElement, state: State): void {
  const focused = (document.activeElement as HTMLElement | null)?.id;
  const isOpen =
    panel.querySelector('details.list')?.hasAttribute('open') ?? window.matchMedia('(min-width: 901px)').matches;
  const openSweeps = new Set([...panel.querySelectorAll<HTMLElement>('details.sweep[open]')].map(({ id }) => id));
  const { runs } = state;
  const shown = state.shownRuns();
  const sweeps = new Set(runs.flatMap(({ within }) => within ?? []));
  const running = runs.filter(({ state: how }) => how === 'running').length;
  const colors = new Map(
    state.shownLines().flatMap(({ color, runs: own }) => own.map(({ key }) => [key, color] as const)),
  );
  const listOf = (sweep?: string) => runs.filter(({ within }) => within === sweep);
  const showOnly = (some: readonly RunSummary[]) => state.show(some.map(({ key }) => key));
  panel.replaceChildren(
    h(
      'details',
      { class: 'list', open: isOpen },
      h(
        'summary',
        {},
        h('b', {}, `Runs`),
        h(
          'span',
          { class: 'quiet' },
          ` ${shown.length} of ${runs.length} shown${running > 0 ? `, ${running} running` : ''}`,
        ),
      ),
      h(
        'p',
        { class: 'choose' },
        button('choose-all', 'all', () => showOnly(runs)),
        button('choose-running', 'running', () => showOnly(runs.filter(({ state: how }) => how === 'running'))),
        button('choose-none', 'none', () => state.show([])),
      ),
      runs.length === 0 &&
        quiet('No runs here yet: ', h('code', {}, 'kgwalk train PRESET'), ' starts one, and it appears by itself.'),
      runList(listOf(), state, colors),
      ...[...sweeps].map((key) => {
        const trials = listOf(key);
        return h(
          'details',
          { class: 'sweep', id: `sweep-${key}`, open: openSweeps.has(`sweep-${key}`) },
          h('summary', {}, key, h('span', { class: 'quiet' }, ` ${trials.length} runs`)),
          h(
            'p',
            { class: 'choose' },
            button(`all-${key}`, 'these alone', () => showOnly(trials)),
          ),
          runList(trials, state, colors),
        );
      }),
    ),
  );
  if (focused) document.getElementById(focused)?.focus();
}

function runList(runs: readonly RunSummary[], state: State, colors: ReadonlyMap<string, string>): HTMLElement {
  const inOrder = [...runs].sort(
    (a, b) => (b.started ?? '').localeCompare(a.started ?? '') || a.id.localeCompare(b.id),
  );
  return h('ul', {}, ...inOrder.map((run) => runItem(run, state, colors.get(run.key))));
}

function runItem(run: RunSummary, state: State, color: string | undefined): HTMLElement {
  const stroke = h('i', { class: 'stroke' });
  if (color !== undefined) stroke.style.background = `light-dark(${color}, ${dark.shade(color)})`;
  const box = h('input', {
    type: 'checkbox',
    id: `run-${run.key}`,
    checked: state.isShown(run.key),
    disabled: run.state === 'broken',
    change: () => {
      const keys = new Set(state.shownRuns().map(({ key }) => key));
      if (box.checked) keys.add(run.key);
      else keys.delete(run.key);
      state.show(keys);
    },
  });
  const about = [run.dataset, run.seed !== undefined && `seed ${run.seed}`, progressOf(run, state)]
    .filter(Boolean)
    .join(' · ');
  return h(
    'li',
    {},
    h(
      'label',
      {},
      box,
      h('span', { class: 'name' }, stroke, run.id),
      h('span', { class: `state ${run.state}`, title: run.reason ?? stateTitles[run.state] }, run.state),
      h('span', { class: 'about' }, about),
      run.reason !== undefined && h('span', { class: 'reason' }, run.reason),
    ),
  );
}

/** `PPO 12 of 30, 03:25 to go`. */
function progressOf({ key, phase, algorithm, updates, state: how }: RunSummary, state: State): string {
  if (how === 'finished' || phase === undefined) return '';
  const { metrics = [], timings = [] } = state.logs.get(key) ?? {};
  const step = metrics.findLast((record) => record.phase === phase)?.step ?? 0;
  const name = phaseName(phase, algorithm === undefined ? [] : [algorithm]);
  if (step === 0) return name;
  const done = `${name} ${step}`;
  if (phase !== 'ppo' || updates === undefined) return done;
  const left = how === 'running' ? timeToGo(updates - step, paceOf(timings, phase)) : undefined;
  return `${done} of ${updates}${left === undefined ? '' : `, ${left} to go`}`;
}

function button(id: string, text: string, onClick: () => void): HTMLElement {
  return h('button', { type: 'button', id, click: onClick }, text);
}

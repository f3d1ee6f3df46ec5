/** Settings in which the selected runs differ, and all settings of one run. */
import { sectionTitles } from '../../reports/titles.js';
import type { SettingDifference, ShownRun } from '../api.js';
import { choice, controls, get, h, quiet, table, trouble } from './dom.js';
import type { State } from './state.js';

/** Fills the view; reads again when the selection changes. */
export function openSettings(view: HTMLElement, state: State) {
  const differences = h('div', {});
  const one = h('div', {});
  let [read, chosen, filter] = ['', '', ''];
  view.replaceChildren(h('h1', {}, 'Settings'), differences, one);

  const readable = () => state.shownRuns().filter(({ state: how }) => how !== 'broken');
  const update = () => {
    const runs = readable();
    const now = JSON.stringify(runs.map(({ key }) => key));
    if (now === read) return;
    read = now;
    void showDifferences();
    if (!runs.some(({ key }) => key === chosen)) chosen = runs[0]?.key ?? '';
    void showOne();
  };
  const showDifferences = async () => {
    const runs = readable();
    if (runs.length < 2) {
      differences.replaceChildren(quiet('Choose two runs or more in the list to see in which settings they differ.'));
      return;
    }
    try {
      const run = runs.map(({ key }) => key);
      const found = await get<{ differences: SettingDifference[] }>('/api/settings', { run });
      const rows = found.differences.map(({ key, values }) => [
        h('code', {}, key),
        ...values.map((value) => value ?? '—'),
      ]);
      differences.replaceChildren(
        h('h2', {}, sectionTitles.differing),
        rows.length === 0
          ? quiet('Nothing: their settings are equal.')
          : table(['setting', ...runs.map(({ id }) => id)], rows, { label: 'settings that differ' }),
      );
    } catch (error) {
      differences.replaceChildren(trouble(error));
    }
  };
  const showOne = async () => {
    if (chosen === '') {
      one.replaceChildren();
      return;
    }
    try {
      const { settings, started, versions, backend, state: how } = await get<ShownRun>('/api/run', { run: chosen });
      const list = h('div', {});
      const draw = () => {
        const rows = Object.entries(settings).flatMap(([key, value]) =>
          `${key} ${value}`.toLowerCase().includes(filter.toLowerCase()) ? [[h('code', {}, key), value]] : [],
        );
        list.replaceChildren(table(['setting', 'value'], rows, { label: 'all settings' }));
      };
      const search = h('input', {
        type: 'search',
        placeholder: 'such as ppo',
        value: filter,
        input: () => ((filter = search.value), draw()),
      });
      const about = [
        how.status,
        how.reason,
        `begun ${started.slice(0, 16).replace('T', ' ')} UTC`,
        backend && `on ${backend}`,
        versions.kgwalk && `kgwalk ${versions.kgwalk}`,
      ];
      const runs = state.shownRuns().map(({ key, id }) => [key, id] as const);
      const runChoice = choice('run', runs, chosen, (key) => {
        chosen = key;
        void showOne();
      });
      one.replaceChildren(
        h('h2', {}, 'All settings of a run'),
        controls(runChoice, h('label', { class: 'field' }, h('span', {}, 'settings'), search)),
        quiet(about.filter(Boolean).join(' · ')),
        list,
      );
      draw();
    } catch (error) {
      one.replaceChildren(trouble(error));
    }
  };
  update();
  return { update, close() {} };
}

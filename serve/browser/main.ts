/** The page: tabs over one list of runs. */
import { sectionTitles } from '../../reports/titles.js';
import { openAsk } from './ask-view.js';
import { openCurves } from './curves-view.js';
import { h } from './dom.js';
import { openExamples } from './examples-view.js';
import { openResults } from './results-view.js';
import { drawRuns } from './runs-panel.js';
import { openSettings } from './settings-view.js';
import { type Change, openState, type State } from './state.js';

/** A tab's view; receives changes until it is closed. */
export interface View {
  update(change: Change): void;
  close(): void;
}

interface Tab {
  title: string;
  open(view: HTMLElement, state: State): View;
}

const tabs: Readonly<Record<string, Tab>> = {
  curves: { title: sectionTitles.curves, open: openCurves },
  results: { title: sectionTitles.results, open: openResults },
  examples: { title: sectionTitles.examples, open: openExamples },
  ask: { title: 'Ask', open: openAsk },
  settings: { title: 'Settings', open: openSettings },
};

const element = (id: string) => document.getElementById(id)!;
const [view, panel] = [element('view'), element('runs')];
const [nav, connection] = [element('tabs'), element('connection')];

let current: View | undefined;

const state = openState((change) => {
  if (change === 'connection') {
    connection.textContent = state.connected ? '' : 'no connection to the server; trying again';
    return;
  }
  drawRuns(panel, state);
  current?.update(change);
});

function openTab(): void {
  const name = location.hash.slice(1).split('?')[0]!;
  const chosen = Object.hasOwn(tabs, name) ? name : Object.keys(tabs)[0]!;
  nav.replaceChildren(
    ...Object.entries(tabs).map(([key, { title }]) =>
      h('a', { href: `#${key}`, 'aria-current': key === chosen ? 'page' : undefined }, title),
    ),
  );
  document.title = `${tabs[chosen]!.title} · kgwalk`;
  current?.close();
  current = tabs[chosen]!.open(view, state);
}

window.addEventListener('hashchange', openTab);
openTab();
drawRuns(panel, state);
void state.start();

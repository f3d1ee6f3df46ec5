/** State of the page: available runs, selected runs with their lines in charts, and their logs so far. */
import { agentColors } from '../../reports/plots/colors.js';
import type { Axis, RunLog } from '../../reports/plots/series.js';
import type { LiveEvents, RunSummary } from '../api.js';
import { addressOf, get } from './dom.js';

interface CurveOptions {
  /** Window of the moving mean as a share of a line. */
  smoothing: number;
  /** Preferred horizontal axis. */
  axis: Axis;
  /** Seeds of one setting as mean with a band, or separately. */
  seeds: 'together' | 'apart';
}

/** Runs that share a line. */
type ShownLine = { label: string; color: string; runs: readonly RunSummary[] };

export type Change = 'list' | 'shown' | 'logs' | 'connection';

export type State = ReturnType<typeof openState>;

/** Number of runs selected at first: the latest. */
const shownAtFirst = 8;
/** Delay before a retry after a failed connection, in milliseconds. */
const retryAfter = 3000;

/** @param onChange called with the kind of change, at most once per frame and kind */
export function openState(onChange: (change: Change) => void) {
  let runs: RunSummary[] = [];
  let shown: ReadonlySet<string> = new Set(remembered());
  let wasChosen = shown.size > 0;
  const logs = new Map<string, RunLog & { trouble?: string }>();
  let source: EventSource | undefined;
  let following = '';
  let connected: boolean | undefined;
  const waiting = new Set<Change>();
  const options: CurveOptions = { smoothing: 0.05, axis: 'step', seeds: 'together' };

  const changed = (change: Change) => {
    if (waiting.has(change)) return;
    waiting.add(change);
    setTimeout(() => {
      waiting.delete(change);
      onChange(change);
    }, 50);
  };
  const connection = (now: boolean) => {
    if (now === connected) return;
    connected = now;
    changed('connection');
  };
  const shownRuns = () => runs.filter(({ key }) => shown.has(key));

  const follow = () => {
    const keys = shownRuns().map(({ key }) => key);
    if (source && source.readyState !== EventSource.CLOSED && following === JSON.stringify(keys)) return;
    following = JSON.stringify(keys);
    source?.close();
    logs.clear();
    for (const key of keys) logs.set(key, { metrics: [], timings: [] });
    const opened = (source = new EventSource(addressOf('/api/live', { run: keys })));
    listen(opened, {
      list: (data) => takeList(data.runs),
      log(data) {
        const log = logs.get(data.run);
        if (log) addRecords(log, data);
        changed('logs');
      },
      trouble({ run, message }) {
        const log = logs.get(run);
        if (log) log.trouble = message;
        changed('logs');
      },
      'caught-up': () => changed('logs'),
    });
    opened.addEventListener('open', () => connection(true));
    opened.addEventListener('error', () => {
      connection(false);
      // Browsers reconnect by themselves unless refused: then a run may be gone, so request the remaining ones.
      if (opened.readyState === EventSource.CLOSED) setTimeout(() => void start(), retryAfter);
    });
  };

  const takeList = (list: RunSummary[]) => {
    runs = list;
    if (!wasChosen) shown = new Set(latest(list));
    // Also of equal runs: evaluations have changed.
    changed('list');
    follow();
  };

  const start = async () => {
    try {
      const list = await get<{ runs: RunSummary[] }>('/api/list');
      connection(true);
      takeList(list.runs);
    } catch {
      connection(false);
      setTimeout(() => void start(), retryAfter);
    }
  };

  // Browsers allow six connections per host across all tabs: hidden pages close theirs.
  const rest = () => source?.close();
  const wake = () => {
    if (!document.hidden && source?.readyState === EventSource.CLOSED) void start();
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? rest() : wake()));
  window.addEventListener('pagehide', rest);
  window.addEventListener('pageshow', wake);

  return {
    start,
    /** The reader's display options. */
    options,
    /** Call after colours of lines change. */
    recolored: () => changed('list'),
    get runs(): readonly RunSummary[] {
      return runs;
    },
    get logs(): ReadonlyMap<string, RunLog & { trouble?: string }> {
      return logs;
    },
    get connected(): boolean {
      return connected !== false;
    },
    shownRuns,
    /** Lines of the selected runs, in the colours of charts and list. */
    shownLines: () => linesOf(shownRuns(), options.seeds),
    isShown: (key: string): boolean => shown.has(key),
    show(keys: Iterable<string>): void {
      shown = new Set(keys);
      wasChosen = true;
      remember(shown);
      changed('shown');
      follow();
    },
  };
}

/** Calls the handler of each named event with its payload. */
function listen(source: EventSource, handlers: { [Name in keyof LiveEvents]: (data: LiveEvents[Name]) => void }): void {
  for (const [name, take] of Object.entries(handlers))
    source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data)));
}

/** Adds the records of an event; with `reset` they replace the previous ones. */
function addRecords(log: RunLog, event: LiveEvents['log']): void {
  if (event.log === 'metrics') log.metrics = event.reset ? event.records : log.metrics.concat(event.records);
  else log.timings = event.reset ? event.records : log.timings.concat(event.records);
}

function linesOf(runs: readonly RunSummary[], seeds: CurveOptions['seeds']): ShownLine[] {
  const groups = new Map<string, RunSummary[]>();
  for (const run of runs) {
    const group = seeds === 'apart' ? run.key : run.group;
    groups.set(group, [...(groups.get(group) ?? []), run]);
  }
  const all = [...groups.values()];
  // Settings with equal names get the name of their first run.
  const nameOf = ([first, ...others]: readonly RunSummary[]) =>
    others.length === 0 || all.filter(([one]) => one!.label === first!.label).length > 1
      ? first!.id + (others.length > 0 ? ` and ${others.length} more` : '')
      : `${first!.label}, ${others.length + 1} seeds`;
  const labels = all.map(nameOf);
  const colors = agentColors(labels.map((name) => ({ name, vivid: true })));
  return all.map((own, i) => ({ label: labels[i]!, color: colors.get(labels[i]!)!, runs: own }));
}

/** Running runs first, then the latest; trials of sweeps are not selected by default. */
function latest(runs: readonly RunSummary[]): string[] {
  return runs
    .filter(({ state, within }) => state !== 'broken' && within === undefined)
    .sort(
      (a, b) =>
        Number(b.state === 'running') - Number(a.state === 'running') ||
        (b.started ?? '').localeCompare(a.started ?? ''),
    )
    .slice(0, shownAtFirst)
    .map(({ key }) => key);
}

const place = 'kgwalk shown';

/** Kept while the tab is open. */
function remembered(): string[] {
  try {
    const keys = JSON.parse(sessionStorage.getItem(place) ?? '[]') as unknown;
    return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
  } catch {
    return [];
  }
}

function remember(shown: ReadonlySet<string>): void {
  try {
    sessionStorage.setItem(place, JSON.stringify([...shown]));
  } catch {
    // Without storage the choice lasts until the page is reloaded.
  }
}

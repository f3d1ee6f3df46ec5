/** What the page knows: the runs that there are, those that are shown, and what they have logged so far. */
import type { LiveEvents, RunSummary } from '../api.js';
import { addRecords, emptyLog, type RunLog } from './logs.js';
import type { CurveOptions } from './plots.js';
import { addressOf, get } from './server.js';

/** What may have changed. */
export type Change = 'list' | 'shown' | 'logs' | 'connection';

/** See `openState`. */
export type State = ReturnType<typeof openState>;

/** Runs that are shown at first: the latest. */
const shownAtFirst = 8;
/** A second try after the server did not answer, in milliseconds. */
const retryAfter = 3000;

/** @param onChange told what changed, at most once a frame for each kind */
export function openState(onChange: (change: Change) => void) {
  let runs: RunSummary[] = [];
  let shown: ReadonlySet<string> = new Set(remembered());
  let wasChosen = shown.size > 0;
  const logs = new Map<string, RunLog>();
  let source: EventSource | undefined;
  let following = '';
  let connected: boolean | undefined;
  const waiting = new Set<Change>();

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
    for (const key of keys) logs.set(key, emptyLog());
    const opened = (source = new EventSource(addressOf('/api/live', { run: keys })));
    const on = <Name extends keyof LiveEvents>(name: Name, take: (data: LiveEvents[Name]) => void) =>
      opened.addEventListener(name, (event) =>
        take(JSON.parse((event as MessageEvent<string>).data) as LiveEvents[Name]),
      );
    on('list', (data) => takeList(data.runs));
    on('log', (data) => {
      const log = logs.get(data.run);
      if (log) addRecords(log, data);
      changed('logs');
    });
    on('trouble', ({ run, message }) => {
      const log = logs.get(run);
      if (log) log.trouble = message;
      changed('logs');
    });
    on('caught-up', () => changed('logs'));
    opened.addEventListener('open', () => connection(true));
    opened.addEventListener('error', () => {
      connection(false);
      // The browser itself tries again unless it was refused: then a run may be gone, and what is left is asked for.
      if (opened.readyState === EventSource.CLOSED) setTimeout(() => void start(), retryAfter);
    });
  };

  const takeList = (list: RunSummary[]) => {
    const isNew = JSON.stringify(list) !== JSON.stringify(runs);
    runs = list;
    if (!wasChosen) shown = new Set(latest(list));
    if (isNew) changed('list');
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

  // A browser opens six connections to a host, whatever number of pages: one that nobody sees gives its own back.
  const rest = () => source?.close();
  const wake = () => {
    if (!document.hidden && source?.readyState === EventSource.CLOSED) void start();
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? rest() : wake()));
  window.addEventListener('pagehide', rest);
  window.addEventListener('pageshow', wake);

  return {
    start,
    /** How curves are shown, as the reader chose. */
    options: { smoothing: 0, axis: 'step', seeds: 'together' } as CurveOptions,
    /** To be called when lines have other colours. */
    recolored: () => changed('list'),
    get runs(): readonly RunSummary[] {
      return runs;
    },
    get logs(): ReadonlyMap<string, RunLog> {
      return logs;
    },
    get connected(): boolean {
      return connected !== false;
    },
    shownRuns,
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

/** Those that run, then those begun last; trials of sweeps wait until they are asked for. */
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
    // Without storage the choice lasts until the page is loaded again.
  }
}

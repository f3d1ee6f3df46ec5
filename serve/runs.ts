/** Snapshot of the served folders, progress of each run, and the settings in which runs differ. */
import { basename } from 'node:path';
import { readIndex } from '../checkpoints/store.js';
import { datasetOf } from '../reports/run-data.js';
import { algorithmOf, plainName, settingsKey } from '../reports/format.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { RunInfo } from '../src/run/records.js';
import { runFiles } from '../src/run/run-files.js';
import { openRun } from '../src/run/run-folder.js';
import type { RunSummary } from './api.js';
import { findPlaces, type Place, plainFile, refuseLinks } from '../src/run/places.js';

/** A snapshot of the folders. */
export interface View {
  places: ReadonlyMap<string, Place>;
  runs: readonly RunSummary[];
  /** Equal for equal lists. */
  stamp: string;
}

export type World = ReturnType<typeof openWorld>;

/** @param roots folders to serve @param lookEveryMs maximum age of a snapshot. Default 1000 */
export function openWorld(roots: readonly string[], lookEveryMs = 1000) {
  const list = openRunList();
  let view: (View & { at: number }) | undefined;

  const look = (again = false): View => {
    if (!again && view && performance.now() - view.at < lookEveryMs) return view;
    const places = findPlaces(roots);
    const runs = list(places.values());
    const others = [...places.values()].filter(({ kind }) => kind !== 'run').map(({ key }) => key);
    view = { places, runs, stamp: JSON.stringify([runs, others]), at: performance.now() };
    return view;
  };

  return {
    roots,
    look,
    /** @throws WorkbenchError `usage` for an unknown key */
    place(key: string, kind: Place['kind']): Place {
      const found = look().places.get(key);
      if (found?.kind === kind) return found;
      throw new WorkbenchError('usage', `expected a key of one ${kind} that is served, got ${JSON.stringify(key)}`, {
        hint: 'GET /api/list names them all.',
      });
    },
  };
}

/** Reads runs and caches each until its files change; keep one per server. */
function openRunList() {
  const known = new Map<string, { at: string; summary: RunSummary }>();
  return (places: Iterable<Place>): RunSummary[] => {
    const runs = [...places].filter(({ kind }) => kind === 'run');
    const summaries = runs.map((place) => {
      const at = stampOfRun(place.folder);
      const before = known.get(place.folder);
      // No file records whether a process still holds a run.
      const isCurrent = before?.at === at && before.summary.state !== 'running' && before.summary.key === place.key;
      const summary = isCurrent ? before.summary : summaryOf(place);
      known.set(place.folder, { at, summary });
      return summary;
    });
    const folders = new Set(runs.map(({ folder }) => folder));
    for (const folder of known.keys()) if (!folders.has(folder)) known.delete(folder);
    return summaries;
  };
}

function filesOf(folder: string): string[] {
  const { config, environment, state } = runFiles(folder);
  return [config, environment, state];
}

/** Change stamp of the files that describe a run; missing files and links have one too. */
export function stampOfRun(folder: string): string {
  return filesOf(folder)
    .map((file) => {
      const found = plainFile(file);
      return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : '-';
    })
    .join(' ');
}

/** List entry of a run. @throws WorkbenchError `data` for a broken one */
export function readPlacedRun({ folder }: Place): RunInfo {
  refuseLinks(filesOf(folder));
  return openRun(folder);
}

function summaryOf(place: Place): RunSummary {
  const { key, folder, within } = place;
  const about = { key, id: basename(folder), label: plainName(basename(folder)), within };
  try {
    const { config, state, environment, isStale } = readPlacedRun(place);
    const { enabled, updates } = (config.ppo ?? {}) as { enabled?: unknown; updates?: unknown };
    // A policy's updates follow from its steps.
    const counted = enabled === true && config.policy === undefined && typeof updates === 'number';
    const dataset = datasetOf({ config });
    return {
      ...about,
      group: settingsKey(config),
      state: isStale ? 'stale' : state.status,
      ...{ reason: state.reason, phase: state.phase, dataset },
      algorithm: enabled === true ? algorithmOf(config) : undefined,
      updates: counted ? updates : undefined,
      seed: typeof config.seed === 'number' ? config.seed : undefined,
      started: environment.started,
    };
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw error;
    return { ...about, group: key, state: 'broken', reason: error.message };
  }
}

/** Names of checkpoints: best, last and clone if present, then each step, latest first. */
export function checkpointNames(folder: string): string[] {
  const { checkpoints, ...pointers } = readIndex(folder);
  return [...Object.keys(pointers), ...checkpoints.map(({ name }) => name).reverse()];
}

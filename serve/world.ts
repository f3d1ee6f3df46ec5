/** Snapshot of the served folders, refreshed at most once per interval. */
import { WorkbenchError } from '../src/run/errors.js';
import type { RunSummary } from './api.js';
import { findPlaces, type Place } from './places.js';
import { openRunList } from './runs.js';

/** A snapshot of the folders. */
export interface View {
  places: ReadonlyMap<string, Place>;
  runs: readonly RunSummary[];
  /** Equal for equal lists. */
  stamp: string;
}

/** See `openWorld`. */
export type World = ReturnType<typeof openWorld>;

/**
 * @param roots folders to serve
 * @param lookEveryMs maximum age of a snapshot. Default 1000
 */
export function openWorld(roots: readonly string[], lookEveryMs = 1000) {
  const list = openRunList();
  let view: (View & { at: number }) | undefined;

  const look = (): View => {
    if (view && performance.now() - view.at < lookEveryMs) return view;
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

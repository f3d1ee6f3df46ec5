/** What runs have logged, as it came. */
import type { LiveEvents, LoggedMetrics, LoggedTime } from '../api.js';

/** Values by step, in the order they were logged; a step logged again has its last value. */
export type Logged = Map<number, number | null>;

/** What a phase had taken up to a step. */
interface Taken {
  envSteps?: number;
  seconds: number;
}

/** All that is known of a run. */
export interface RunLog {
  /** By phase, by key. */
  metrics: Map<string, Map<string, Logged>>;
  /** By phase, by step. */
  taken: Map<string, Map<number, Taken>>;
  trouble?: string;
}

/** Nothing yet. */
export const emptyLog = (): RunLog => ({ metrics: new Map(), taken: new Map() });

/** Adds what an event brought; one that is `afresh` replaces what was there. */
export function addRecords(log: RunLog, event: LiveEvents['log']): void {
  if (event.log === 'metrics') {
    if (event.afresh) log.metrics.clear();
    for (const record of event.records) addMetrics(log, record);
  } else {
    if (event.afresh) log.taken.clear();
    for (const record of event.records) addTime(log, record);
  }
}

function addMetrics({ metrics }: RunLog, { phase, step, metrics: values }: LoggedMetrics): void {
  const keys = sub(metrics, phase);
  for (const [key, value] of Object.entries(values)) sub(keys, key).set(step, value);
}

/** A step that was done again after an interruption counts once. */
function addTime({ taken }: RunLog, record: LoggedTime): void {
  const steps = sub(taken, record.phase);
  if (steps.has(record.step)) return;
  const last = [...steps.values()].at(-1);
  const envSteps = record['time/env_steps'];
  steps.set(record.step, {
    seconds: (last?.seconds ?? 0) + (record.seconds ?? 0),
    ...(typeof envSteps === 'number' && { envSteps: (last?.envSteps ?? 0) + envSteps }),
  });
}

function sub<K, A, B>(map: Map<K, Map<A, B>>, key: K): Map<A, B> {
  const found = map.get(key) ?? new Map<A, B>();
  map.set(key, found);
  return found;
}

/** Logged records of runs in memory. */
import type { LiveEvents, LoggedMetrics, LoggedTime } from '../api.js';

/** Values by step in logging order; of repeated steps the last value counts. */
export type Logged = Map<number, number | null>;

/** Cumulative cost of a phase up to a step. */
interface Taken {
  envSteps?: number;
  seconds: number;
}

/** Logs of a run. */
export interface RunLog {
  /** By phase, then key. */
  metrics: Map<string, Map<string, Logged>>;
  /** By phase, then step. */
  taken: Map<string, Map<number, Taken>>;
  trouble?: string;
}

/** Empty logs. */
export const emptyLog = (): RunLog => ({ metrics: new Map(), taken: new Map() });

/** Adds the records of an event; with `reset` they replace the previous ones. */
export function addRecords(log: RunLog, event: LiveEvents['log']): void {
  if (event.log === 'metrics') {
    if (event.reset) log.metrics.clear();
    for (const record of event.records) addMetrics(log, record);
  } else {
    if (event.reset) log.taken.clear();
    for (const record of event.records) addTime(log, record);
  }
}

function addMetrics({ metrics }: RunLog, { phase, step, metrics: values }: LoggedMetrics): void {
  const keys = sub(metrics, phase);
  for (const [key, value] of Object.entries(values)) sub(keys, key).set(step, value);
}

/** A step repeated after an interruption counts once. */
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

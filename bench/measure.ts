/**
 * What every bench program measures with, and the one line that it prints a measurement: the same as the programs of
 * bench/peers print, so that both stand in one table.
 */
import { loadavg } from 'node:os';
import { cpuUsage } from 'node:process';

/** Wall and CPU seconds since a clock was started; CPU seconds are those of all threads of the process. */
export interface Clock {
  wall(): number;
  cpu(): number;
}

/** Seconds that something took. */
export interface Spent {
  wall: number;
  cpu: number;
}

/** Measurement, before it becomes a line. */
export interface Measurement {
  /** Part of kgwalk that was measured, such as `wasm`. */
  variant?: string;
  /** Task, by the peers' name: `transe-train`, `link-eval` … */
  task: string;
  settings: Record<string, unknown>;
  /** Units of work done in `spent`. */
  count: number;
  /** Such as `positives/s`. */
  unit: string;
  spent: Spent;
  threads?: number;
  quality?: Record<string, unknown>;
}

/** Starts now. */
export function startClock(): Clock {
  const wall = performance.now();
  const cpu = cpuUsage();
  return {
    wall: () => (performance.now() - wall) / 1000,
    cpu: () => {
      const { user, system } = cpuUsage(cpu);
      return (user + system) / 1e6;
    },
  };
}

/**
 * Repeats work for a time, after a warm-up that is not counted.
 * @param work returns how many units it did
 * @param seconds wall seconds of the window
 * @param warmUps times that `work` runs before
 */
export async function repeatFor(
  work: () => number | Promise<number>,
  seconds: number,
  warmUps = 2,
): Promise<{ count: number; spent: Spent }> {
  for (let i = 0; i < warmUps; i++) await work();
  const clock = startClock();
  let count = 0;
  do count += await work();
  while (clock.wall() < seconds);
  return { count, spent: { wall: clock.wall(), cpu: clock.cpu() } };
}

/** Prints a throughput as one JSON line. */
export function emitRate(measurement: Measurement): void {
  const { count, spent } = measurement;
  emit(measurement, round(count / spent.wall, 5), { rate_per_cpu_second: round(count / spent.cpu, 5) });
}

/** Prints a latency as one JSON line: the median of single times, and the CPU milliseconds of a mean one. */
export function emitLatency(measurement: Measurement, milliseconds: readonly number[]): void {
  const sorted = Float64Array.from(milliseconds).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  const cpu = (measurement.spent.cpu * 1000) / measurement.count;
  const quality = { p10_ms: round(at(0.1), 4), p99_ms: round(at(0.99), 4), cpu_ms: round(cpu, 4) };
  emit({ ...measurement, quality: { ...quality, ...measurement.quality } }, round(at(0.5), 4));
}

function emit(measurement: Measurement, rate: number, more: Record<string, number> = {}): void {
  const { variant, task, settings, unit, spent, threads = 1, quality } = measurement;
  const line = {
    system: variant === undefined ? 'kgwalk' : `kgwalk, ${variant}`,
    task,
    settings,
    rate,
    unit,
    threads,
    seconds: round(spent.wall, 4),
    cpu_seconds: round(spent.cpu, 4),
    ...more,
    ...(quality && { quality }),
    load1: round(loadavg()[0]!, 3),
  };
  console.log(JSON.stringify(line));
}

/** @param digits significant ones */
function round(value: number, digits: number): number {
  return Number(value.toPrecision(digits));
}

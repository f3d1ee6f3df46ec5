/** Shapes of the records of a run folder, for reading files that anybody may have changed. Further keys are kept. */
import { z } from 'zod';
import { asWritten, openObject } from './read-json.js';
import type { EnvironmentRecord, MetricRecord, RunState, TimingRecord } from './records.js';

const nonFinite: readonly unknown[] = ['NaN', 'Infinity', '-Infinity'];

/** Any number; JSON has names for NaN and the infinities. */
export const anyNumber: z.ZodType<number> = z.preprocess(
  (value) => (nonFinite.includes(value) ? Number(value) : value),
  z.custom<number>((value) => typeof value === 'number', 'expected a number'),
);
const text = z.string();
const version = z.literal(1);

/** `MetricRecord`, a line of `metrics.jsonl`. */
export const metricRecord: z.ZodType<MetricRecord> = openObject({
  phase: text,
  step: z.int(),
  metrics: z.record(text, anyNumber),
});

/** `TimingRecord`, a line of `timing.jsonl`. */
export const timingRecord: z.ZodType<TimingRecord> = z
  .object({ phase: text, step: z.int(), seconds: anyNumber, rss_mb: anyNumber })
  .catchall(z.union([text, anyNumber]));

/** `RunState`, the content of `state.json`. */
export const runState: z.ZodType<RunState> = asWritten(
  openObject({
    schemaVersion: version,
    status: z.enum(['running', 'finished', 'stopped', 'failed']),
    phase: text.optional(),
    done: z.record(text, z.boolean()),
    reason: text.optional(),
  }),
);

const session = openObject({
  schemaVersion: version,
  started: text,
  argv: z.array(text),
  versions: z.record(text, text),
  platform: text,
  cpu: text,
  cores: anyNumber,
  memoryMb: anyNumber,
  backend: text.optional(),
  threads: anyNumber.optional(),
  configHash: text,
  hashes: z.record(text, text),
});

/** `EnvironmentRecord`, the content of `environment.json`. */
export const environmentRecord: z.ZodType<EnvironmentRecord> = asWritten(
  session.extend({ resumed: z.array(session).optional() }),
);

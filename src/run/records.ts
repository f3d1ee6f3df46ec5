/** The records of a run folder, as written to disk: what trainers and evaluation write and reports read. */
import { z } from 'zod';
import { asWritten, openObject } from './read-json.js';

/** The phases of training, in order. */
export const phases = ['transe', 'bilinear', 'encode', 'clone', 'fit', 'ppo'] as const;
/** One of `phases`. */
export type Phase = (typeof phases)[number];

const nonFinite: readonly unknown[] = ['NaN', 'Infinity', '-Infinity'];

/** Any number; JSON has names for NaN and the infinities. */
export const anyNumber: z.ZodType<number> = z.preprocess(
  (value) => (nonFinite.includes(value) ? Number(value) : value),
  z.custom<number>((value) => typeof value === 'number', 'expected a number'),
);
const text = z.string();
const version = z.literal(1);

const metricShape = z.object({
  phase: text,
  /** Counts the phase's own unit (epochs, updates), from 1; one step may have several records. */
  step: z.int(),
  /** Under `rollout/…`, `train/…`, `eval/…` with the field's names; values may be NaN. */
  metrics: z.record(text, anyNumber),
});
/** One line of `metrics.jsonl`. No wall clock, so that equal runs have equal bytes. */
export type MetricRecord = z.output<typeof metricShape>;
/** See `MetricRecord`. */
export const metricRecord: z.ZodType<MetricRecord> = openObject(metricShape.shape);

/** See `TimingRecord`. */
export const timingRecord = z
  .object({
    phase: text,
    step: z.int(),
    /** Of wall time since the previous record of the phase. */
    seconds: anyNumber,
    /** Resident memory in MiB. */
    rss_mb: anyNumber,
  })
  /** Counts since the previous record, such as `time/env_steps`; reports show their sums. */
  .catchall(z.union([text, anyNumber]));
/** One line of `timing.jsonl`, which holds the wall clock that metrics leave out. */
export type TimingRecord = z.output<typeof timingRecord>;

const stateShape = z.object({
  schemaVersion: version,
  /** A run whose process was killed still says `running`. */
  status: z.enum(['running', 'finished', 'stopped', 'failed']),
  /** The phase that is running, or ran last. */
  phase: text.optional(),
  /** Phases that are complete; a resumed run skips them. */
  done: z.record(text, z.boolean()),
  /** Why it failed, or was finished before its last step, one line. */
  reason: text.optional(),
  /** Of a finished run, the sha256 of its notes, which grow until then. */
  provenanceSha256: text.optional(),
});
/** `state.json`: how far a run is. */
export type RunState = z.output<typeof stateShape>;
/** See `RunState`. */
export const runState: z.ZodType<RunState> = asWritten(openObject(stateShape.shape));

const sessionShape = z.object({
  schemaVersion: version,
  /** ISO 8601, UTC. */
  started: text,
  argv: z.array(text),
  /** Package versions: kgwalk, node and the libraries that numbers depend on; a missing optional one is left out. */
  versions: z.record(text, text),
  /** Such as `linux-x64`. */
  platform: text,
  cpu: text,
  cores: anyNumber,
  /** MiB of memory in the machine. */
  memoryMb: anyNumber,
  /** Tensor backend, such as `tensorflow` or `wasm`. */
  backend: text.optional(),
  threads: anyNumber.optional(),
  configHash: text,
  /** sha256 of what the run read, by name: graph, encoder, data. */
  hashes: z.record(text, text),
  /** Files of the user's own that had registered parts, with their absolute paths; absent where there were none. */
  plugins: z.array(z.object({ file: text, sha256: text })).optional(),
});
const environmentShape = sessionShape.extend({
  /** The checkpoint of another run where a fork took its first weights from: that run's absolute folder, a name such as `ppo-000120`. */
  forkedFrom: z.object({ run: text, checkpoint: text, sha256: text }).optional(),
  /** Of the settings before, while those of a longer training are written. */
  formerConfigHash: text.optional(),
  /** Environments of later sessions that resumed the run, oldest first. */
  resumed: z.array(sessionShape).optional(),
});
/** `environment.json`: what the run ran on. With `timing.jsonl` the only place of time, paths and the command. */
export type EnvironmentRecord = z.output<typeof environmentShape>;
/** A checkpoint of another run. */
export type ForkOrigin = NonNullable<EnvironmentRecord['forkedFrom']>;
export const environmentRecord: z.ZodType<EnvironmentRecord> = asWritten(
  openObject({ ...environmentShape.shape, resumed: z.array(openObject(sessionShape.shape)).optional() }),
);

/** A run as reports and listings see it. */
export interface RunInfo {
  id: string;
  /** Absolute path. */
  folder: string;
  /** `config.yaml`: every key with its value. */
  config: Record<string, unknown>;
  configHash: string;
  environment: EnvironmentRecord;
  state: RunState;
}

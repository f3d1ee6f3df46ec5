/** Records of a run folder as stored: written by trainers and evaluation, read by reports. */
import { z } from 'zod';
import { asWritten, openObject } from './read-json.js';

/** The phases of training, in order. */
export const phases = ['transe', 'bilinear', 'encode', 'clone', 'fit', 'ppo'] as const;
/** One of `phases`. */
export type Phase = (typeof phases)[number];

const nonFinite: readonly unknown[] = ['NaN', 'Infinity', '-Infinity'];

/** Any number; NaN and infinities have names in JSON. */
export const anyNumber: z.ZodType<number> = z.preprocess(
  (value) => (nonFinite.includes(value) ? Number(value) : value),
  z.custom<number>((value) => typeof value === 'number', 'expected a number'),
);
const text = z.string();
const version = z.literal(1);

const metricShape = z.object({
  phase: text,
  /** Step in the phase's unit (epochs, updates), from 1; one step may have several records. */
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
    /** Seconds of wall time since the previous record of the phase. */
    seconds: anyNumber,
    rss_mb: anyNumber,
  })
  /** Counts since the previous record, such as `time/env_steps`; reports show their sums. */
  .catchall(z.union([text, anyNumber]));
/** One line of `timing.jsonl`: the wall clock left out of metrics. */
export type TimingRecord = z.output<typeof timingRecord>;

const stateShape = z.object({
  schemaVersion: version,
  /** A run whose process was killed still has `running`. */
  status: z.enum(['running', 'finished', 'stopped', 'failed']),
  phase: text.optional(),
  /** Completed phases; a resumed run skips them. */
  done: z.record(text, z.boolean()),
  /** Reason of a failure or early end, one line. */
  reason: text.optional(),
  /** Finished runs: sha256 of its notes, which grow until then. */
  provenanceSha256: text.optional(),
});
/** `state.json`: progress of a run. */
export type RunState = z.output<typeof stateShape>;
/** See `RunState`. */
export const runState: z.ZodType<RunState> = asWritten(openObject(stateShape.shape));

const sessionShape = z.object({
  schemaVersion: version,
  started: text,
  argv: z.array(text),
  /** Package versions: kgwalk, node and the libraries that numbers depend on; a missing optional one is left out. */
  versions: z.record(text, text),
  platform: text,
  cpu: text,
  cores: anyNumber,
  /** MiB of memory in the machine. */
  memoryMb: anyNumber,
  /** Tensor backend, such as `tensorflow` or `wasm`. */
  backend: text.optional(),
  threads: anyNumber.optional(),
  configHash: text,
  /** sha256 of the inputs by name: graph, encoder, data. */
  hashes: z.record(text, text),
  /** Plugins that registered parts, with absolute paths; absent without plugins. */
  plugins: z.array(z.object({ file: text, sha256: text })).optional(),
});
const environmentShape = sessionShape.extend({
  /** Fork source: absolute folder of the other run and its checkpoint, such as `ppo-000120`. */
  forkedFrom: z.object({ run: text, checkpoint: text, sha256: text }).optional(),
  /** Hash of the previous settings while a longer training replaces them. */
  formerConfigHash: text.optional(),
  /** Environments of later sessions that resumed the run, oldest first. */
  resumed: z.array(sessionShape).optional(),
});
/** `environment.json`: environment of the run. Only this file and `timing.jsonl` contain time, paths and the command. */
export type EnvironmentRecord = z.output<typeof environmentShape>;
/** A checkpoint of another run. */
export type ForkOrigin = NonNullable<EnvironmentRecord['forkedFrom']>;
export const environmentRecord: z.ZodType<EnvironmentRecord> = asWritten(
  openObject({ ...environmentShape.shape, resumed: z.array(openObject(sessionShape.shape)).optional() }),
);

/** A run for reports and listings. */
export interface RunInfo {
  id: string;
  folder: string;
  /** `config.yaml`: every key with its value. */
  config: Record<string, unknown>;
  configHash: string;
  environment: EnvironmentRecord;
  state: RunState;
  /** True where the state was recorded as `running` by a process that is gone. */
  isStale?: boolean;
}

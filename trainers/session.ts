/** Shared state of the phases of a training run: folder, logs, backend, encoder and saving. */
import type { Actor, ValueNetwork } from './actor.js';
import {
  type Checkpoint,
  type CheckpointHashes,
  type JsonObject,
  optimizerPrefix,
  schemaVersion,
} from '../checkpoints/checkpoint.js';
import type { Tensor } from '../checkpoints/safetensors.js';
import { filesBeside } from '../checkpoints/chain.js';
import { saveCheckpoint } from '../checkpoints/store.js';
import { type EncoderCounters, noCounts, type StateEncoder } from '../src/encoder/state-encoder.js';
import { configHash, settingsByKey } from '../src/run/config-values.js';
import type { LogMark } from '../src/run/json-lines.js';
import { cpuFigure, openMetricLog, openTimingLog, readMetrics, usedCpu } from '../src/run/metric-log.js';
import type { ProgressReporter } from '../src/run/progress.js';
import { keepProvenance } from '../src/run/provenance.js';
import type { MetricRecord, Phase } from '../src/run/records.js';
import type { Run } from '../src/run/run-folder.js';
import { type EventFile, openEventFile } from '../src/run/tensorboard.js';
import type { AdamW } from '../src/nn/adamw.js';
import type { Executor } from '../src/nn/executor.js';
import type { Parameters, StoredTensors } from '../src/nn/parameters.js';
import { plainSettings, type RunSettings } from './run-settings.js';

/** Finished PPO round: number from 1, environment steps, figures by metric name. */
type TrainedUpdate = { update: number; steps: number; metrics: Readonly<Record<string, number>> };

/** Callback for a finished round; returning true ends training. */
export type OnUpdate = (update: TrainedUpdate) => boolean | void | Promise<boolean | void>;

/** Run that is tried: each phase ends after some steps, evaluations are cut short. */
export interface Trial {
  /** True once the phase was measured long enough and ends; asked after every step, for tables of vectors every epoch. */
  isEnough: () => boolean;
  /** Folder of tables of vectors that are not kept yet. */
  folder: string;
  /** Replaces the run's encoder. */
  encoder: (encoder: StateEncoder) => StateEncoder;
  /** Runs an evaluation in part. */
  evaluation: (evaluate: () => Promise<Record<string, number>>) => Promise<Record<string, number>>;
}

/** Training run in progress. */
export interface Session<Settings extends RunSettings = RunSettings> {
  executor: Executor;
  run: Run;
  settings: Settings;
  logs: RunLogs;
  /** Encoder without a model if no text is read. */
  encoder: StateEncoder;
  hashes: CheckpointHashes;
  /** Initial weights of a fork. */
  start?: Checkpoint | undefined;
  /** Threads for TransE; default 1. */
  threads?: number;
  progress: ProgressReporter;
  signal?: AbortSignal | undefined;
  /** Called after every PPO round once it is logged; returning true ends training. */
  onUpdate?: OnUpdate | undefined;
  /** Prints a notice that is not part of the results. */
  note?: ((line: string) => void) | undefined;
  trial?: Trial | undefined;
}

/** Figures of an evaluation, whose processor time is in no record. */
export const figuresOf = (
  { logs, trial }: Pick<Session, 'logs' | 'trial'>,
  evaluate: () => Promise<Record<string, number>>,
): Promise<Record<string, number>> => (trial ? trial.evaluation(evaluate) : logs.aside(evaluate));

/** AdamW state in checkpoints. */
interface KeptOptimizer {
  exportState(prefix: string): Promise<{ steps: number; tensors: Record<string, Tensor> }>;
  importState(prefix: string, steps: number, tensors: StoredTensors): void;
}

/** Networks trained in a phase, with their optimizers. */
export interface TrainState {
  actor: Pick<Actor<unknown, unknown>, 'weightsChanged'> & { parameters: Pick<Parameters, 'export' | 'import'> };
  optimizer: KeptOptimizer;
  critic?: { network: Pick<ValueNetwork<unknown>, 'parameters'>; optimizer: AdamW } | undefined;
  /** Further state next to the networks, such as running environments between two rounds. */
  extra?: ExtraState | undefined;
}

/** Checkpoint state in addition to networks and optimizers. */
export interface ExtraState {
  save(): { state: JsonObject; tensors: Record<string, Tensor> };
  /** Restores the state of a checkpoint, or starts from the weights of one, restoring only what acting needs. */
  restore(checkpoint: Checkpoint): void;
}

const criticPrefix = `${optimizerPrefix}critic/`;

/** Progress of a phase. */
interface TrainStep {
  phase: Phase;
  step: number;
  epoch: number;
  metrics?: Record<string, number>;
  state?: JsonObject;
  /** Saved on request between two regular checkpoints. Default false. */
  interim?: boolean;
}

/** Writes a checkpoint of the whole training state and the metrics up to it. */
export async function saveTrainState(
  { run, settings, hashes, logs }: Pick<Session, 'run' | 'settings' | 'hashes' | 'logs'>,
  { actor, optimizer, critic, extra }: TrainState,
  { phase, step, epoch, metrics = {}, state, interim = false }: TrainStep,
): Promise<void> {
  keepProvenance(run.files.provenance);
  const { bytes: metricsBytes, sha256: metricsSha256 } = logs.flush();
  const own = await optimizer.exportState(optimizerPrefix);
  const second = await critic?.optimizer.exportState(criticPrefix);
  const more = extra?.save();
  const config = checkpointConfig(settings);
  const optimizerSteps = { optimizerSteps: own.steps, criticSteps: second?.steps ?? 0 };
  const checkpoint: Checkpoint = {
    header: {
      schemaVersion,
      kind: 'walker',
      config,
      configHash: configHash(config),
      hashes,
      phase,
      step,
      epoch,
      trainer: { ...state, metricsBytes, metricsSha256, ...more?.state, ...optimizerSteps },
      metrics,
      files: filesBeside(run.folder),
    },
    tensors: {
      ...(await actor.parameters.export()),
      ...(await critic?.network.parameters.export()),
      ...own.tensors,
      ...second?.tensors,
      ...more?.tensors,
    },
  };
  saveCheckpoint(run.folder, checkpoint, settings.checkpoint, { interim });
}

/** Restores a checkpoint's weights and optimizers. */
export function restoreTrainState({ actor, optimizer, critic, extra }: TrainState, checkpoint: Checkpoint): void {
  const { header, tensors } = checkpoint;
  actor.parameters.import(tensors);
  actor.weightsChanged();
  optimizer.importState(optimizerPrefix, Number(header.trainer.optimizerSteps), tensors);
  critic?.network.parameters.import(tensors);
  critic?.optimizer.importState(criticPrefix, Number(header.trainer.criticSteps), tensors);
  extra?.restore(checkpoint);
}

/** Initializes from a checkpoint's weights: those of the actor, and of the critic if it has some. */
export function beginWith({ actor, critic, extra }: TrainState, checkpoint: Checkpoint): void {
  const { tensors } = checkpoint;
  actor.parameters.import(tensors);
  actor.weightsChanged();
  const hasCritic = critic?.network.parameters.names.every((name) => name in tensors);
  if (hasCritic) critic?.network.parameters.import(tensors);
  extra?.restore(checkpoint);
}

/** Encoder figures since they were last logged. */
export function logEncoding(
  { encoder, logs }: Pick<Session, 'encoder' | 'logs'>,
  phase: Phase = 'encode',
  step = 1,
): void {
  const now = { ...encoder.counters };
  const before = logged.get(encoder) ?? noCounts();
  logged.set(encoder, now);
  const since = (count: keyof EncoderCounters) => now[count] - before[count];
  logs.timing(phase, step, {
    'time/asked_texts': since('requests'),
    'time/asked_tokens': since('askedTokens'),
    'time/encodes': since('encodes'),
    'time/cache_hits': since('cacheHits'),
    ...(now.damaged > 0 && { 'time/cache_damaged': since('damaged') }),
    'time/tokens': since('tokens'),
    ...(now.reusedTokens > 0 && { 'time/tokens_shared': since('reusedTokens') }),
    'time/encode_seconds': Math.round(since('seconds') * 1000) / 1000,
  });
}

const logged = new WeakMap<StateEncoder, EncoderCounters>();

/** Settings stored in checkpoints: without the model's path, since the encoder's hash identifies it. */
export function checkpointConfig(settings: RunSettings): JsonObject {
  const { model: _place, ...encoder } = settings.encoder;
  return JSON.parse(JSON.stringify({ ...settings, encoder })) as JsonObject;
}

/** Open logs of a run; close them after use. */
export interface RunLogs {
  /** Logs one record; `eval/…` of a step goes into a separate record. */
  metrics(phase: Phase, step: number, values: Record<string, number>): void;
  /** Wall clock since the phase's last record, memory, processor time since any record, and other figures. */
  timing(phase: Phase, step: number, figures?: Record<string, number>): void;
  /** Runs work that is no part of learning, such as an evaluation: its processor time is in no record. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  /** Flushes metrics to disk. @returns the log's position, for a checkpoint */
  flush(): Required<LogMark>;
  /** @throws WorkbenchError `data` if the metrics before a checkpoint are incomplete or were altered */
  check(mark: LogMark): void;
  /** Checks, then drops metrics that were logged after a checkpoint, and writes TensorBoard's events again. */
  truncateAfter(mark: LogMark): void;
  close(): void;
}

/**
 * @param onTruncatedLog called for each log with the bytes of an unfinished last line that were cut off; 0 if it was whole
 * @param onMetrics called with every record
 */
export function openRunLogs(
  run: Run,
  settings: Pick<RunSettings, 'log'>,
  onTruncatedLog?: (file: string, bytes: number) => void,
  onMetrics?: (record: MetricRecord) => void,
): RunLogs {
  const metricLog = openMetricLog(run.files.metrics);
  const timingLog = openTimingLog(run.files.timing);
  let events: EventFile | undefined;
  let cpu = usedCpu();
  const toTensorboard = ({ phase, step, metrics }: MetricRecord) => {
    if (!settings.log.tensorboard) return;
    if (!events) {
      events = openEventFile(run.files.tensorboard);
      const lines = Object.entries(settingsByKey(plainSettings(settings))).map(
        ([key, value]) => `    ${key}: ${value}`,
      );
      events.text('settings', lines.join('\n'));
    }
    for (const [key, value] of Object.entries(metrics)) events.scalar(`${phase}/${key}`, step, value);
  };
  onTruncatedLog?.(run.files.metrics, metricLog.truncatedBytes);
  onTruncatedLog?.(run.files.timing, timingLog.truncatedBytes);
  return {
    metrics(phase, step, values) {
      metricLog.append(phase, step, values);
      onMetrics?.({ phase, step, metrics: { ...values } });
      toTensorboard({ phase, step, metrics: values });
    },
    timing(phase, step, figures) {
      const now = usedCpu();
      timingLog.record(phase, step, { ...figures, [cpuFigure]: Math.round(now - cpu) });
      cpu = now;
    },
    async aside(work) {
      const before = usedCpu();
      try {
        return await work();
      } finally {
        cpu += usedCpu() - before;
      }
    },
    flush: () => metricLog.flush(),
    check: (mark) => metricLog.check(mark),
    truncateAfter(mark) {
      metricLog.truncateAfter(mark);
      if (settings.log.tensorboard) readMetrics(run.files.metrics).forEach(toTensorboard);
    },
    close() {
      metricLog.close();
      timingLog.close();
      events?.close();
    },
  };
}

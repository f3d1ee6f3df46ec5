/** What the phases of one training run share, whatever is walked: folder, logs, backend, encoder, and how to save. */
import type { Actor, ValueNetwork } from '../agents/actor.js';
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
import { configHash } from '../src/run/config.js';
import type { LogMark } from '../src/run/json-lines.js';
import { cpuFigure, openMetricLog, openTimingLog, readMetrics, usedCpu } from '../src/run/metric-log.js';
import type { ProgressReporter } from '../src/run/progress.js';
import { keepProvenance } from '../src/run/provenance.js';
import type { MetricRecord, Phase } from '../src/run/records.js';
import type { Run } from '../src/run/run-folder.js';
import { type EventFile, keepEvents, openEventFile } from '../src/run/tensorboard.js';
import type { NetworkSize, Tf } from '../src/tensor/backend.js';
import type { StoredTensors } from '../src/tensor/parameters.js';
import type { Optimizer, TrainedParameters } from '../src/tensor/trainable.js';
import type { TrainSettings } from './train-settings.js';

/** A round of PPO that is done: number from 1, environment steps, figures by the field's names. */
export interface TrainedUpdate {
  update: number;
  steps: number;
  metrics: Readonly<Record<string, number>>;
}

/** Told of it; returning true ends training. */
export type OnUpdate = (update: TrainedUpdate) => boolean | void | Promise<boolean | void>;

/** One training run that is under way. */
export interface Session {
  tf: Tf;
  /** Whether networks are computed on the host, without the tensor library. */
  host?: boolean;
  run: Run;
  settings: TrainSettings;
  logs: RunLogs;
  /** One without a model where no text is read. */
  encoder: StateEncoder;
  hashes: CheckpointHashes;
  /** The weights that a fork begins with. */
  start?: Checkpoint | undefined;
  /** Threads that TransE may use; default 1. */
  threads?: number;
  progress: ProgressReporter;
  signal?: AbortSignal | undefined;
  /** Told of every round of PPO once it is logged; returning true ends training. */
  onUpdate?: OnUpdate | undefined;
  /** Says something beside the results. */
  note?: ((line: string) => void) | undefined;
}

/** What one kind of walk brings to a run: its data, read and checked, and its phases. */
export interface Training {
  /** Whether it encodes texts; without them no encoder is opened, and checkpoints belong to none. */
  readsTexts: boolean;
  hashes: Required<Pick<CheckpointHashes, 'dataset'>> & Pick<CheckpointHashes, 'graph' | 'slots'>;
  /** What whoever starts the run should know of its data, a line each. */
  notes: readonly string[];
  /**
   * Every phase.
   * @param from the checkpoint to go on from
   */
  run(session: Session, from: Checkpoint | undefined): Promise<void>;
}

/** How a task trains: what differs between tasks in a run. */
export interface Learning {
  /** Id of an environment that a program brings, which is not registered. */
  readonly ownEnvId?: string;
  /** Settings that contradict each other in a run of the task, a line each. */
  problems(settings: TrainSettings): string[];
  /** The first layer over the texts, at the largest batch: by it `auto` chooses what computes. @param textDim of the encoder's vectors */
  networkSize(settings: TrainSettings, textDim: number): NetworkSize;
  /** Whether it clones walks of another agent, which the section `teacher` names. */
  readonly takesTeacher?: boolean;
  /** Whether it fits readers, which the section `reader` names. */
  readonly takesReader?: boolean;
  /** Whether it fits exact walkers, which the section `exactWalker` names. */
  readonly takesExactWalker?: boolean;
  /** The phase whose weights a fork begins with: a clone, which PPO starts from and stays near, or PPO itself. */
  readonly forkPhase: 'clone' | 'ppo';
  /** The data of a run, read and checked. @throws WorkbenchError `data` for data that is not there or does not fit */
  open(settings: TrainSettings): Promise<Training>;
}

/** What checkpoints keep of an optimizer. */
interface KeptOptimizer {
  exportState(prefix: string): Promise<{ steps: number; tensors: Record<string, Tensor> }>;
  importState(prefix: string, steps: number, tensors: StoredTensors): void;
}

/** What is trained in a phase, with its optimizers. */
export interface Trainee {
  actor: Pick<Actor<unknown, unknown>, 'weightsChanged'> & { parameters: Pick<TrainedParameters, 'export' | 'import'> };
  optimizer: KeptOptimizer;
  critic?: { network: Pick<ValueNetwork<unknown>, 'parameters'>; optimizer: Optimizer } | undefined;
  /** What goes on beside the networks, such as environments between two rounds. */
  beside?: TrainedBeside | undefined;
}

/** What checkpoints keep beside networks and optimizers. */
export interface TrainedBeside {
  save(): { state: JsonObject; tensors: Record<string, Tensor> };
  /** Goes on from a checkpoint, or begins with the weights of one, which keep what acting needs. */
  restore(checkpoint: Checkpoint): void;
}

const criticPrefix = `${optimizerPrefix}critic/`;

/** How far a phase is. */
interface TraineePlace {
  phase: Phase;
  step: number;
  epoch: number;
  metrics?: Record<string, number>;
  state?: JsonObject;
}

/** The whole training state, in host arrays of its own. */
async function traineeCheckpoint(
  { run, settings, hashes }: Pick<Session, 'run' | 'settings' | 'hashes'>,
  { actor, optimizer, critic, beside }: Trainee,
  { phase, step, epoch, metrics = {}, state }: TraineePlace,
): Promise<Checkpoint> {
  const own = await optimizer.exportState(optimizerPrefix);
  const second = await critic?.optimizer.exportState(criticPrefix);
  const more = beside?.save();
  const config = checkpointConfig(settings);
  return {
    header: {
      schemaVersion,
      kind: 'walker',
      config,
      configHash: configHash(config),
      hashes,
      phase,
      step,
      epoch,
      trainer: { ...state, ...more?.state, optimizerSteps: own.steps, criticSteps: second?.steps ?? 0 },
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
}

/**
 * Writes a checkpoint of the whole training state and the metrics up to it.
 * @param at.interim saved on request between two regular checkpoints
 */
export async function saveTrainee(
  session: Session,
  trainee: Trainee,
  { interim = false, ...at }: TraineePlace & { interim?: boolean },
): Promise<void> {
  const { run, settings, logs } = session;
  keepProvenance(run.files.provenance);
  const { bytes: metricsBytes, sha256: metricsSha256 } = logs.flush();
  const state = { ...at.state, metricsBytes, metricsSha256 };
  const checkpoint = await traineeCheckpoint(session, trainee, { ...at, state });
  saveCheckpoint(run.folder, checkpoint, settings.checkpoint, { interim });
}

/** Puts a checkpoint's weights and optimizers back. */
export function restoreTrainee({ actor, optimizer, critic, beside }: Trainee, checkpoint: Checkpoint): void {
  const { header, tensors } = checkpoint;
  actor.parameters.import(tensors);
  actor.weightsChanged();
  optimizer.importState(optimizerPrefix, Number(header.trainer.optimizerSteps), tensors);
  critic?.network.parameters.import(tensors);
  critic?.optimizer.importState(criticPrefix, Number(header.trainer.criticSteps), tensors);
  beside?.restore(checkpoint);
}

/** Begins with the weights of a checkpoint: those of the actor, and of the critic where it has some. */
export function beginWith({ actor, critic, beside }: Trainee, checkpoint: Checkpoint): void {
  const { tensors } = checkpoint;
  actor.parameters.import(tensors);
  actor.weightsChanged();
  const hasCritic = critic?.network.parameters.names.every((name) => name in tensors);
  if (hasCritic) critic?.network.parameters.import(tensors);
  beside?.restore(checkpoint);
}

/** What the encoder has done for the run since it was logged last. */
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

/** The settings as checkpoints keep them: without the place of the model, which the encoder's hash stands for. */
export function checkpointConfig(settings: TrainSettings): JsonObject {
  const { model: _place, ...encoder } = settings.encoder;
  return JSON.parse(JSON.stringify({ ...settings, encoder })) as JsonObject;
}

/** The open logs of a run; close them after use. */
export interface RunLogs {
  /** One record; `eval/…` of a step comes in a record of its own. */
  metrics(phase: Phase, step: number, values: Record<string, number>): void;
  /** Wall clock since the phase's last record, memory, processor time since any record, and other figures. */
  timing(phase: Phase, step: number, figures?: Record<string, number>): void;
  /** Does what is no part of learning, such as an evaluation: its processor time is in no record. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  /** Puts metrics on disk. @returns what is there, for a checkpoint */
  flush(): Required<LogMark>;
  /** @throws WorkbenchError `data` where the metrics before a checkpoint are not all there, or were altered */
  check(mark: LogMark): void;
  /** Checks, and forgets metrics that were logged after a checkpoint, in TensorBoard's files too. */
  truncateAfter(mark: LogMark): void;
  close(): void;
}

/**
 * @param onTorn told how many bytes of an unfinished last line were cut off each log; 0 where it was whole
 * @param onMetrics told of every record
 */
export function openRunLogs(
  run: Run,
  tensorboard: boolean,
  onTorn?: (file: string, bytes: number) => void,
  onMetrics?: (record: MetricRecord) => void,
): RunLogs {
  const metricLog = openMetricLog(run.files.metrics);
  const timingLog = openTimingLog(run.files.timing);
  let events: EventFile | undefined;
  let cpu = usedCpu();
  onTorn?.(run.files.metrics, metricLog.tornBytes);
  onTorn?.(run.files.timing, timingLog.tornBytes);
  return {
    metrics(phase, step, values) {
      metricLog.append(phase, step, values);
      onMetrics?.({ phase, step, metrics: { ...values } });
      if (!tensorboard) return;
      events ??= openEventFile(run.files.tensorboard);
      for (const { tag, value } of scalarsOf([{ phase, step, metrics: values }])) events.scalar(tag, step, value);
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
      if (tensorboard) keepEvents(run.files.tensorboard, scalarsOf(readMetrics(run.files.metrics)));
    },
    close() {
      metricLog.close();
      timingLog.close();
      events?.close();
    },
  };
}

/** The metrics as TensorBoard names them. */
function scalarsOf(records: readonly MetricRecord[]) {
  return records.flatMap(({ phase, step, metrics }) =>
    Object.entries(metrics).map(([key, value]) => ({ tag: `${phase}/${key}`, step, value })),
  );
}

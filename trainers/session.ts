/** What the phases of one training run share: its folder, logs, data, network and how to save them. */
import type { Critic } from '../agents/walker/critic.js';
import type { WalkerInputs } from '../agents/walker/inputs.js';
import type { Policy } from '../agents/walker/policy.js';
import { optimizerPrefix, type CheckpointHeader, type JsonObject } from '../checkpoints/checkpoint.js';
import { saveCheckpoint } from '../checkpoints/store.js';
import type { WalkSample } from '../datasets/walk-sample.js';
import { configHash } from '../src/run/config.js';
import { writeMetricsArrow } from '../src/run/metric-log.js';
import type { ProgressReporter } from '../src/run/progress.js';
import type { Phase } from '../src/run/records.js';
import type { Run } from '../src/run/run-folder.js';
import type { AdamW } from '../src/tensor/adamw.js';
import type { Tf } from '../src/tensor/backend.js';
import type { StoredTensors } from '../src/tensor/parameters.js';
import type { RunLogs } from './run-logs.js';
import type { TrainSettings } from './train-settings.js';

export interface Session {
  tf: Tf;
  run: Run;
  settings: TrainSettings;
  logs: RunLogs;
  inputs: WalkerInputs;
  train: readonly WalkSample[];
  valid: readonly WalkSample[];
  seenTargets: ReadonlySet<number>;
  hashes: CheckpointHeader['hashes'];
  progress: ProgressReporter;
  signal?: AbortSignal | undefined;
}

/** What is trained in a phase, with its optimizers. */
export interface Trainee {
  policy: Policy;
  optimizer: AdamW;
  critic?: { network: Critic; optimizer: AdamW } | undefined;
}

const criticPrefix = `${optimizerPrefix}critic/`;

/** Writes a checkpoint of the whole training state and the metrics up to it. */
export async function saveTrainee(
  { run, settings, logs, hashes }: Session,
  { policy, optimizer, critic }: Trainee,
  at: {
    phase: Phase;
    step: number;
    epoch: number;
    metrics?: Record<string, number>;
    state?: JsonObject;
    /** Saved on request between two regular checkpoints. */
    interim?: boolean;
  },
): Promise<void> {
  const own = optimizer.exportState(optimizerPrefix);
  const second = critic?.optimizer.exportState(criticPrefix);
  const config = checkpointConfig(settings);
  saveCheckpoint(
    run.folder,
    {
      header: {
        schemaVersion: 1,
        kind: 'walker',
        config,
        configHash: configHash(config),
        hashes,
        phase: at.phase,
        step: at.step,
        epoch: at.epoch,
        trainer: {
          ...at.state,
          optimizerSteps: own.steps,
          criticSteps: second?.steps ?? 0,
          metricsBytes: logs.flush(),
        },
        metrics: at.metrics ?? {},
      },
      tensors: {
        ...policy.head.parameters.export(),
        ...critic?.network.parameters.export(),
        ...own.tensors,
        ...second?.tensors,
      },
    },
    settings.checkpoint,
    { interim: at.interim ?? false },
  );
  await writeMetricsArrow(run.files.metrics, run.files.metricsArrow);
}

/** Puts a checkpoint's weights and optimizers back and forgets metrics that were logged after it. */
export function restoreTrainee(
  { logs }: Session,
  { policy, optimizer, critic }: Trainee,
  header: CheckpointHeader,
  tensors: StoredTensors,
): void {
  policy.head.parameters.import(tensors);
  policy.head.weightsChanged();
  optimizer.importState(optimizerPrefix, Number(header.trainer.optimizerSteps), tensors);
  critic?.network.parameters.import(tensors);
  critic?.optimizer.importState(criticPrefix, Number(header.trainer.criticSteps), tensors);
  logs.truncateAfter(Number(header.trainer.metricsBytes));
}

/** The settings as checkpoints keep them: without the place of the model, which the encoder's hash stands for. */
function checkpointConfig(settings: TrainSettings): JsonObject {
  const { model: _place, ...encoder } = settings.encoder;
  return JSON.parse(JSON.stringify({ ...settings, encoder })) as JsonObject;
}

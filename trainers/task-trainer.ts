/** Interface between training and the tasks: what each brings of data, networks and phases. */
import type { Checkpoint, CheckpointHashes } from '../checkpoints/checkpoint.js';
import type { Executor } from '../src/nn/executor.js';
import type { NetworkSize } from '../src/nn/open-executor.js';
import type { TrainingPhase } from './phase.js';
import type { Session } from './session.js';
import type { RunInfo } from '../src/run/records.js';
import type { RunSettings } from './run-settings.js';

/** Data of a run, read and checked, and its training phases. */
export interface TrainingRun {
  /** True if texts are encoded; otherwise no encoder is opened and checkpoints belong to none. */
  readsTexts: boolean;
  hashes: Required<Pick<CheckpointHashes, 'dataset'>> & Pick<CheckpointHashes, 'graph' | 'slots'>;
  /** Notices about the data for the user, one line each. */
  notes: readonly string[];
  /** Makes networks that may be refused, once the backend is open and before there is a folder. */
  prepare?(executor: Executor): void;
  /** Prepares what phases share, such as vectors of texts. @param from checkpoint to resume from */
  phases(session: Session, from: Checkpoint | undefined): Promise<RunPhases>;
}

/** Phases in their order. */
export interface RunPhases {
  phases: readonly PlannedPhase[];
  /** Called at the end, however it came. */
  close?(): void;
}

/** Phase that is opened when its turn comes. */
export interface PlannedPhase {
  name: TrainingPhase['name'];
  open(): Promise<TrainingPhase> | TrainingPhase;
}

/** Method that is trained, as far as training itself asks for it. */
export interface TrainedMethod {
  /** Number of evaluations on valid while it is fitted. Absent: it has no phase `fit`, but is cloned or trained by PPO. */
  fitEvaluations?(settings: RunSettings): number;
  /** Contradicting settings in a run of it, one line each; false for those that do not hold. */
  problems(settings: RunSettings): readonly (string | false)[];
  /** First layer over the texts at the largest batch: `auto` chooses the backend by it. @param textDim of the encoder's vectors */
  networkSize(settings: RunSettings, textDim: number): NetworkSize;
  /** True where new weights are a policy already, which PPO may stay near. Default false: they are drawn. */
  pretrained?(settings: RunSettings): boolean;
  /** Phase of a fork's initial weights: a clone, which PPO starts from and is anchored to, or PPO itself. Absent: it cannot be forked. */
  forkPhase?(settings: RunSettings): 'clone' | 'ppo';
  /** Settings that give its weights their shape and meaning: those of a fork are equal. */
  meaning?(settings: RunSettings): Record<string, unknown>;
}

/** Training interface of a task. */
export interface TaskTrainer<Settings extends RunSettings = RunSettings> {
  /** Id of an environment that is passed by a program instead of registered. */
  readonly ownEnvId?: string;
  /** Completed settings of a run. @param overrides applied last @throws WorkbenchError `config` */
  settingsOf(run: RunInfo, overrides?: readonly string[]): Settings;
  /** Method that the settings choose. */
  methodOf(settings: RunSettings): TrainedMethod;
  /** Reads and checks the data of a run. @throws WorkbenchError `data` for data that is missing or does not fit */
  open(settings: RunSettings): Promise<TrainingRun>;
}

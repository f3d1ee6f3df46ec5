/** PPO as a phase of a run: initial weights, optimizers, schedule. */
import type { Actor, ValueNetwork } from './actor.js';
import { readRunCheckpoint } from '../checkpoints/chain.js';
import { checkFits, type Checkpoint, type JsonObject } from '../checkpoints/checkpoint.js';
import { AdamW } from '../src/nn/adamw.js';
import type { Parameters } from '../src/nn/parameters.js';
import type { PpoSettings } from './ppo-settings.js';
import type { ActorCritic } from './ppo-step.js';
import type { TrainingPhase } from './phase.js';
import type { Session } from './session.js';

/**
 * Initial weights of PPO, which are also its reference policy, for any task: with `ppo.init=clone` those of the run's clone, which in a
 * fork that clones nothing are the forked ones; else the forked ones. A run that forks nothing draws new ones.
 * @throws WorkbenchError `data` for a clone of other data or another encoder, copied into the folder by hand
 */
export function firstWeights(session: Pick<Session, 'run' | 'settings' | 'hashes' | 'start'>): Checkpoint | undefined {
  const { run, settings, hashes, start } = session;
  if (settings.ppo.init === 'scratch') return start;
  const clone = readRunCheckpoint(run.folder, 'clone');
  checkFits(clone.header, hashes, clone.entry.file);
  return clone;
}

/** AdamW by the settings of PPO. */
export function adamOf(parameters: Parameters, { adamEpsilon, maxGradNorm }: PpoSettings): AdamW {
  return new AdamW(parameters, { epsilon: adamEpsilon, ...(maxGradNorm > 0 && { maxGradNorm }) });
}

/** Actor and critic with optimizers by the settings of PPO; closing disposes both. */
export function openActorCritic<Observation, Request>(
  actor: Actor<Observation, Request>,
  network: ValueNetwork<Request> | undefined,
  settings: PpoSettings,
) {
  const optimizer = adamOf(actor.parameters, settings);
  const critic = network && { network, optimizer: adamOf(network.parameters, settings) };
  const networks: ActorCritic<Observation, Request> = { actor, optimizer, critic };
  const close = () => {
    optimizer.dispose();
    critic?.optimizer.dispose();
    network?.dispose();
    actor.dispose();
  };
  return { networks, close };
}

const rewardAndKl = (metrics: Readonly<Record<string, number>>) =>
  `reward ${metrics['rollout/reward']!.toFixed(3)} · kl ${metrics['train/anchor_kl']!.toFixed(3)}`;

/** Trainer of PPO's updates, or of others with its schedule. */
interface UpdateTrainer extends Pick<TrainingPhase, 'prepare' | 'step'> {
  averageReturn?: number;
}

/** Networks, schedule and evaluation. */
interface PpoPhaseOptions extends Pick<TrainingPhase, 'trainState' | 'start' | 'evaluate' | 'close'> {
  trainer: UpdateTrainer;
  settings: PpoSettings;
  /** Lower bound of the first figure of `evaluate`. Default -1, below all shares. */
  lowestFigure?: number;
  /** Progress line of a round. Default: its reward and the KL from the clone. */
  progressText?: (metrics: Readonly<Record<string, number>>) => string;
}

/** PPO as a phase of a run, for any kind of walk. */
export function ppoPhase(
  session: Pick<Session, 'settings' | 'onUpdate'>,
  { trainer, settings, lowestFigure = -1, progressText = rewardAndKl, ...phase }: PpoPhaseOptions,
): TrainingPhase {
  const { everyUpdates } = session.settings.checkpoint;
  return {
    ...phase,
    ...{ name: 'ppo', unit: 'updates', stepName: 'update', steps: settings.updates, timesEach: true },
    remedy:
      settings.adamEpsilon === 0 ? 'Raise ppo.adamEpsilon above 0.' : 'Lower ppo.learningRate or ppo.maxGradNorm.',
    prepare: () => Promise.resolve(trainer.prepare?.()),
    step: trainer.step.bind(trainer),
    text: progressText,
    logsAt: () => true,
    evaluatesAt: (update) => update % settings.evalEvery === 0,
    savesAt: (update) => update % everyUpdates === 0,
    afterStep: (update, { metrics, steps = 0 }) => session.onUpdate?.({ update, steps, metrics }),
    patience: { most: settings.patience, lowest: lowestFigure },
    ...(settings.baseline === 'moving-average' && {
      state: {
        save: (): JsonObject => (trainer.averageReturn === undefined ? {} : { averageReturn: trainer.averageReturn }),
        restore: (kept) => void (trainer.averageReturn = (kept.averageReturn as number | undefined) ?? 0),
      },
    }),
  };
}

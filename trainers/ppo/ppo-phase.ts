/** The PPO phase of a run: starts from the clone or from scratch, evaluates, saves, goes on where a run was stopped. */
import { createCritic } from '../../agents/walker/critic.js';
import { createPolicy } from '../../agents/walker/inputs.js';
import { walkerActor, walkerValues } from '../../agents/walker/walker-actor.js';
import { checkFits, readCheckpoint, type Checkpoint } from '../../checkpoints/checkpoint.js';
import { bestMetric } from '../../checkpoints/keeper.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { makeVectorEnv } from '../../envs/registry.js';
import type { dialogueWalkId } from '../../envs/dialogue-walk-env.js';
import { initialState } from '../../envs/rules.js';
import { embeddingPotential } from '../../envs/walk-reward.js';
import type { EmbeddingTable } from '../../src/embedding/embedding-table.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { AdamW } from '../../src/tensor/adamw.js';
import { evaluateOnValid } from '../evaluate-valid.js';
import { restoreTrainee, saveTrainee, type Session, type Trainee } from '../session.js';
import { goldWalks } from '../cloning/gold-states.js';
import { expectedReward } from './expected-reward.js';
import { ppo, type PpoUpdate } from './ppo.js';

/** Where early stopping stands: kept in checkpoints. */
interface Patience {
  best: number;
  evaluationsWithoutGain: number;
}

/** @throws WorkbenchError `data` for a clone of other data or another encoder, put into the folder by hand */
function readClone({ run, hashes }: Session): Checkpoint {
  const { file } = resolveCheckpoint(run.folder, 'clone');
  const clone = readCheckpoint(file);
  checkFits(clone.header, hashes, file);
  return clone;
}

/**
 * @param transe embeddings, for `env.shaping: transe`
 * @param resumeFrom a checkpoint of this phase
 */
export async function ppoPhase(
  session: Session,
  transe: EmbeddingTable | undefined,
  resumeFrom?: Checkpoint,
): Promise<void> {
  const { tf, settings, logs, inputs, train, signal } = session;
  const { graph, featurizer } = inputs;
  const { rules } = featurizer.parts;
  const fromClone = settings.ppo.init === 'clone';
  const clone = fromClone ? readClone(session) : undefined;
  const policy = createPolicy(tf, inputs, settings.seed);
  if (clone) policy.head.parameters.import(clone.tensors);
  const anchor = clone && settings.ppo.klCoef > 0 ? createPolicy(tf, inputs, settings.seed) : undefined;
  if (anchor) anchor.head.parameters.import(clone!.tensors);
  const adam = {
    epsilon: settings.ppo.adamEpsilon,
    ...(settings.ppo.maxGradNorm > 0 && { maxGradNorm: settings.ppo.maxGradNorm }),
  };
  const critic =
    settings.ppo.baseline === 'critic'
      ? createCritic(tf, inputs.tables, featurizer.contextDim, settings.walker.width, settings.seed)
      : undefined;
  const trainee: Trainee = {
    policy,
    optimizer: new AdamW(policy.head.parameters, adam),
    critic: critic && { network: critic, optimizer: new AdamW(critic.parameters, adam) },
  };
  if (resumeFrom) restoreTrainee(session, trainee, resumeFrom.header, resumeFrom.tensors);
  const startUpdate = resumeFrom?.header.step ?? 0;
  let patience = (resumeFrom?.header.trainer.patience as unknown as Patience | undefined) ?? {
    best: -1,
    evaluationsWithoutGain: 0,
  };
  const shaping = settings.env.shaping === 'transe' ? transe! : undefined;
  const envs = makeVectorEnv(
    // Ids of a user's own environment are not known to the types; `checkTrainSettings` has looked it up.
    settings.env.id as typeof dialogueWalkId,
    {
      graph,
      samples: train,
      rules,
      reward: settings.env.reward,
      gamma: settings.ppo.gamma,
      ...(shaping && { potential: embeddingPotential(shaping.entities, shaping.dim) }),
    },
    settings.ppo.samplesPerUpdate * settings.ppo.explorations,
  );
  const walkable = Int32Array.from(train.keys()).filter((i) => !initialState(graph, train[i]!.task.start, rules).done);
  const line = session.progress('ppo', settings.ppo.updates, 'updates');
  let done = startUpdate;
  let saved = startUpdate;
  const save = async (metrics: Record<string, number> = {}, interim = false) => {
    await saveTrainee(session, trainee, {
      phase: 'ppo',
      step: done,
      epoch: 0,
      metrics,
      state: { patience: { ...patience } },
      interim,
    });
    saved = done;
  };
  const evaluatesAt = (update: number) => update === settings.ppo.updates || update % settings.ppo.evalEvery === 0;
  const evaluate = async () => {
    const figures = await evaluateOnValid(session, policy);
    logs.metrics('ppo', done, figures);
    const path1 = figures[bestMetric]!;
    patience =
      path1 > patience.best
        ? { best: path1, evaluationsWithoutGain: 0 }
        : { ...patience, evaluationsWithoutGain: patience.evaluationsWithoutGain + 1 };
    await save(figures);
  };
  const givesUp = () => settings.ppo.patience !== null && patience.evaluationsWithoutGain >= settings.ppo.patience;
  const onUpdate = async ({ update, steps, metrics }: PpoUpdate): Promise<boolean> => {
    done = update;
    logs.metrics('ppo', update, metrics);
    line.update(
      update,
      `reward ${metrics['rollout/reward']!.toFixed(3)} · kl ${metrics['train/anchor_kl']!.toFixed(3)}`,
    );
    logs.timing('ppo', update, { 'time/env_steps': steps });
    if (evaluatesAt(update)) await evaluate();
    else if (update % settings.checkpoint.everyUpdates === 0) await save();
    return givesUp();
  };
  try {
    // A run that was stopped in an evaluation owes it.
    if (resumeFrom && evaluatesAt(done) && !(bestMetric in resumeFrom.header.metrics)) await evaluate();
    const { optimizer } = trainee;
    const shared = { optimizer, settings: settings.ppo, seed: settings.seed, startUpdate, signal, onUpdate };
    if (givesUp()) return;
    if (settings.ppo.gradient === 'exact') {
      await expectedReward({ ...shared, policy, anchor, walks: goldWalks(train, graph, rules) });
    } else {
      await ppo({
        ...shared,
        actor: walkerActor(policy),
        anchor: anchor && walkerActor(anchor),
        critic: trainee.critic && {
          network: walkerValues(trainee.critic.network, featurizer),
          optimizer: trainee.critic.optimizer,
        },
        envs,
        walkable,
      });
    }
    line.finish();
  } catch (error) {
    if (error instanceof WorkbenchError && error.code === 'stopped' && done > saved) await save({}, true);
    throw error;
  } finally {
    envs.close();
    anchor?.head.dispose();
    trainee.optimizer.dispose();
    trainee.critic?.optimizer.dispose();
    critic?.dispose();
    policy.head.dispose();
  }
}

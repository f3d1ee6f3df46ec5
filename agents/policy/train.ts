/** Training of a policy over vectors: PPO in any environment, and the best by its return on episodes that are always the same. */
import { z } from 'zod';
import { type MakePolicy, mlpPolicy, normalizerOf, type PolicyNetworks } from './policy.js';
import { episodeSeeds, playEpisodes, policyChooser } from './play.js';
import type { PolicyShape, VectorObservation } from './spaces.js';
import type { Executor } from '../../src/nn/executor.js';
import { anyFunction, checkGiven } from '../../src/run/read-json.js';
import { firstWeights, openActorCritic, ppoPhase } from '../../trainers/ppo-phase.js';
import { groupBaselines, type PpoSettings } from '../../trainers/ppo-settings.js';
import { PpoTrainer } from '../../trainers/ppo.js';
import type { TrainingPhase } from '../../trainers/phase.js';
import type { Session } from '../../trainers/session.js';
import type { TrainingRun } from '../../trainers/task-trainer.js';
import type { Method } from '../method.js';
import { type LoadedPolicy, loadPolicies, policyMembers, policyOf, type PolicyOptions, policySize } from './agent.js';
import { StepRollout } from './step-rollout.js';
import type { TrainSettings } from '../train-settings.js';
import { type EnvSource, type OwnParts, registeredSource, shapeOf, sourceHash } from './source.js';

/** Policy over vectors, trained by PPO in any environment that shows them. */
export const policyMethod: Method<OwnParts, PolicyOptions, LoadedPolicy> = {
  reads: ['policy'],
  options: ['backend'],
  forkPhase: () => 'ppo',
  meaning: ({ policy }: TrainSettings) => ({
    policy: policy && { hidden: policy.hidden, normalizeObservation: policy.normalizeObservation },
  }),
  problems,
  networkSize: (settings: TrainSettings) => policySize(policyOf(settings)),
  open: openRun,
  load: loadPolicies,
};

function openRun(settings: TrainSettings, own: OwnParts): TrainingRun {
  const source = own.source ?? registeredSource(settings.env);
  const shape = shapeOf(source);
  const { totalSteps, numEnvs } = policyOf(settings);
  let networks: PolicyNetworks | undefined;
  const actions = `${shape.numActions} actions${shape.masked ? ', with masks' : ''}`;
  return {
    readsTexts: false,
    hashes: { dataset: sourceHash(settings.env, shape) },
    notes: [`${source.id}: vectors of ${shape.inputs} numbers, ${actions}; ${totalSteps} steps in ${numEnvs} copies`],
    prepare: (executor) => void (networks = networksOf(own.policy, shape, settings, executor)),
    phases: (session) =>
      Promise.resolve({
        phases: [{ name: 'ppo', open: () => policyPpo(session, settings, { source, shape, networks: networks! }) }],
      }),
  };
}

/** The settings of PPO with as many rounds as the steps that are asked for take. */
function roundsOf(settings: Pick<TrainSettings, 'ppo' | 'policy'>): PpoSettings {
  const { totalSteps, numEnvs, numSteps } = policyOf(settings);
  return { ...settings.ppo, updates: Math.ceil(totalSteps / (numEnvs * numSteps)) };
}

/** Contradictions, one line each. */
function problems({ env, policy, clone, transe, bilinear, ppo }: TrainSettings): string[] {
  if (policy === undefined) {
    return [
      `expected a section policy with env.id=${env.id}, which shows vectors, got none; kgwalk train policy --set env.id=${env.id} has it, or extends: policy in a settings file`,
    ];
  }
  const problems: string[] = [];
  const wanted = (ok: boolean, expected: string, got: unknown) => {
    if (!ok) problems.push(`expected ${expected} with env.id=${env.id}, which shows vectors, got ${String(got)}`);
  };
  wanted(!clone.enabled, 'clone.enabled=false', clone.enabled);
  wanted(!transe.enabled && !bilinear.enabled, 'transe.enabled=false and bilinear.enabled=false', 'true');
  wanted(ppo.enabled, 'ppo.enabled=true', ppo.enabled);
  wanted(ppo.gradient === 'sampled', 'ppo.gradient=sampled', ppo.gradient);
  wanted(ppo.algorithm === 'ppo', 'ppo.algorithm=ppo', ppo.algorithm);
  wanted(!groupBaselines.includes(ppo.baseline), 'ppo.baseline=critic, moving-average or none', ppo.baseline);
  wanted(ppo.trainHorizon === null, 'ppo.trainHorizon=null', ppo.trainHorizon);
  return problems;
}

/** The networks of a run. @throws WorkbenchError `config` for parts that are missing */
function networksOf(
  make: MakePolicy | undefined,
  shape: PolicyShape,
  settings: TrainSettings,
  executor: Executor,
): PolicyNetworks {
  const networks = (make ?? mlpPolicy(policyOf(settings)))(shape, settings.seed, executor);
  const wanted = settings.ppo.baseline === 'critic' ? withCritic : policyMembers;
  checkGiven(networks, wanted, 'networks of a policy with ppo.baseline=' + settings.ppo.baseline, 'policy');
  return networks;
}

const withCritic = policyMembers.extend({ critic: z.object({ values: anyFunction }) });

function policyPpo(
  session: Session,
  settings: TrainSettings,
  { source, shape, networks }: { source: EnvSource; shape: PolicyShape; networks: PolicyNetworks },
): TrainingPhase {
  const { seed } = settings;
  const { signal } = session;
  const policy = policyOf(settings);
  const rounds = roundsOf(settings);
  const { actor, critic } = networks;
  const normalizer = normalizerOf(shape, policy, rounds.gamma);
  const envs = Array.from({ length: policy.numEnvs }, () => source.make());
  const { numSteps, minibatchSize } = policy;
  const rollout = new StepRollout({ envs, shape, numSteps, minibatchSize, normalizer, seed, onNote: session.note });
  const { networks: trained, close } = openActorCritic(
    actor,
    rounds.baseline === 'critic' ? critic : undefined,
    rounds,
  );
  const choose = policyChooser<unknown>(actor, normalizer);
  return ppoPhase(session, {
    trainer: new PpoTrainer<VectorObservation, unknown>({
      ...trained,
      settings: rounds,
      seed,
      collect: rollout.collect(),
    }),
    trainState: { ...trained, extra: rollout },
    settings: rounds,
    start: firstWeights(session),
    lowestFigure: -Number.MAX_VALUE,
    progressText: (figures) =>
      `return ${figures['rollout/reward']!.toFixed(2)} · kl ${figures['train/approx_kl']!.toFixed(4)}`,
    async evaluate() {
      const line = session.progress('evaluate', policy.evalEpisodes, 'episodes');
      let done = 0;
      const onEpisode = () => line.update(++done);
      const seeds = episodeSeeds('valid', policy.evalEpisodes);
      const played = await playEpisodes(() => source.make(), choose, { seeds, signal, onEpisode });
      const mean = (of: 'return' | 'length') => played.reduce((sum, one) => sum + one[of] / played.length, 0);
      line.finish(`return ${mean('return').toFixed(2)}`);
      return { 'eval/return': mean('return'), 'eval/length': mean('length') };
    },
    close() {
      for (const env of envs) env.close();
      close();
      if (!trained.critic) critic?.dispose();
    },
  });
}

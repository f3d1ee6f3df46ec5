/** Training of a policy over vectors: PPO in any environment, and the best by its return on episodes that are always the same. */
import { z } from 'zod';
import { type MakePolicy, mlpPolicy, normalizerOf, type PolicyNetworks } from '../../agents/policy/policy.js';
import { playEpisodes, policyChooser } from '../../agents/policy/play.js';
import { type PolicySettings, policySettings } from '../../agents/policy/spaces.js';
import type { PolicyShape, VectorObservation } from '../../agents/policy/spaces.js';
import type { Executor } from '../../src/nn/executor.js';
import type { NetworkSize } from '../../src/nn/open-executor.js';
import { anyFunction, checkGiven } from '../../src/run/read-json.js';
import { subSeed } from '../../src/run/seeds.js';
import { firstWeights, openActorCritic, ppoPhase } from '../../trainers/ppo-phase.js';
import type { PpoSettings } from '../../trainers/ppo-settings.js';
import { PpoTrainer } from '../../trainers/ppo.js';
import type { TrainingPhase } from '../../trainers/phase.js';
import type { Session } from '../../trainers/session.js';
import type { TaskTrainer } from '../../trainers/task-trainer.js';
import { StepRollout } from '../../trainers/step-rollout.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { type EnvSource, type OwnParts, registeredSource, shapeOf, sourceHash } from './source.js';

/** Training of policies over vectors. @param own networks and environments of a program, instead of those of the settings */
export function episodesTrainer(own: OwnParts = {}): TaskTrainer {
  return {
    ...(own.source && { ownEnvId: own.source.id }),
    forkPhase: 'ppo',
    problems: policyProblems,
    networkSize: (settings) => policySize(policyOf(settings)),
    open(settings) {
      const source = own.source ?? registeredSource(settings.env);
      const shape = shapeOf(source);
      const { totalSteps, numEnvs } = policyOf(settings);
      let networks: PolicyNetworks | undefined;
      const actions = `${shape.numActions} actions${shape.masked ? ', with masks' : ''}`;
      return Promise.resolve({
        readsTexts: false,
        hashes: { dataset: sourceHash(settings.env, shape) },
        notes: [
          `${source.id}: vectors of ${shape.inputs} numbers, ${actions}; ${totalSteps} steps in ${numEnvs} copies`,
        ],
        prepare: (executor) => void (networks = networksOf(own.policy, shape, settings, executor)),
        phases: (session) =>
          Promise.resolve({
            phases: [{ name: 'ppo', open: () => policyPpo(session, { source, shape, networks: networks! }) }],
          }),
      });
    },
  };
}

export const policyOf = ({ policy }: Pick<TrainSettings, 'policy'>): PolicySettings =>
  policy ?? policySettings.parse({});

/** Below the size where `auto` takes a GPU: each step of the environments would wait for it. */
export function policySize({ hidden, minibatchSize }: PolicySettings): NetworkSize {
  const [inputs = 1, units = 1] = [...hidden].sort((a, b) => b - a);
  return { rows: Math.min(minibatchSize, Math.floor(9e7 / (inputs * units))), inputs, units };
}

/** The settings of PPO with as many rounds as the steps that are asked for take. */
function roundsOf(settings: Pick<TrainSettings, 'ppo' | 'policy'>): PpoSettings {
  const { totalSteps, numEnvs, numSteps } = policyOf(settings);
  return { ...settings.ppo, updates: Math.ceil(totalSteps / (numEnvs * numSteps)) };
}

/** One line a contradiction. */
function policyProblems({ env, policy, clone, transe, bilinear, ppo }: TrainSettings): string[] {
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
  wanted(ppo.baseline !== 'group-mean', 'ppo.baseline=critic, moving-average or none', ppo.baseline);
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

/** A policy with its actor alone. */
export const policyMembers = z.object({
  actor: z.object({ requestOf: anyFunction, numScores: anyFunction, score: anyFunction }),
});
const withCritic = policyMembers.extend({ critic: z.object({ values: anyFunction }) });

function policyPpo(
  session: Session,
  { source, shape, networks }: { source: EnvSource; shape: PolicyShape; networks: PolicyNetworks },
): TrainingPhase {
  const { settings, signal } = session;
  const { seed } = settings;
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
  const choose = policyChooser<unknown>(actor, { normalizer });
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

/** Seeds of the episodes of a split: the first of more are those of fewer. `valid` chooses the best; `test` is never trained by. */
export function episodeSeeds(split: string, count: number, seed = 0): number[] {
  return Array.from({ length: count }, (_, i) => subSeed(seed, `episodes/${split}`, i) >>> 0);
}

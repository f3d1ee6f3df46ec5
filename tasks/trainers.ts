/** `kgwalk/trainers`: PPO in a custom environment, whole training runs, and each trainer by itself. @module kgwalk/trainers */
export type { ActOptions, GivenObservation } from '../agents/policy/act.js';
export { type LoadedPolicy, loadPolicy, type LoadPolicyOptions } from '../agents/policy/agent.js';
export type { TrainedPolicy, MakePolicy, PolicyNetworks } from '../agents/policy/policy.js';
export { type PolicySettings, policySettings } from '../agents/policy/spaces.js';
export type { PolicyShape, VectorObservation, VectorObservationEnv } from '../agents/policy/spaces.js';
export { calibratedProbability, type TripleProbability } from '../src/embedding/calibrated-probability.js';
export type { LinkScorer } from '../src/embedding/scorers.js';
export { bilinearSettings, type BilinearSettings } from '../agents/embeddings/bilinear/settings.js';
export { type CloneOptions, type CloneStep, CloneTrainer } from '../trainers/clone.js';
export { cloneSettings, type CloneSettings } from '../trainers/clone-settings.js';
export type { EpochReport } from '../agents/embeddings/epochs.js';
export { openLinkScorer, type OpenedScorer, type ScoredData } from '../agents/embeddings/link-scorers.js';
export { fitPhase } from '../trainers/phase.js';
export { forkSettings, type ForkSource } from '../trainers/fork.js';
export { greedyWalks, type GreedyOptions, type GreedyWalk } from '../trainers/greedy-walks.js';
export { type PpoOptions, PpoTrainer, type PpoUpdate } from '../trainers/ppo.js';
export type { ActorCritic } from '../trainers/ppo-step.js';
export { ppoSettings, type PpoSettings } from '../trainers/ppo-settings.js';
export { type Collect, wholeWalks } from '../trainers/rollout.js';
export type { Rollout } from '../trainers/rollout-buffer.js';
export { StepRollout, type StepRolloutOptions } from '../agents/policy/step-rollout.js';
export type { TrainingPhase } from '../trainers/phase.js';
export type { TrainingRun } from '../trainers/task-trainer.js';
export { trainRun, type TrainOptions } from '../trainers/train.js';
export { transeSettings, type TransESettings } from '../agents/embeddings/transe/settings.js';
export { trainTransE, type TransEOptions, type TransEResult } from '../agents/embeddings/transe/train-transe.js';
export {
  type EvaluatePolicyOptions,
  evaluatePolicy,
  type PolicyEvaluation,
  type PolicyTrainingSettings,
  type TrainedPolicyRun,
  trainPolicy,
  type TrainPolicyOptions,
} from './episodes/train-policy.js';

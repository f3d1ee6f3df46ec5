/**
 * `kgwalk/trainers`: PPO in a custom environment, whole training runs, and each trainer by itself.
 * @module kgwalk/trainers
 */
export type { TrainedPolicy, MakePolicy, PolicyNetworks } from '../agents/policy/policy.js';
export { type PolicySettings, policySettings } from '../agents/policy/spaces.js';
export type { PolicyShape, VectorObservation, VectorObservationEnv } from '../agents/policy/spaces.js';
export * from '../trainers/index.js';
export {
  type EvaluatePolicyOptions,
  evaluatePolicy,
  type PolicyEvaluation,
  type PolicyTrainingSettings,
  type TrainedPolicyRun,
  trainPolicy,
  type TrainPolicyOptions,
} from './episodes/train-policy.js';

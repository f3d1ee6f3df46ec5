/**
 * The public face of the environments: `import { makeEnv } from 'kgwalk/envs'`.
 * @module kgwalk/envs
 */
export { checkEnv, type CheckEnvOptions } from './check-env.js';
export { CartPole, cartPoleId, type CartPoleOptions } from './classic/cart-pole.js';
export { Grid, gridId, type GridOptions } from './classic/grid.js';
export { MaskedBandit, maskedBanditId, type MaskedBanditOptions } from './classic/masked-bandit.js';
export {
  DialogueWalkEnv,
  dialogueWalkId,
  type DialogueWalkObservation,
  type DialogueWalkOptions,
  dialogueWalkWorld,
  type DialogueWalkWorld,
} from './dialogue-walk/dialogue-walk-env.js';
export {
  InvalidAction,
  ResetNeeded,
  type Env,
  type EnvSpec,
  type ResetOptions,
  type ResetResult,
  type StepResult,
} from './env.js';
export {
  envIds,
  makeEnv,
  makeVectorEnv,
  registerEnv,
  type BatchFactory,
  type EnvFactory,
  type EnvTypes,
} from './registry.js';
export { frontierTrie, type FrontierNode, type FrontierTrie } from './relation-walk/frontier-trie.js';
export { LinkQueryBatch } from './link-query/link-query-batch.js';
export { LinkQueryEnv } from './link-query/link-query-env.js';
export {
  linkQueryId,
  type LinkQueryObservation,
  type LinkQueryOptions,
  linkQueryWorld,
  type LinkQueryWorld,
  type LinkShaping,
  type QueryVectors,
} from './link-query/world.js';
export {
  questionRoot,
  RelationWalkEnv,
  relationWalkId,
  type RelationWalkObservation,
  type RelationWalkOptions,
  relationWalkWorld,
  type RelationWalkWorld,
} from './relation-walk/relation-walk-env.js';
export {
  answerReward,
  applyRelation,
  defaultRelationRules,
  type FrontierScores,
  goldSet,
  type GoldSet,
  initialRelationState,
  relationActionMask,
  type RelationWalkRules,
  type RelationWalkState,
  scoreFrontier,
} from './relation-walk/rules.js';
export {
  actionOf,
  actionTriple,
  applyAction,
  defaultWalkRules,
  initialState,
  legalActions,
  mayStay,
  numActions,
  walkRulesOf,
  type WalkRules,
  type WalkState,
} from './dialogue-walk/rules.js';
export {
  box,
  dict,
  discrete,
  ids,
  masked,
  type MaskedVector,
  multiBinary,
  oneOf,
  sequence,
  type Space,
  type SpaceForm,
  text,
  vector,
  vectorLength,
} from './spaces.js';
export { renderStateText, type StateTextFields, verbalizePath } from './dialogue-walk/state-text.js';
export {
  VectorEnv,
  type Autoreset,
  type BatchedEnv,
  type ObservationColumns,
  type VectorReset,
  type VectorStep,
} from './vector-env.js';
export { type EpisodeStatistics, recordEpisodeStatistics } from './wrappers/episode-statistics.js';
export { normalized, Normalizer, type NormalizerOptions, type NormalizerState } from './wrappers/normalizer.js';
export { timeLimit } from './wrappers/time-limit.js';
export { walkGraph, type EdgeSelection, type WalkGraph } from './dialogue-walk/walk-graph.js';
export { hitsGold, registerReward, rewardKinds } from './dialogue-walk/hits.js';
export { embeddingPotential, shapingReward, type Potential } from './dialogue-walk/reward.js';

/** The public face of the environments: `import { makeEnv } from 'kgwalk/envs'`. */
export { checkEnv, type CheckEnvOptions } from './check-env.js';
export { DialogueWalkEnv } from './dialogue-walk-env.js';
export {
  dialogueWalkId,
  dialogueWalkWorld,
  type DialogueWalkObservation,
  type DialogueWalkOptions,
  type DialogueWalkWorld,
} from './dialogue-walk-world.js';
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
export {
  edgeWalkSample,
  questionEdgeWalkId,
  questionEdgeWalkWorld,
  type QuestionEdgeWalkOptions,
} from './question-edge-walk.js';
export { frontierTrie, type FrontierNode, type FrontierTrie } from './frontier-trie.js';
export { LinkQueryBatch } from './link-query-batch.js';
export { LinkQueryEnv } from './link-query-env.js';
export { type LinkShaping } from './link-query-reward.js';
export {
  linkQueryId,
  linkQueryWorld,
  type LinkQueryObservation,
  type LinkQueryOptions,
  type LinkQueryWorld,
  type LinkVectors,
} from './link-query-world.js';
export { RelationWalkEnv, relationWalkId } from './relation-walk-env.js';
export { answerReward, goldSet, scoreFrontier, type FrontierScores, type GoldSet } from './relation-walk-reward.js';
export {
  applyRelation,
  defaultRelationRules,
  initialRelationState,
  relationActionMask,
  type RelationWalkRules,
  type RelationWalkState,
} from './relation-walk-rules.js';
export {
  relationWalkWorld,
  questionRoot,
  type RelationWalkObservation,
  type RelationWalkOptions,
  type RelationWalkWorld,
} from './relation-walk-world.js';
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
} from './rules.js';
export { dict, discrete, ids, multiBinary, oneOf, sequence, text, vector, type Space } from './spaces.js';
export { verbalizePath, type StateTextFields } from './state-text/fields.js';
export { renderStateText } from './state-text/render.js';
export { VectorEnv, type Autoreset, type BatchedEnv, type VectorReset, type VectorStep } from './vector-env.js';
export { walkGraph, type EdgeSelection, type WalkGraph } from './walk-graph.js';
export { embeddingPotential, hitsGold, shapingReward, type Potential } from './walk-reward.js';

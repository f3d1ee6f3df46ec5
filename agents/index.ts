/** `kgwalk/agents`: the interface, agents by name, trained walkers, and the parts to build others from. */
export * from './agent.js';
export { chainAnswer, noAnswer } from './chain-answer.js';
export type { BaselineContext } from './baselines/baseline.js';
export { agentNames, createAgent, type AgentFactory, type AgentResources } from './registry.js';
export * from './top-paths.js';
export { loadWalkerRun, type LoadedWalker, type LoadWalkerOptions } from './walker/load-walker.js';
export type { ActionLogProbs, Actor, MaskedActions, ScoredActions, ValueNetwork } from './actor.js';
export { loadQuestionRun, type LoadQuestionRunOptions } from './load-question-run.js';
export type { LoadedQuestionWalker } from './trained-run.js';
export type { QuestionAgent, QuestionAnswer, QuestionSession, TraceEvent } from './question-agent.js';
export {
  createQuestionAgent,
  questionAgentNames,
  registerQuestionAgent,
  type QuestionAgentEntry,
  type QuestionAgentResources,
} from './question-registry.js';
export { linkBeams, type BeamActor, type BeamOptions, type ReachedEntities } from './link-walker/beam.js';
export { loadLinkWalker, type LoadedLinkWalker, type LoadLinkWalkerOptions } from './link-walker/load-link-walker.js';
export { type LinkRequest } from './link-walker/request.js';
export { createVectorWalker, type VectorWalker, type VectorWalkerOptions } from './vector-walker/vector-walker.js';

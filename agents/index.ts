/** `kgwalk/agents`: the interface, agents by name, trained walkers, and the parts to build others from. @module kgwalk/agents */
export * from './agent.js';
export {
  chainAnswer,
  noAnswer,
  type QuestionAgent,
  type QuestionAgentEntry,
  type QuestionAgentResources,
  type QuestionAnswer,
  type QuestionSession,
  type TraceEvent,
} from './question-agent.js';
export type { BaselineContext } from './baselines/baseline.js';
export { AgentRegistry, type AgentEntry } from './registry.js';
export { dialogueAgents, type DialogueAgentResources } from './dialogue-agents.js';
export {
  type AskableWalker,
  loadQuestionRun,
  type LoadQuestionRunOptions,
  questionAgents,
  registerQuestionAgent,
} from './question-agents.js';
export { type LinkAgent, type LinkAgentResources, linkAgents } from './link-agents.js';
export { type LinkRanker, type RankedQuestion, scorerRanker, type TailScorer, walkRanker } from './link-ranker.js';
export * from './top-paths.js';
export { loadWalkerRun, type LoadedWalker, type LoadWalkerOptions } from './dialogue-walker/load-walker.js';
export type { ActionLogProbs, Actor, MaskedActions, ScoredActions, ValueNetwork } from '../trainers/actor.js';
export { type LoadedQuestionWalker, loadQuestionWalker, type QuestionOptions } from './trained-run.js';
export { type Method, MethodRegistry, type RunCheckpoint } from './method.js';
export { linkBeams, type BeamActor, type BeamOptions, type ReachedEntities } from './path-walker/beam.js';
export { loadLinkWalker, type LoadedLinkWalker, type LoadLinkWalkerOptions } from './path-walker/agent.js';
export { type LinkRequest } from './path-walker/request.js';

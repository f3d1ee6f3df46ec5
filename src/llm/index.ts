/**
 * `kgwalk/llm`: language models, the decisions that agents ask of them, and the client that counts, limits and remembers.
 * @module kgwalk/llm
 */
export type { CallTiming } from './client/ask-model.js';
export {
  type CallRecord,
  type CallTotals,
  type Clients,
  type ClientSettings,
  createClients,
  type QuestionClient,
} from './client/create-clients.js';
export { type CompletionStore, type ModelCard, openCompletionStore, replayModel } from './client/completion-store.js';
export { BudgetSpent, type Decided, type DecisionClient, type ParseStage } from './decision.js';
export type * from './decision.js';
export type { Completion, CompletionRequest, LanguageModel, ReplyFormat, Sampling } from './language-model.js';
export type { LlamaModelOptions } from './llama-options.js';
export { openLanguageModel, type OpenModelOptions } from './model-files.js';
export type { ServerModelOptions } from './server-model.js';

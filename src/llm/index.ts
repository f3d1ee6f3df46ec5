/** `kgwalk/llm`: language models, the decisions that agents ask of them, and the client that counts, limits and remembers. */
export type { CallTiming } from './client/ask-model.js';
export type { CallRecord, CallTotals } from './client/call-ledger.js';
export { openCompletionStore, type CompletionStore, type ModelCard } from './client/completion-store.js';
export { createClients, type Clients, type ClientSettings, type QuestionClient } from './client/create-clients.js';
export { replayModel } from './client/replay-model.js';
export { BudgetSpent, type Decided, type DecisionClient, type ParseStage } from './decision-client.js';
export type * from './decision.js';
export type { Completion, CompletionRequest, LanguageModel, ReplyFormat } from './language-model.js';
export type { LlamaModelOptions } from './llama-model.js';
export { openLanguageModel, type OpenModelOptions } from './open-model.js';
export type { ServerModelOptions } from './server-model.js';

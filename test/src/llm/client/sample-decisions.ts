/** Decisions and models for tests of the client. */
import { join } from 'node:path';
import type { CompletionStore } from '../../../../src/llm/client/completion-store.js';
import { type ClientSettings, createClients } from '../../../../src/llm/client/create-clients.js';
import type { AnswerDecision, Candidate, ChooseOneDecision, ScoreDecision } from '../../../../src/llm/decision.js';
import type { LanguageModel } from '../../../../src/llm/language-model.js';
import { scriptedModel } from '../../../fixtures/scripted-model.js';
import { folderWith } from '../../../fixtures/tiny-release.js';

export const storeFile = () => join(folderWith({}), 'completions.jsonl');
export const candidates = (...texts: string[]): Candidate[] => texts.map((text) => ({ kind: 'text', text }));
const shared = { questionId: 'q1', question: 'who?', task: 'Do it.', examples: [], evidence: [] };
export const choose: ChooseOneDecision = {
  ...shared,
  kind: 'choose-one',
  phase: 'pick',
  candidates: candidates('a', 'b', 'c'),
  allowNone: true,
};
export const answer: AnswerDecision = {
  ...shared,
  kind: 'answer',
  phase: 'answer',
  form: 'entities',
  withReasoning: false,
  final: true,
};
export const score: ScoreDecision = {
  ...shared,
  kind: 'score',
  phase: 'rate',
  candidates: candidates('a', 'b', 'c', 'd'),
};

export function clientsOf(model: LanguageModel, store: CompletionStore, more: Partial<ClientSettings> = {}) {
  return createClients({ model, store, budget: null, budgetMode: 'strict', seed: 7, ...more });
}

/** A model that chooses the second candidate and answers `x`. */
export const secondOrX = () =>
  scriptedModel(({ kind }) =>
    kind === 'choose-one' ? { choice: 1 } : kind === 'score' ? { scores: [1, 2] } : { answers: ['x'] },
  );

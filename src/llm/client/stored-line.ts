/** The lines of a store of completions, and their shapes: the file may have been changed by anybody. */
import { z } from 'zod';
import type { ErrorCode } from '../../run/errors.js';
import { exitCodes } from '../../run/errors.js';
import type { Dropped } from '../decisions/fit-to-context.js';
import type { Completion, CompletionRequest, LanguageModel } from '../language-model.js';

/** What a replay has to know of a model that is not there. */
export interface ModelCard extends Pick<LanguageModel, 'id' | 'name' | 'simulated' | 'constrained' | 'contextLength'> {
  /** Whether it has `scoreChoices`. */
  scoresChoices: boolean;
}

/** Why a model gave no reply, as its error says it. */
export interface StoredFailure {
  code: ErrorCode;
  message: string;
  hint?: string;
}

/** The shared beginning of prompts. */
export type PromptHead = Pick<CompletionRequest, 'system' | 'head'>;

/** One line, without its checksum. */
export type StoredLine =
  | ({ line: 'completion'; key: string; head: string; question: string; phase: string } & Completion)
  | ({ line: 'head'; key: string } & PromptHead)
  | { line: 'cut'; key: string; cut: Dropped }
  | ({ line: 'failure'; key: string } & StoredFailure)
  | ({ line: 'model' } & ModelCard);

const text = z.string();
const count = z.int().min(0);
const line = <Kind extends string>(kind: Kind) => ({ line: z.literal(kind) });

/** The shape of a line. */
export const storedLine: z.ZodType<StoredLine> = z.discriminatedUnion('line', [
  z.object({
    ...line('completion'),
    ...{ key: text, head: text, question: text, phase: text },
    text,
    promptTokens: count,
    cachedTokens: count,
    completionTokens: count,
    stop: z.enum(['end', 'length']),
    constrained: z.boolean().optional(),
  }),
  z.object({ ...line('head'), key: text, system: text, head: text }),
  z.object({
    ...line('cut'),
    key: text,
    cut: z.object({ history: count, examples: count, evidence: count, candidates: count }),
  }),
  z.object({
    ...line('failure'),
    key: text,
    code: z.enum(Object.keys(exitCodes) as ErrorCode[]),
    message: text,
    hint: text.optional(),
  }),
  z.object({
    ...line('model'),
    ...{ id: text, name: text, simulated: z.boolean(), constrained: z.boolean() },
    contextLength: z.number(),
    scoresChoices: z.boolean(),
  }),
]);

/** Interface of language models: text in, text out, with token counts. */
import type { Decision } from './decision.js';

/** Format of a reply. Models with constrained decoding enforce it; the parsing ladder reads all other replies. */
export interface ReplyFormat {
  /** JSON Schema of the reply, for servers. */
  jsonSchema: Readonly<Record<string, unknown>>;
  /** GBNF grammar with the rule `root`, for local models; it may say more than the schema. */
  gbnf: string;
}

/** One request. The prompt is `system`, then one user message `head + body`. */
export interface CompletionRequest {
  system: string;
  /** Shared part of all questions of a phase: task and examples. Its tokens are evaluated once and kept. */
  head: string;
  body: string;
  format?: ReplyFormat;
  maxTokens: number;
  temperature: number;
  /** Sampler seed; used when `temperature` > 0. */
  seed: number;
  /** Counts from 0; 1 is the re-ask after a reply that could not be read. */
  attempt: number;
  /** Decision behind the prompt. For simulated models only. */
  decision: Decision;
  signal?: AbortSignal | undefined;
}

/** Reply of a model, with token counts. */
export interface Completion {
  text: string;
  promptTokens: number;
  /** Prompt tokens that were not evaluated again. */
  cachedTokens: number;
  completionTokens: number;
  /** `length`: the reply was cut at `maxTokens`. */
  stop: 'end' | 'length';
  /** Constrained by `format`; absent: as `LanguageModel.constrained`. */
  constrained?: boolean;
  /** `thinking`: thoughts that ended before an answer; `without …`: lacks a part of the request that the server refuses. */
  remarks?: readonly string[] | undefined;
}

/** Token counts of a call. */
export type Usage = Pick<Completion, 'promptTokens' | 'cachedTokens' | 'completionTokens'>;

/** Sums over calls. */
export function sumUsage(calls: readonly Usage[]): Usage {
  const total: Usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  for (const { promptTokens, cachedTokens, completionTokens } of calls) {
    total.promptTokens += promptTokens;
    total.cachedTokens += cachedTokens;
    total.completionTokens += completionTokens;
  }
  return total;
}

/** Plain text whose continuations are scored: `head + body + text`, without a chat template. */
export interface ScoreRequest {
  /** Worked examples, the same for every question. Its tokens are evaluated once and kept. */
  head: string;
  /** Prompt, up to the label before the text. */
  body: string;
  /** Decision behind the prompt. For simulated models only. */
  decision: Decision;
  /**
   * For simulated models: index of each text into the offered items (candidates, allowed chains, paths or answers; of a
   * verdict 0 is yes), -1 for none.
   */
  meant: readonly number[];
  target?: number;
  signal?: AbortSignal | undefined;
}

/** Log-probabilities of texts. */
export interface TextScores {
  /** Natural logarithm of the probability of each text after the body, the sum over its tokens, float64 [texts]. */
  logProbs: Float64Array;
  /** Tokens of each text, at least 1, [texts]. */
  tokens: Int32Array;
  /**
   * Prompt tokens are those of head and body, once a list (of a server with every text), and of every text. Cached are
   * those not evaluated again: the head, and common beginnings of texts.
   */
  usage: Usage;
}

/** Sampling of a model's replies. */
export interface Sampling {
  /** Default 0: the likeliest tokens. */
  temperature?: number | undefined;
  /** Share of probability that nucleus sampling keeps; default 1, of servers their own. */
  topP?: number | undefined;
  /** Times that each sample is asked, with seeds of their own. Default 1. */
  repeats?: number | undefined;
}

/** Sampling settings as parts of the id and the name of a model: comparisons go by names. */
export const samplingNames = ({ temperature, topP }: Sampling): string[] => [
  ...(temperature === undefined ? [] : [`temperature-${temperature}`]),
  ...(topP === undefined ? [] : [`top-p-${topP}`]),
];

/** Completes prompts; dispose it after use. */
export interface LanguageModel extends Readonly<Pick<Sampling, 'temperature' | 'repeats'>> {
  /** Everything that replies depend on: file hash or server and model name, library version, mode. Part of stored keys. */
  readonly id: string;
  /** For people: file name, server model, `oracle:0.1`. */
  readonly name: string;
  /** Caveat for readers of results, such as approximate token counts. */
  readonly note?: string;
  /** A stand-in that knows the gold: its results are never mixed with real ones. */
  readonly simulated: boolean;
  /** True when decoding is constrained by `format`, so that an invalid name cannot be written. */
  readonly constrained: boolean;
  /** Tokens of prompt and reply together. */
  readonly contextLength: number;
  /** Least limit of tokens of a reply, for models that think before they answer; default by decision. */
  readonly maxTokens?: number | undefined;
  readonly concurrency: number;
  countTokens(text: string): number;
  /**
   * @throws WorkbenchError `stopped` when aborted, `data` for a prompt that does not fit, `failure` for a server that
   *   stays away after all retries
   */
  complete(request: CompletionRequest): Promise<Completion>;
  /**
   * Log-probability of each text as the continuation of plain text; absent for models that cannot compute it. Simulated
   * models give 0 to right ones and `simulatedPrior` to all others.
   * @throws as `complete`
   */
  scoreTexts?(request: ScoreRequest, texts: readonly string[]): Promise<TextScores>;
  /** Restores the cache state of earlier requests after a resume, so that token counts continue; `plain` heads are of scored texts. */
  prime?(requests: readonly (Pick<CompletionRequest, 'system' | 'head'> & { plain?: boolean })[]): Promise<void>;
  dispose(): Promise<void>;
}

/** The name of the tokenizer of models that do not count tokens themselves: it is recorded with every count. */
export const wordPieceTokenizer = 'word-pieces-4';

const piece = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|\p{L}{1,4}|\p{N}{1,3}|[^\s\p{L}\p{N}]/gu;

/**
 * Tokens of a text by a fixed rule: pieces of up to four letters or three digits, each ideograph and punctuation mark;
 * white space is free. Near the counts of real tokenizers on English.
 */
export function countWordPieces(text: string): number {
  let count = 0;
  for (piece.lastIndex = 0; piece.test(text);) count++;
  return count;
}

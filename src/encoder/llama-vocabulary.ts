/** What is known of a model's tokens: how texts become them, and how many of a text an input takes. */
import type { LlamaModel, Token } from 'node-llama-cpp';
import { openLlama } from '../llm/llama-library.js';
import { WorkbenchError } from '../run/errors.js';

/** Places of a context that the tokens of a text never take: one stays free, and two at most are for special tokens. */
export const reservedPlaces = 3;

/** The tokens of one model. */
export interface LlamaVocabulary {
  /** Without special tokens. */
  tokenize(text: string): Token[];
  /** Tokens that every input has beside its text's own. */
  special: number;
  /** Most tokens of a text that the model takes, beside the special ones. */
  most: number;
}

/** @param contextLength of the model, in tokens */
export function vocabularyOf(model: LlamaModel, contextLength: number): LlamaVocabulary {
  const special = specialTokens(model);
  // The library leaves one place of a context free.
  return { tokenize: (text) => model.tokenize(text), special, most: contextLength - 1 - special };
}

/**
 * The vocabulary alone, without the weights; dispose it after use.
 * @throws WorkbenchError `native` when the library is missing, `data` when it refuses the model
 */
export async function loadVocabulary(
  modelPath: string,
  contextLength: number,
): Promise<LlamaVocabulary & { dispose(): Promise<void> }> {
  const llama = await openLlama('off');
  const model = await llama.loadModel({ modelPath, vocabOnly: true }).catch((error: unknown) => {
    throw refused(error, modelPath);
  });
  return { ...vocabularyOf(model, contextLength), dispose: () => model.dispose() };
}

/** The error for what the library says of a model. */
export function refused(error: unknown, path: string): WorkbenchError {
  const message = error instanceof Error ? error.message : String(error);
  return new WorkbenchError('data', `expected a model that llama.cpp can load, got: ${message}, at ${path}`, {
    hint: 'Check that the installed node-llama-cpp knows this architecture and that there is memory for it.',
    cause: error,
  });
}

/** How many tokens the library puts around every input: word pieces have both ends always, others as the file says. */
function specialTokens({ vocabularyType, tokens }: LlamaModel): number {
  const kind: string = vocabularyType;
  if (kind === 'rwkv') return 0;
  const begin = kind === 'wpm' || (kind !== 'ugm' && tokens.shouldPrependBosToken) ? tokens.bos : null;
  const ends: Readonly<Record<string, Token | null>> = { wpm: tokens.sep, ugm: tokens.eos };
  const end = kind in ends ? ends[kind] : tokens.shouldAppendEosToken ? tokens.eos : null;
  return Number(begin !== null) + Number(end !== null);
}

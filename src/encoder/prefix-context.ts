/** A context that keeps the beginning of the last text evaluated for the next one, and the order of texts that suits it. */
import type { LlamaContextSequence, LlamaEmbeddingContext, Token } from 'node-llama-cpp';
import { semaphore } from '../run/concurrency.js';
import { commonLength, cutBack } from '../llm/llama/prefix-cache.js';
import { WorkbenchError } from '../run/errors.js';

export interface EncoderContext {
  /** The raw vector of a text's tokens; tokens evaluated (special ones included), and those that were there already. */
  encode(tokens: readonly Token[]): Promise<{ vector: ArrayLike<number>; evaluated: number; reused: number }>;
}

/**
 * Block size of evaluation: a token’s state depends, in its last bits, on its neighbours in the batch; on a fixed grid
 * it depends on the text alone.
 */
export const blockTokens = 16;

/** Internals of the library's embedding context: its only public function erases everything before each text. */
interface Insides {
  _sequence: LlamaContextSequence;
  _llamaContext: { _ctx: { getEmbedding(length: number): Float64Array } };
  /** Adds the special tokens of the model, in place. */
  _prepareInput(tokens: Token[]): void;
}

/**
 * The vectors are, bit for bit, those of the same context without anything held: whole blocks alone are reused.
 * @param context of a model whose tokens see only those before them, with a batch of `blockTokens`
 * @throws WorkbenchError `native` where the library has changed inside
 */
export function prefixContext(context: LlamaEmbeddingContext): EncoderContext {
  const insides = insidesOf(context);
  const { _sequence: sequence, _llamaContext: inner } = insides;
  const mutex = semaphore(1);
  /** Tokens in the sequence; empty while unknown. */
  let held: Token[] = [];

  async function evaluate(tokens: readonly Token[]) {
    const input = [...tokens];
    insides._prepareInput(input);
    if (input.length === 0) return { vector: [], evaluated: 0, reused: 0 };
    let reused = reusableTokens(held, input);
    held = [];
    if (reused === 0 || !(await cutBack(sequence, reused))) {
      await sequence.clearHistory();
      reused = 0;
    }
    for (let at = reused; at < input.length; at += blockTokens) {
      await sequence.evaluateWithoutGeneratingNewTokens(input.slice(at, at + blockTokens));
    }
    held = input;
    return { vector: inner._ctx.getEmbedding(input.length), evaluated: input.length - reused, reused };
  }

  return { encode: (tokens) => mutex(() => evaluate(tokens)) };
}

/** Tokens in whole blocks that both begin with; at least the last of `input` is left to evaluate. */
export function reusableTokens(held: readonly number[], input: readonly number[]): number {
  const shared = Math.min(commonLength(held, input), input.length - 1);
  return Math.max(0, shared - (shared % blockTokens));
}

function insidesOf(context: LlamaEmbeddingContext): Insides {
  const insides = context as unknown as Partial<Insides>;
  const { _sequence: sequence, _llamaContext: inner, _prepareInput: prepare } = insides;
  const known = [sequence?.evaluateWithoutGeneratingNewTokens, inner?._ctx?.getEmbedding, prepare];
  if (known.every((part) => typeof part === 'function')) return insides as Insides;
  const problem = 'expected a node-llama-cpp whose sequences can be kept, got one that differs inside';
  throw new WorkbenchError('native', problem, {
    hint: 'Install the version that package.json names, or set encoder.prefixReuse=off.',
  });
}

/** Places of `inputs` in the order of a walk through their trie: by the first token in which two differ, equal ones as they came. */
export function prefixOrder(inputs: readonly (readonly number[])[]): number[] {
  return inputs
    .map((_, index) => index)
    .sort((one, other) => {
      const [a, b] = [inputs[one]!, inputs[other]!];
      const at = commonLength(a, b);
      return (a[at] ?? -1) - (b[at] ?? -1) || one - other;
    });
}

/**
 * Cuts an order into pieces of about equal work, one a context: tokens that a text does not share with the one before.
 * @param order places of `inputs`, as `prefixOrder` gives them
 * @param count pieces, 1 or more; some are empty where there are fewer texts
 */
export function evenPieces(
  order: readonly number[],
  inputs: readonly (readonly number[])[],
  count: number,
): number[][] {
  const work = order.map((index, i) => {
    const input = inputs[index]!;
    return input.length - (i === 0 ? 0 : commonLength(inputs[order[i - 1]!]!, input));
  });
  const total = work.reduce((sum, tokens) => sum + tokens, 0);
  const pieces: number[][] = Array.from({ length: count }, () => []);
  let before = 0;
  order.forEach((index, i) => {
    // A text belongs where its middle falls, so that no piece is late by a whole text.
    const piece = Math.floor((count * (before + work[i]! / 2)) / Math.max(total, 1));
    pieces[Math.min(piece, count - 1)]!.push(index);
    before += work[i]!;
  });
  return pieces;
}

export interface Batch {
  /** Tokens of each text, without special ones. */
  tokens: readonly (readonly Token[])[];
  /** Reuse beginnings of texts, which are then sorted by them. */
  reuse: boolean;
  onVector(index: number, encoded: Awaited<ReturnType<EncoderContext['encode']>>): void;
  stopped(): boolean;
}

/**
 * Encodes until all is done, the signal aborts or a context fails; in the last case the others finish their text.
 * @throws what a context or `onVector` throws
 */
export async function encodeBatch(contexts: readonly EncoderContext[], batch: Batch): Promise<void> {
  const { tokens, reuse, onVector, stopped } = batch;
  // One queue that all take from, or with reuse a piece of the order for each.
  const shared = tokens.keys();
  const queues = reuse ? evenPieces(prefixOrder(tokens), tokens, contexts.length) : undefined;
  let failed = false;
  const ends = await Promise.allSettled(
    contexts.map(async (context, i) => {
      try {
        for (const index of queues?.[i] ?? shared) {
          onVector(index, await context.encode(tokens[index]!));
          if (failed || stopped()) break;
        }
      } catch (error) {
        failed = true;
        throw error;
      }
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

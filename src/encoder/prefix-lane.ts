/** A lane that keeps the beginning of the last text evaluated for the next one. */
import type { LlamaContextSequence, LlamaEmbeddingContext, Token } from 'node-llama-cpp';
import { cutBack } from '../llm/llama/prefix-cache.js';
import { semaphore } from '../llm/concurrency.js';
import { WorkbenchError } from '../run/errors.js';
import type { EncoderLane } from './llama-lanes.js';
import { sharedLength } from './prefix-order.js';

/**
 * Tokens that are evaluated together: 0 to 15, 16 to 31 and so on of every text, whatever is held. What a token's state is
 * depends, in its last bits, on its neighbours in the batch; on this fixed grid it depends on the text alone.
 */
export const blockTokens = 16;

/**
 * What the library's embedding context is made of. Its only public function erases everything before each text, so these are
 * used, and looked for before anything is encoded.
 */
interface Insides {
  _sequence: LlamaContextSequence;
  _llamaContext: { _ctx: { getEmbedding(length: number): Float64Array } };
  /** Adds the special tokens of the model, in place. */
  _prepareInput(tokens: Token[]): void;
}

/**
 * The vectors are, bit for bit, those of the same lane without anything held: whole blocks alone are reused.
 * @param context of a model whose tokens see only those before them, with a batch of `blockTokens`
 * @throws WorkbenchError `native` where the library has changed inside
 */
export function prefixLane(context: LlamaEmbeddingContext): EncoderLane {
  const { _sequence: sequence, _llamaContext: inner } = insidesOf(context);
  const mutex = semaphore(1);
  /** What the sequence holds; empty while that is not certain. */
  let held: Token[] = [];

  async function evaluate(tokens: readonly Token[]) {
    const input = [...tokens];
    (context as unknown as Insides)._prepareInput(input);
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
  const shared = Math.min(sharedLength(held, input), input.length - 1);
  return Math.max(0, shared - (shared % blockTokens));
}

function insidesOf(context: LlamaEmbeddingContext): Insides {
  const insides = context as unknown as Partial<Insides>;
  const { _sequence: sequence, _llamaContext: inner, _prepareInput: prepare } = insides;
  const known = [sequence?.evaluateWithoutGeneratingNewTokens, inner?._ctx?.getEmbedding, prepare];
  if (known.every((part) => typeof part === 'function')) return insides as Insides;
  throw new WorkbenchError(
    'native',
    'expected a node-llama-cpp whose sequences can be kept, got one that differs inside',
    {
      hint: 'Install the version that package.json names, or set encoder.prefixReuse=off.',
    },
  );
}

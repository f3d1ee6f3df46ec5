/** The KV-prefix cache: prompt heads stay evaluated, each in its own sequence; the least recently used is evicted. */
import type { LlamaContext, LlamaContextSequence, Token } from 'node-llama-cpp';
import { throwIfStopped } from '../../run/stop.js';

/** Tokens evaluated at once; between two such steps a request can be stopped. */
export const batchTokens = 512;

interface CachedPrefix {
  sequence: LlamaContextSequence;
  /** Tokens at the start of the sequence; undefined while unknown. */
  head: readonly Token[] | undefined;
  busy: boolean;
  used: number;
}

/** Sequences whose heads stay evaluated between requests. */
export type PrefixCache = ReturnType<typeof openPrefixCache>;

/** One sequence of the context for every head. At most as many uses at once as there are sequences. */
export function openPrefixCache(context: LlamaContext) {
  const unused = { head: undefined, busy: false, used: 0 };
  const places = Array.from({ length: context.totalSequences }, (): CachedPrefix => {
    return { sequence: context.getSequence(), ...unused };
  });
  let uses = 0;

  function choose(head: readonly Token[]): CachedPrefix {
    const idle = places.filter(({ busy }) => !busy);
    return idle.find((place) => sameTokens(place.head, head)) ?? idle.reduce((a, b) => (b.used < a.used ? b : a));
  }

  return {
    /**
     * Works on a sequence that holds exactly `head`, evaluated from empty in the same steps every time; additions are
     * erased before the next use. `cachedTokens` are all of the head or none.
     */
    async use<Result>(
      head: readonly Token[],
      signal: AbortSignal | undefined,
      work: (sequence: LlamaContextSequence, cachedTokens: number) => Promise<Result>,
    ): Promise<Result> {
      const place = choose(head);
      const { sequence } = place;
      place.busy = true;
      place.used = ++uses;
      try {
        let cached = head.length;
        if (!sameTokens(place.head, head) || !(await cutBack(sequence, head.length))) {
          place.head = undefined;
          cached = 0;
          await sequence.clearHistory();
          await evaluateInSteps(sequence, head, signal);
          // Models with a running state cannot cut back without it; for all others this does nothing.
          await sequence.takeCheckpoint();
          place.head = head;
        }
        return await work(sequence, cached);
      } finally {
        place.busy = false;
      }
    },
  };
}

/** Evaluates tokens in steps of `batchTokens`. @throws WorkbenchError `stopped` between two steps */
export async function evaluateInSteps(
  sequence: LlamaContextSequence,
  tokens: readonly Token[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let done = 0; done < tokens.length; done += batchTokens) {
    throwIfStopped(signal);
    await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(done, done + batchTokens));
  }
}

/** Erases what follows the first `length` tokens. False where the model's kind of state did not come back as it was. */
export async function cutBack(sequence: LlamaContextSequence, length: number): Promise<boolean> {
  if (sequence.nextTokenIndex > length) {
    await sequence.eraseContextTokenRanges([{ start: length, end: sequence.nextTokenIndex }]);
  }
  return sequence.nextTokenIndex === length;
}

/** Number of elements that two lists begin with alike. @param most looked at */
export function commonLength(
  a: ArrayLike<unknown>,
  b: ArrayLike<unknown>,
  most = Math.min(a.length, b.length),
): number {
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

function sameTokens(held: readonly Token[] | undefined, head: readonly Token[]): boolean {
  return held?.length === head.length && held.every((token, index) => token === head[index]);
}

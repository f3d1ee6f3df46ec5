/** Token-by-token generation, and log-probabilities of given texts. */
import type {
  ControlledEvaluateInputItem,
  ControlledEvaluateIndexOutput,
  LlamaContextSequence,
  LlamaGrammarEvaluationState,
  Token,
} from 'node-llama-cpp';
import { throwIfStopped } from '../../run/stop.js';
import type { Completion, CompletionRequest } from '../language-model.js';
import { batchTokens, commonLength, cutBack, evaluateInSteps } from './prefix-cache.js';

interface Generation {
  body: readonly Token[];
  request: Pick<CompletionRequest, 'maxTokens' | 'temperature' | 'seed' | 'signal'>;
  grammar: LlamaGrammarEvaluationState | undefined;
  /** Texts that end the reply; they are not part of it. */
  stops: readonly string[];
}

/**
 * Evaluates the body and writes the reply: the likeliest tokens at temperature 0, else sampled by the request’s seed.
 * @throws WorkbenchError `stopped`
 */
export async function generate(
  sequence: LlamaContextSequence,
  { body, request, grammar, stops }: Generation,
): Promise<Pick<Completion, 'text' | 'completionTokens' | 'stop'>> {
  const { model } = sequence;
  const lastStep = Math.floor((body.length - 1) / batchTokens) * batchTokens;
  await evaluateInSteps(sequence, body.slice(0, lastStep), request.signal);
  throwIfStopped(request.signal);

  const reply: Token[] = [];
  const text = () => model.detokenize(reply, false, body.slice(-8));
  const { temperature, seed } = request;
  const sampling = { temperature, seed: seed >>> 0, topK: 0, topP: 1, minP: 0, grammarEvaluationState: grammar };
  const tokens = sequence.evaluate(body.slice(lastStep), sampling);
  for await (const token of tokens) {
    throwIfStopped(request.signal);
    reply.push(token);
    if (!grammar && stops.length > 0) {
      const written = text();
      const end = Math.min(...stops.map((stop) => written.indexOf(stop)).filter((index) => index >= 0));
      if (end < Infinity) return { text: written.slice(0, end), completionTokens: reply.length, stop: 'end' };
    }
    if (reply.length >= request.maxTokens) return { text: text(), completionTokens: reply.length, stop: 'length' };
  }
  return { text: text(), completionTokens: reply.length, stop: 'end' };
}

/**
 * Log-probability of each continuation, summed over its last `lengths[i]` tokens. The body and common beginnings are
 * evaluated once.
 * @param continuations none empty
 * @throws WorkbenchError `stopped`, also between two continuations
 */
export async function scoreContinuations(
  sequence: LlamaContextSequence,
  body: readonly Token[],
  { continuations, lengths }: { continuations: readonly (readonly Token[])[]; lengths: readonly number[] },
  signal: AbortSignal | undefined,
): Promise<{ logProbs: Float64Array; /** Tokens of continuations that were not evaluated again. */ shared: number }> {
  const followers = followersOf(continuations);
  const lastStep = Math.floor((body.length - 1) / batchTokens) * batchTokens;
  await evaluateInSteps(sequence, body.slice(0, lastStep), signal);
  throwIfStopped(signal);
  const last = body.slice(lastStep);
  const prompt = await sequence.controlledEvaluate([...last.slice(0, -1), asked(last.at(-1)!, followers([]))]);

  const start = sequence.nextTokenIndex;
  const logProbs = new Float64Array(continuations.length);
  // What is evaluated behind the body, and what the model expects after each of its tokens, the body's own end first.
  let held: readonly Token[] = [];
  let outputs = [prompt[last.length - 1]];
  let shared = 0;
  const order = continuations.map((_, i) => i).sort((a, b) => compareTokens(continuations[a]!, continuations[b]!));
  for (const index of order) {
    throwIfStopped(signal);
    const tokens = continuations[index]!;
    const needed = tokens.slice(0, -1);
    const common = commonLength(held, needed);
    shared += common;
    if (common < needed.length) {
      if (common < held.length) await cutBack(sequence, start + common);
      const steps = needed.slice(common).map((token, i) => asked(token, followers(needed.slice(0, common + i + 1))));
      outputs = [...outputs.slice(0, common + 1), ...(await sequence.controlledEvaluate(steps))];
      held = needed;
    }
    for (let step = tokens.length - lengths[index]!; step < tokens.length; step++)
      logProbs[index]! += logProb(outputs[step], tokens[step]!);
  }
  return { logProbs, shared };
}

/** The tokens that follow a beginning in any of the continuations. */
function followersOf(continuations: readonly (readonly Token[])[]): (beginning: readonly Token[]) => Token[] {
  const following = new Map<string, Set<Token>>();
  for (const tokens of continuations) {
    for (let length = 0, key = ''; length < tokens.length; key += ` ${tokens[length++]!}`) {
      const known = following.get(key);
      if (known) known.add(tokens[length]!);
      else following.set(key, new Set([tokens[length]!]));
    }
  }
  return (beginning) => [...following.get(beginning.map((token) => ` ${token}`).join(''))!];
}

/** Those that begin alike stand together, the longer ones behind what they begin with. */
function compareTokens(a: readonly Token[], b: readonly Token[]): number {
  const at = commonLength(a, b);
  return (a[at] ?? -1) - (b[at] ?? -1);
}

/** A token to evaluate, with the logits of those that may follow and what it takes to normalise them. */
function asked(token: Token, followers: readonly Token[]): ControlledEvaluateInputItem {
  // `includeMax` of the library adds the maximum only where it is there already; `includeTop` always does.
  const logits = { filter: { tokens: followers, includeTop: 1 } };
  return [token, { generateNext: { logits, totalLogitWeight: true } }];
}

/** Highest logit of each output, cached: thousands of texts may share one output. */
const highestLogits = new WeakMap<ControlledEvaluateIndexOutput, number>();

function logProb(output: ControlledEvaluateIndexOutput | undefined, token: Token): number {
  const { logits, totalLogitWeight } = output!.next;
  let highest = highestLogits.get(output!);
  if (highest === undefined) {
    highest = -Infinity;
    for (const logit of logits!.values()) highest = Math.max(highest, logit);
    highestLogits.set(output!, highest);
  }
  return logits!.get(token)! - highest - Math.log(totalLogitWeight!);
}

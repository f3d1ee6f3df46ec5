/** A local GGUF model as a language model, through node-llama-cpp. */
import { basename } from 'node:path';
import type {
  Token,
  ControlledEvaluateInputItem,
  ControlledEvaluateIndexOutput,
  LlamaContextSequence,
  LlamaGrammarEvaluationState,
} from 'node-llama-cpp';
import { WorkbenchError } from '../run/errors.js';
import { hashedFile } from '../run/files.js';
import { throwIfStopped } from '../run/stop.js';
import {
  samplingNames,
  type LanguageModel,
  type ReplyFormat,
  type Completion,
  type CompletionRequest,
} from './language-model.js';
import { chatLayout, plainHead, plainTokens, type PromptTokens } from './llama/layouts.js';
import { readChatModelFile } from './gguf/model-facts.js';
import {
  batchTokens,
  type PrefixCache,
  openPrefixCache,
  commonLength,
  cutBack,
  evaluateInSteps,
} from './llama/prefix-cache.js';
import { llamaLibrary, llamaVersion, openLlama } from './llama-library.js';
import type { LlamaModelOptions } from './llama-options.js';
import { semaphore } from '../run/concurrency.js';

/** Contexts come in steps of this many tokens: llama.cpp rounds up to it anyway. */
const contextStep = 256;

/**
 * Opens a model file. With one sequence a completion depends on its request and on `id` alone: a head is always
 * evaluated from empty, a body right after its head. Flash attention is on: prompts of hundreds of tokens take two
 * thirds of the time with it.
 * @throws WorkbenchError `data` for a file that cannot serve or changes while it is used, `config` for too long a
 *   context, `native` without node-llama-cpp
 */
export async function openLlamaModel(modelPath: string, options: LlamaModelOptions = {}): Promise<LanguageModel> {
  const { gpu = 'off', gpuLayers, threads = 1, heads = 8, sequences = 1, maxTokens } = options;
  const { temperature, topP, repeats } = options;
  const { trainedContext } = await readChatModelFile(modelPath);
  const contextLength = options.contextLength ?? Math.min(4096, trainedContext);
  if (!Number.isInteger(contextLength) || contextLength < 64 || contextLength > trainedContext) {
    throw new WorkbenchError('config', `expected a context of 64 to ${trainedContext} tokens, got ${contextLength}`, {
      hint: `${basename(modelPath)} was trained with ${trainedContext} tokens of prompt and reply together.`,
    });
  }
  const file = await hashedFile(modelPath, options.fileHash);
  const adapter = options.adapter === undefined ? undefined : await hashedFile(options.adapter, options.fileHash);
  const library = await llamaLibrary();
  const llama = await openLlama(gpu);
  const model = await guarded(modelPath, () =>
    llama.loadModel({ modelPath, defaultContextFlashAttention: true, gpuLayers }),
  );
  await file.check();
  const layout = chatLayout(library, model);
  const mode = sequences === 1 ? 'exact' : `side-by-side-${sequences}`;
  const device = gpu === 'off' ? `cpu-${threads}` : `gpu-${gpuLayers ?? 'auto'}`;
  const sampling = [...samplingNames(options), ...(adapter ? [`adapter-${adapter.hash.slice(0, 8)}`] : [])];
  const inTurn = semaphore(sequences);
  /** The file is mapped rather than read: a reply counts only if the file did not change meanwhile. */
  const checked = <Result>(work: () => Promise<Result>) =>
    inTurn(async () => {
      const result = await work();
      await file.check();
      await adapter?.check();
      return result;
    });
  let opened: Promise<PrefixCache> | undefined;

  /** The context takes most of the memory, so it waits for the first request. */
  function open(): Promise<PrefixCache> {
    opened ??= guarded(modelPath, async () =>
      openPrefixCache(
        await model.createContext({
          contextSize: Math.ceil(contextLength / contextStep) * contextStep,
          sequences: heads + sequences - 1,
          batchSize: batchTokens,
          threads,
          ...(options.adapter !== undefined && { lora: { adapters: [{ filePath: options.adapter }] } }),
          // A sliding window would forget the head.
          swaFullCache: true,
          failedCreationRemedy: false,
        }),
      ),
    );
    opened.catch(() => (opened = undefined));
    return opened;
  }

  async function grammarState({ gbnf }: ReplyFormat) {
    const grammar = await llama.createGrammar({ grammar: gbnf }).catch((error: unknown) => {
      throw new Error(`llama.cpp refuses the grammar\n${gbnf}`, { cause: error });
    });
    return new library.LlamaGrammarEvaluationState({ model, grammar });
  }

  return {
    id: [
      ...['gguf', file.hash, layout.kind, `context-${contextLength}`, mode, device, ...sampling],
      `node-llama-cpp@${llamaVersion()}`,
    ].join(':'),
    name: sampling.length > 0 ? `${basename(modelPath)} (${sampling.join(', ')})` : basename(modelPath),
    ...(layout.kind === 'plain' && { note: 'the file has no chat template: prompts are laid out plainly' }),
    simulated: false,
    constrained: true,
    ...{ contextLength, maxTokens, temperature, repeats, concurrency: sequences },
    countTokens: (text) => model.tokenize(text).length,

    complete(request) {
      return checked(async () => {
        throwIfStopped(request.signal);
        const { head, body } = fitting(layout.tokens(request), request.maxTokens, contextLength);
        const grammar = request.format && (await grammarState(request.format));
        return (await open()).use(head, request.signal, async (sequence, cachedTokens) => {
          const written = await generate(sequence, { body, request, topP, grammar, stops: layout.stops });
          return { ...written, promptTokens: head.length + body.length, cachedTokens };
        });
      });
    },

    scoreTexts(request, texts) {
      return checked(async () => {
        throwIfStopped(request.signal);
        const tokens = plainTokens(model, request, texts);
        const longest = tokens.continuations.reduce((most, { length }) => Math.max(most, length), 0);
        const { head, body } = fitting(tokens, longest, contextLength);
        return (await open()).use(head, request.signal, async (sequence, cachedTokens) => {
          const { logProbs, shared } = await scoreContinuations(sequence, body, tokens, request.signal);
          const ends = tokens.continuations.reduce((sum, { length }) => sum + length, 0);
          const promptTokens = head.length + body.length + ends;
          const usage = { promptTokens, cachedTokens: cachedTokens + shared, completionTokens: 0 };
          return { logProbs, tokens: Int32Array.from(tokens.lengths), usage };
        });
      });
    },

    prime(requests) {
      return inTurn(async () => {
        // Only the order of last use matters, and only as many as there are places for.
        const latest = new Map<string, Token[]>();
        for (const { system, head, plain = false } of requests) {
          const tokens = plain ? plainHead(model, head) : layout.tokens({ system, head, body: '.' }).head;
          latest.delete(String(tokens));
          latest.set(String(tokens), tokens);
        }
        const places = [...latest.values()].slice(-(heads + sequences - 1));
        for (const tokens of places) await (await open()).use(tokens, undefined, () => Promise.resolve());
      });
    },

    dispose: () => model.dispose(),
  };
}

function fitting(prompt: PromptTokens, reply: number, contextLength: number): PromptTokens {
  const [head, body] = [prompt.head.length, prompt.body.length];
  if (head + body + reply <= contextLength) return prompt;
  throw new WorkbenchError(
    'data',
    `expected prompt and reply within ${contextLength} tokens, got ${head} of the task and its examples, ${body} of question, evidence and candidates, and ${reply} for the reply`,
    { hint: 'Give fewer examples, candidates or facts, or open the model with a longer context.' },
  );
}

async function guarded<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new WorkbenchError('data', `expected a model that llama.cpp can run, got: ${message}, at ${path}`, {
      hint: 'Check that the installed node-llama-cpp knows this architecture; where memory is short, take a shorter context or fewer heads.',
      cause: error,
    });
  }
}

interface Generation {
  body: readonly Token[];
  request: Pick<CompletionRequest, 'maxTokens' | 'temperature' | 'seed' | 'signal'>;
  /** See `Sampling`. */
  topP: number | undefined;
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
  { body, request, topP = 1, grammar, stops }: Generation,
): Promise<Pick<Completion, 'text' | 'completionTokens' | 'stop'>> {
  const { model } = sequence;
  const lastStep = Math.floor((body.length - 1) / batchTokens) * batchTokens;
  await evaluateInSteps(sequence, body.slice(0, lastStep), request.signal);
  throwIfStopped(request.signal);

  const reply: Token[] = [];
  const text = () => model.detokenize(reply, false, body.slice(-8));
  const { temperature, seed } = request;
  const sampling = { temperature, seed: seed >>> 0, topK: 0, topP, minP: 0, grammarEvaluationState: grammar };
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
 * Log-probability of each continuation, summed over its last `lengths[i]` tokens. The body and common beginnings are evaluated once.
 * @param continuations none empty
 * @throws WorkbenchError `stopped`, also between two continuations
 */
async function scoreContinuations(
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

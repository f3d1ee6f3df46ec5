/** A local GGUF model as a language model, through node-llama-cpp. */
import { basename } from 'node:path';
import type { Token } from 'node-llama-cpp';
import { WorkbenchError } from '../run/errors.js';
import { hashedFile } from '../run/files.js';
import { throwIfStopped } from '../run/stop.js';
import type { LanguageModel, ReplyFormat } from './language-model.js';
import { chatLayout, plainHead, plainTokens, type PromptTokens } from './llama/layouts.js';
import { readChatModelFile } from './gguf/model-facts.js';
import { generate, scoreContinuations } from './llama/generate.js';
import { batchTokens, type PrefixCache, openPrefixCache } from './llama/prefix-cache.js';
import { type LlamaDevice, llamaLibrary, llamaVersion, openLlama } from './llama-library.js';
import { semaphore } from '../run/concurrency.js';

/** Loading and compute options; defaults fit the machine. */
export interface LlamaModelOptions {
  /** Default `off`: the processor alone. */
  gpu?: LlamaDevice;
  /** Layers on the graphics card; default as many as fit. */
  gpuLayers?: number;
  /** Default 1: on two cores more was never faster and up to 100 times slower. */
  threads?: number;
  /** Tokens of prompt and reply; default 4096, or what the model was trained with where that is less. */
  contextLength?: number;
  /** See `LanguageModel.maxTokens`. */
  maxTokens?: number | undefined;
  /** Prompt heads kept evaluated, default 8: more than an agent has phases. Each costs memory for a whole context. */
  heads?: number;
  /** Requests side by side, default 1. With more, replies may differ in rare ties: batches are then shared. */
  sequences?: number;
  /** sha256 (hex) of a file, from a cache; default reads the whole file. */
  fileHash?: (path: string) => Promise<string>;
}

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
  const { trainedContext } = await readChatModelFile(modelPath);
  const contextLength = options.contextLength ?? Math.min(4096, trainedContext);
  if (!Number.isInteger(contextLength) || contextLength < 64 || contextLength > trainedContext) {
    throw new WorkbenchError('config', `expected a context of 64 to ${trainedContext} tokens, got ${contextLength}`, {
      hint: `${basename(modelPath)} was trained with ${trainedContext} tokens of prompt and reply together.`,
    });
  }
  const file = await hashedFile(modelPath, options.fileHash);
  const library = await llamaLibrary();
  const llama = await openLlama(gpu);
  const model = await guarded(modelPath, () =>
    llama.loadModel({ modelPath, defaultContextFlashAttention: true, gpuLayers }),
  );
  await file.check();
  const layout = chatLayout(library, model);
  const mode = sequences === 1 ? 'exact' : `side-by-side-${sequences}`;
  const device = gpu === 'off' ? `cpu-${threads}` : `gpu-${gpuLayers ?? 'auto'}`;
  const inTurn = semaphore(sequences);
  /** The file is mapped rather than read: a reply counts only if the file did not change meanwhile. */
  const checked = <Result>(work: () => Promise<Result>) =>
    inTurn(async () => {
      const result = await work();
      await file.check();
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
    id: `gguf:${file.hash}:${layout.kind}:context-${contextLength}:${mode}:${device}:node-llama-cpp@${llamaVersion()}`,
    name: basename(modelPath),
    ...(layout.kind === 'plain' && { note: 'the file has no chat template: prompts are laid out plainly' }),
    simulated: false,
    constrained: true,
    ...{ contextLength, maxTokens, concurrency: sequences },
    countTokens: (text) => model.tokenize(text).length,

    complete(request) {
      return checked(async () => {
        throwIfStopped(request.signal);
        const { head, body } = fitting(layout.tokens(request), request.maxTokens, contextLength);
        const grammar = request.format && (await grammarState(request.format));
        return (await open()).use(head, request.signal, async (sequence, cachedTokens) => {
          const written = await generate(sequence, { body, request, grammar, stops: layout.stops });
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

/**
 * Log-probabilities of texts from a server: `/completions` repeats each prompt with those of its tokens (`echo`,
 * `logprobs`). vLLM and OpenAI’s older API do; llama.cpp’s server, Ollama and TGI do not, and some answer with numbers
 * of the generated text: a trial at the start finds out.
 */
import { z } from 'zod';
import { WorkbenchError } from '../run/errors.js';
import { type LanguageModel, type ScoreRequest, sumUsage, type TextScores, type Usage } from './language-model.js';
import { commonLength } from './llama/prefix-cache.js';
import { ServerBusy } from './server-connection.js';

/** One request: prompts that are repeated with their log-probabilities. */
export interface EchoRequest {
  prompt: string | string[];
  /** 0 where the server writes nothing behind a prompt, 1 where it must. */
  maxTokens: 0 | 1;
  signal?: AbortSignal | undefined;
  /** The trial at the start: less patience. */
  probes?: boolean;
}

interface Server {
  /** @throws `RefusedScores` for a server that does not do this, WorkbenchError for what concerns all requests */
  echo: (request: EchoRequest) => Promise<unknown>;
  name: string;
  countTokens: (text: string) => number;
}

interface Echoed {
  tokens: readonly string[];
  /** null of the first, which nothing precedes. */
  logProbs: readonly (number | null)[];
}

/** UTF-16 units of all prompts of a request: what comes back is a hundred times as long. */
const longestBatch = 64_000;
const mostPrompts = 64;

class RefusedScores extends WorkbenchError {}

/** Error for a server that refuses to score; errors of long prompts and wrong keys are passed through. */
export function refusesToScore(name: string): (error?: WorkbenchError) => WorkbenchError {
  return (error) => {
    if (error?.code === 'data') return error;
    const got = error ? `"${error.message}"` : 'none';
    return new RefusedScores('config', `expected log-probabilities of a prompt, got ${got}, at ${name}`, {
      hint: 'Use --choices written, a local model, or a server that returns log-probabilities of prompts, such as vLLM. Scores are kept: the same command resumes.',
    });
  };
}

/**
 * Tries which form the server knows: a list of prompts without a token behind each, or single ones with one.
 * @throws WorkbenchError `config` for a server that returns no log-probabilities of prompts
 */
export async function serverScorer(server: Server): Promise<NonNullable<LanguageModel['scoreTexts']>> {
  for (const maxTokens of [0, 1] as const) {
    if (await gives(server, maxTokens)) return (request, texts) => scoreTexts(server, maxTokens, request, texts);
  }
  throw refusesToScore(server.name)();
}

const trial = ['One two three four five six', 'Seven eight nine ten eleven twelve'];

async function gives(server: Server, maxTokens: 0 | 1): Promise<boolean> {
  try {
    const { echoed } = await ask(server, trial, maxTokens, { probes: true });
    // Some servers fill up with zeros.
    return echoed.every(({ logProbs }) => logProbs.length > 2 && logProbs.some((one) => one !== null && one < -1e-6));
  } catch (error) {
    if (error instanceof RefusedScores) return false;
    // Given up over it, or too long though it is short; but of a server that is busy nothing is known.
    const breaksDown = error instanceof WorkbenchError && (error.code === 'failure' || error.code === 'data');
    if (breaksDown && !(error instanceof ServerBusy)) return false;
    throw error;
  }
}

/**
 * A text’s tokens are those by which both together differ from what is before alone: a tokenizer that joins the two is
 * scored as it reads. Compared token by token, since offsets of servers differ.
 */
async function scoreTexts(
  server: Server,
  maxTokens: 0 | 1,
  { head, body, signal }: ScoreRequest,
  texts: readonly string[],
): Promise<TextScores> {
  const before = head + body;
  const different = [...new Set(texts)];
  const prompts = [before, ...different.map((text) => before + text)];
  const { echoed, usage } = await ask(server, prompts, maxTokens, { signal });
  const [alone, ...whole] = echoed;
  const scores = new Map(different.map((text, i) => [text, behind(alone!, whole[i]!)]));
  return {
    logProbs: Float64Array.from(texts, (text) => scores.get(text)!.logProb),
    tokens: Int32Array.from(texts, (text) => scores.get(text)!.tokens),
    usage,
  };
}

function behind(before: Echoed, { tokens, logProbs }: Echoed): { logProb: number; tokens: number } {
  const shared = commonLength(before.tokens, tokens, Math.min(before.tokens.length, tokens.length - 1));
  // A text with nothing before it: its first token has no probability.
  const logProb = logProbs.slice(shared).reduce<number>((sum, one) => sum + (one ?? 0), 0);
  return { logProb, tokens: tokens.length - shared };
}

async function ask(
  server: Server,
  prompts: readonly string[],
  maxTokens: 0 | 1,
  options: Pick<EchoRequest, 'signal' | 'probes'>,
): Promise<{ echoed: Echoed[]; usage: Usage }> {
  const batches = maxTokens === 0 ? inBatches(prompts) : prompts.map((one) => [one]);
  const replies = await Promise.all(
    batches.map(async (batch) => {
      const prompt = maxTokens === 0 ? batch : batch[0]!;
      return readEcho(server, await server.echo({ prompt, maxTokens, ...options }), batch, maxTokens);
    }),
  );
  return { echoed: replies.flatMap(({ echoed }) => echoed), usage: sumUsage(replies.map(({ usage }) => usage)) };
}

function inBatches(prompts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let length = Infinity;
  for (const prompt of prompts) {
    length += prompt.length;
    if (length > longestBatch || batches.at(-1)!.length >= mostPrompts) {
      batches.push([]);
      ({ length } = prompt);
    }
    batches.at(-1)!.push(prompt);
  }
  return batches;
}

const count = z.int().min(0).nullish();
/** Tokens as a server counts them; it may leave out any. */
export const usageSchema = z
  .object({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
  })
  .nullish();
const logprobs = z.object({ tokens: z.array(z.string()), token_logprobs: z.array(z.number().nullable()) });
const replySchema = z.object({
  choices: z.array(z.object({ index: count, text: z.string(), logprobs })),
  usage: usageSchema,
});

/** @throws RefusedScores for what is no log-probability of every token of every prompt */
function readEcho(
  { name, countTokens }: Server,
  reply: unknown,
  prompts: readonly string[],
  maxTokens: 0 | 1,
): { echoed: Echoed[]; usage: Usage } {
  const parsed = replySchema.safeParse(reply);
  if (!parsed.success || parsed.data.choices.length !== prompts.length) throw refusesToScore(name)();
  const { choices, usage } = parsed.data;
  const ordered = choices.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
  const echoed = ordered.map(({ text, logprobs: { tokens, token_logprobs: values } }, i) => {
    // Tokens generated after the prompt are separated by the server's own count.
    const own = maxTokens === 0 ? tokens.length : (usage?.prompt_tokens ?? 0);
    const isWhole = maxTokens === 0 ? text === prompts[i] : text.startsWith(prompts[i]!) && own > 0;
    const isScored = tokens.length === values.length && own <= tokens.length && values.slice(1, own).every(isLogProb);
    if (!isWhole || !isScored) throw refusesToScore(name)();
    return { tokens: tokens.slice(0, own), logProbs: [null, ...values.slice(1, own)] };
  });
  return {
    echoed,
    usage: {
      promptTokens: usage?.prompt_tokens ?? prompts.reduce((sum, prompt) => sum + countTokens(prompt), 0),
      cachedTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      completionTokens: usage?.completion_tokens ?? maxTokens * prompts.length,
    },
  };
}

const isLogProb = (value: number | null): boolean => value !== null && value > -Infinity && value <= 1e-3;

/** Any OpenAI-compatible server as a language model, through the `openai` package. */
import type { OpenAI } from 'openai';
import { z } from 'zod';
import { WorkbenchError } from '../run/errors.js';
import { withoutKey } from '../run/secrets.js';
import {
  type Completion,
  type CompletionRequest,
  countWordPieces,
  type LanguageModel,
  wordPieceTokenizer,
} from './language-model.js';
import { type EchoRequest, refusesToScore, serverScorer } from './server-scores.js';
import {
  connectServer,
  type Limits,
  type OptionalPart,
  type ServerPatience,
  usualRetries,
  type Wants,
} from './server-connection.js';
import { semaphore } from './concurrency.js';

/** Which server and model, and how patient to be with it. */
export interface ServerModelOptions extends ServerPatience {
  /** Base URL of `/chat/completions`, often ending in `/v1`. */
  baseUrl: string;
  model: string;
  /** Tokens of prompt and reply, default 8192: servers do not report it. */
  contextLength?: number;
  concurrency?: number;
  /**
   * Score texts, through `/completions` with `echo` and `logprobs`; tried once at opening. Default false: no contact
   * before the first request.
   */
  scores?: boolean;
}

const completions: Wants = {
  what: 'a completion',
  server: 'a language-model server',
  model: 'a chat model',
  path: '/chat/completions',
  fits: 'a prompt',
  shorten: 'Give fewer examples, candidates or facts.',
};

type Body = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;

/**
 * Opens a server. One that refuses a JSON schema is asked without one from then on (once, where it has taken others),
 * and `constrained` turns false; so it does after a whole reply that is no JSON. The key goes to the server alone.
 * @throws WorkbenchError `usage` for a bad address, `config` for a bad key or a server that does not score texts though
 *   it has to, `native` without the `openai` package
 */
export async function openServerModel(options: ServerModelOptions): Promise<LanguageModel> {
  const { model, contextLength = 8192, concurrency = 4, scores = false } = options;
  const server = await connectServer({ ...options, wants: completions });
  const { name, key, client, patiently } = server;
  const retries = options.retries ?? usualRetries;
  const inTurn = semaphore(concurrency);
  const refused = new Set<OptionalPart>();
  let takesSchemas = false;
  let obeys = true;

  function bodyOf(request: CompletionRequest, left: ReadonlySet<OptionalPart>): { sent: Body; bound: boolean } {
    const { system, head, body, format, maxTokens, temperature } = request;
    const schema = format && !left.has('response_format') ? withinLimits(format.jsonSchema) : undefined;
    const sent: Body = {
      model,
      messages: [
        ...(system ? [{ role: 'system' as const, content: system }] : []),
        { role: 'user', content: head + body },
      ],
      temperature,
      [left.has('max_tokens') ? 'max_completion_tokens' : 'max_tokens']: maxTokens,
      ...(left.has('seed') ? {} : { seed: request.seed }),
      ...(schema && {
        response_format: { type: 'json_schema', json_schema: { name: 'reply', strict: true, schema: schema.schema } },
      }),
    };
    return { sent, bound: schema?.whole ?? false };
  }

  async function complete(request: CompletionRequest): Promise<Completion> {
    const left = new Set<OptionalPart>();
    let body = bodyOf(request, refused);
    const leaveOut = (part: OptionalPart) => {
      if (!(part in body.sent)) return false;
      // One schema of many may be too large or too deep; the others bind all the same.
      if (part === 'response_format' && takesSchemas) left.add(part);
      else refused.add(part);
      return true;
    };
    const ask = (limits: Limits) => {
      body = bodyOf(request, new Set([...refused, ...left]));
      return client.chat.completions.create(body.sent, limits);
    };
    const reply = await patiently(ask, { signal: request.signal, leaveOut });
    // From this reply alone: findings of concurrent requests must not affect it.
    const read = readCompletion(reply, request, name);
    // Replies are kept and shown, and some servers repeat what they were sent.
    const completion = { ...read, text: withoutKey(read.text, key), constrained: body.bound };
    if ('response_format' in body.sent) takesSchemas = true;
    if (request.format && completion.stop === 'end' && !isJson(completion.text)) obeys = false;
    return completion;
  }

  const echo = ({ prompt, maxTokens, signal, probes = false }: EchoRequest) =>
    inTurn(() =>
      patiently(
        (limits) =>
          client.completions.create(
            { model, prompt, max_tokens: maxTokens, temperature: 0, echo: true, logprobs: 1 },
            limits,
          ),
        { signal, refused: refusesToScore(name), ...(probes && { retries: Math.min(retries, 2) }) },
      ),
    );
  const scoreTexts = scores ? await serverScorer({ echo, name, countTokens: countWordPieces }) : undefined;

  return {
    // What does not fit is cut, so replies of another length are to other prompts.
    id: `server:${name}:context-${contextLength}`,
    name,
    note: `tokens that the server does not count are counted by ${wordPieceTokenizer}`,
    simulated: false,
    get constrained() {
      return obeys && !refused.has('response_format');
    },
    contextLength,
    concurrency,
    countTokens: countWordPieces,
    complete: (request) => inTurn(() => complete(request)),
    scoreTexts,
    dispose: () => Promise.resolve(),
  };
}

function readCompletion(reply: unknown, request: CompletionRequest, name: string): Completion {
  // A page of a web server comes as a string; other servers leave out what they do not count.
  const parsed = replySchema.safeParse(reply);
  if (!parsed.success) {
    throw new WorkbenchError('config', `expected a chat completion, got something else, at ${name}`, {
      hint: 'Check that the URL ends where `/chat/completions` begins, often in `/v1`.',
    });
  }
  const { choices, usage } = parsed.data;
  const [{ message, finish_reason: reason }] = choices;
  const text = message.content ?? message.refusal ?? '';
  return {
    text,
    promptTokens: usage?.prompt_tokens ?? countWordPieces(request.system + request.head + request.body),
    cachedTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    completionTokens: usage?.completion_tokens ?? countWordPieces(text),
    stop: reason === 'length' ? 'length' : 'end',
  };
}

const tokens = z.int().min(0).nullish();
const message = z.object({ content: z.string().nullish(), refusal: z.string().nullish() });
const details = z.object({ cached_tokens: tokens }).nullish();
const replySchema = z.object({
  choices: z.tuple([z.object({ message, finish_reason: z.string().nullish() })]).rest(z.unknown()),
  usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens, prompt_tokens_details: details }).nullish(),
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Most values of all enumerations of a schema; and characters of one with more than `freeValues` texts: OpenAI’s, the
 * narrowest.
 * @source https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas
 */
const mostValues = 1000;
const freeValues = 250;
const mostCharacters = 15_000;

type Schema = Readonly<Record<string, unknown>>;

/**
 * The schema without enumerations beyond the limits, the longest first, so that it is not refused.
 * @returns `whole`: nothing was left out
 */
export function withinLimits(schema: Schema): { schema: Schema; whole: boolean } {
  const all = enumsOf(schema);
  const left = new Set(all.filter(isTooLong));
  let values = all.reduce((sum, one) => sum + (left.has(one) ? 0 : one.length), 0);
  for (const one of all.toSorted((a, b) => b.length - a.length)) {
    if (values <= mostValues) break;
    if (left.has(one)) continue;
    left.add(one);
    values -= one.length;
  }
  return left.size === 0 ? { schema, whole: true } : { schema: without(schema, left) as Schema, whole: false };
}

function isTooLong(values: readonly unknown[]): boolean {
  const characters = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
  return values.length > freeValues && characters > mostCharacters;
}

function enumsOf(schema: unknown): (readonly unknown[])[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === 'enum' && Array.isArray(value) ? [value as unknown[]] : enumsOf(value),
  );
}

function without(schema: unknown, left: ReadonlySet<unknown>): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((one) => without(one, left));
  const kept = Object.entries(schema).filter(([, value]) => !left.has(value));
  return Object.fromEntries(kept.map(([key, value]) => [key, without(value, left)]));
}

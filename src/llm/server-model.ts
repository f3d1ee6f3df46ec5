/** Any OpenAI-compatible server as a language model. */
import { z } from 'zod';
import { WorkbenchError } from '../run/errors.js';
import { withoutKey } from '../run/secrets.js';
import {
  type Completion,
  type CompletionRequest,
  countWordPieces,
  type LanguageModel,
  type Sampling,
  samplingNames,
  wordPieceTokenizer,
} from './language-model.js';
import { type EchoRequest, refusesToScore, serverScorer, usageSchema } from './server-scores.js';
import {
  connectServer,
  type OptionalPart,
  type ServerPatience,
  ServerRefusal,
  usualRetries,
  type Wants,
} from './server-connection.js';
import { withoutThoughts } from './decisions/reply-values.js';
import { canonicalJson } from '../run/config-values.js';
import { realDelay } from '../run/requests.js';
import { type PaceLimits, serverPace } from './server-pace.js';

/** Which server and model, and how patient to be with it. */
export interface ServerModelOptions extends ServerPatience, Sampling, Partial<PaceLimits> {
  /** Base URL of `/chat/completions`, often ending in `/v1`. */
  baseUrl: string;
  model: string;
  /** Tokens of prompt and reply, default 8192: servers do not report it. */
  contextLength?: number;
  /** Least tokens that a reply may take; see `LanguageModel.maxTokens`. */
  maxTokens?: number | undefined;
  /** `off` asks the model not to think; default `auto`, as it does. */
  reasoning?: 'auto' | 'off' | undefined;
  /** Further fields of every request; they replace those of the same name. */
  extra?: Readonly<Record<string, unknown>> | undefined;
  /** Called once with a line for each part of requests that the server refuses and that is left out from then on. */
  note?: ((line: string) => void) | undefined;
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

/** Parts that a server may refuse, in words; `max_tokens` is renamed. */
const leftOut: Partial<Record<OptionalPart, string>> = {
  response_format: 'without a JSON schema',
  seed: 'without a seed',
  system: 'without a system role',
  temperature: 'without a temperature',
  top_p: 'without top_p',
  reasoning_effort: 'without reasoning_effort',
  chat_template_kwargs: 'without chat_template_kwargs',
};

/** Ways to ask for a reply without thoughts: OpenAI's, and that of servers of open models. */
const withoutThinking = { reasoning_effort: 'none', chat_template_kwargs: { enable_thinking: false } };

/**
 * Opens a server. A part that it refuses (JSON schema, seed, sampling, system role) is left out from then on, and completions have
 * it among their `remarks`; a schema only once, where the server has taken others. `constrained` turns false without a schema and
 * after a whole reply that is no JSON. The key goes to the server alone.
 * @throws WorkbenchError `usage` for a bad address, `config` for a bad key or a server that does not score texts though
 *   it has to
 */
export async function openServerModel(options: ServerModelOptions): Promise<LanguageModel> {
  const { model, contextLength = 8192, concurrency = 4, scores = false, maxTokens, note } = options;
  const { name, key, post } = connectServer({ ...options, wants: completions });
  const { temperature, repeats, reasoning, extra, rpm, tpm, delay = realDelay } = options;
  const settings = [
    ...samplingNames(options),
    ...(reasoning === 'off' ? ['reasoning-off'] : []),
    ...(extra ? [`extra-${withoutKey(canonicalJson(extra), key)}`] : []),
  ];
  const retries = options.retries ?? usualRetries;
  const { pace, inTurn, answered } = serverPace({ concurrency, rpm, tpm }, delay);
  const refused = new Set<OptionalPart>();
  let takesSchemas = false;
  let obeys = true;

  async function complete(request: CompletionRequest): Promise<Completion> {
    let left = new Set(refused);
    let body = bodyOf(options, request, left);
    const leaveOut = (part: OptionalPart) => {
      if (!(part === 'system' ? body.sent.messages.length > 1 : part in body.sent)) return false;
      left.add(part);
      // One schema of many may be too large or too deep; the others bind all the same.
      if (part === 'response_format' && takesSchemas) return true;
      if (!refused.has(part) && part in leftOut) note?.(`${name}: asked ${leftOut[part]}, which the server refuses`);
      refused.add(part);
      return true;
    };
    const nextBody = () => {
      left = new Set([...refused, ...left]);
      body = bodyOf(options, request, left);
      return body.sent;
    };
    const reply = await post('/chat/completions', nextBody, { signal: request.signal, leaveOut, pace });
    // From this reply alone: findings of concurrent requests must not affect it.
    const read = readCompletion(reply, request, name);
    answered(read.promptTokens + read.completionTokens);
    const remarks = [...read.remarks, ...[...left].flatMap((part) => leftOut[part] ?? []).sort()];
    // Replies are kept and shown, and some servers repeat what they were sent.
    const kept = { ...read, text: withoutKey(read.text, key), constrained: body.bound };
    const completion = { ...kept, remarks: remarks.length > 0 ? remarks : undefined };
    if ('response_format' in body.sent) takesSchemas = true;
    if (request.format && completion.stop === 'end' && !isJson(completion.text)) obeys = false;
    return completion;
  }

  const echo = ({ prompt, maxTokens, signal, probes = false }: EchoRequest) =>
    inTurn(() =>
      post('/completions', () => ({ model, prompt, max_tokens: maxTokens, temperature: 0, echo: true, logprobs: 1 }), {
        ...{ signal, pace },
        ...(probes && { retries: Math.min(retries, 2) }),
      }).then(
        (reply) => {
          answered([prompt].flat().reduce((sum, one) => sum + countWordPieces(one), 0));
          return reply;
        },
        (error: unknown) => {
          throw error instanceof ServerRefusal ? refusesToScore(name)(error) : error;
        },
      ),
    );
  const scoreTexts = scores ? await serverScorer({ echo, name, countTokens: countWordPieces }) : undefined;

  return {
    // What does not fit is cut, so replies of another length are to other prompts.
    id: [
      `server:${name}:context-${contextLength}`,
      ...(maxTokens === undefined ? [] : [`reply-${maxTokens}`]),
      ...settings,
    ].join(':'),
    // Models that answer otherwise have other names: comparisons go by them.
    name: settings.length > 0 ? `${name} (${settings.join(', ')})` : name,
    note: `tokens that the server does not count are counted by ${wordPieceTokenizer}`,
    simulated: false,
    get constrained() {
      return obeys && !refused.has('response_format');
    },
    ...{ contextLength, maxTokens, temperature, repeats, concurrency },
    countTokens: countWordPieces,
    complete: (request) => inTurn(() => complete(request)),
    scoreTexts,
    dispose: () => Promise.resolve(),
  };
}

/** The request as it is sent, without the parts left out; `bound`: a whole schema binds the reply. */
function bodyOf(
  { model, topP, reasoning, extra }: ServerModelOptions,
  request: CompletionRequest,
  left: ReadonlySet<OptionalPart>,
) {
  const { system, head, body, format, maxTokens: max, seed } = request;
  const schema = format && !left.has('response_format') ? withinLimits(format.jsonSchema) : undefined;
  const hasRole = system !== '' && !left.has('system');
  const content = hasRole || system === '' ? head + body : `${system}\n\n${head}${body}`;
  const parts = {
    temperature: request.temperature,
    ...(topP !== undefined && { top_p: topP }),
    ...(left.has('max_tokens') ? { max_completion_tokens: max } : { max_tokens: max }),
    seed,
    ...(reasoning === 'off' && withoutThinking),
    ...extra,
  };
  const sent = {
    model,
    messages: [...(hasRole ? [{ role: 'system', content: system }] : []), { role: 'user', content }],
    ...Object.fromEntries(Object.entries(parts).filter(([part]) => !left.has(part as OptionalPart))),
    ...(schema && {
      response_format: { type: 'json_schema', json_schema: { name: 'reply', strict: true, schema: schema.schema } },
    }),
  };
  return { sent, bound: schema?.whole ?? false };
}

function readCompletion(reply: unknown, request: CompletionRequest, name: string) {
  // A page of a web server comes as a string; other servers leave out what they do not count.
  const parsed = replySchema.safeParse(reply);
  if (!parsed.success) {
    throw new WorkbenchError('config', `expected a chat completion, got something else, at ${name}`, {
      hint: 'Check that the URL ends where `/chat/completions` begins, often in `/v1`.',
    });
  }
  const { choices, usage } = parsed.data;
  const [{ message, finish_reason: reason }] = choices;
  const parts = [message.content ?? message.refusal ?? ''].flat();
  const text = parts.join('');
  const hasThoughts = Boolean(message.reasoning_content ?? message.reasoning) || parts.includes(undefined);
  const stop = reason === 'length' ? ('length' as const) : ('end' as const);
  const isOpen = withoutThoughts(text) === undefined;
  return {
    text,
    promptTokens: usage?.prompt_tokens ?? countWordPieces(request.system + request.head + request.body),
    cachedTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    completionTokens: usage?.completion_tokens ?? countWordPieces(text),
    stop,
    remarks: isOpen || (hasThoughts && text.trim() === '') ? ['thinking'] : [],
  };
}

/** The text of a part of a reply; undefined for thoughts and what else is no text. */
const part = z
  .object({ type: z.string().default('text'), text: z.string().default('') })
  .transform(({ type, text }) => (type.endsWith('text') ? text : undefined));
const message = z.object({
  content: z.union([z.string(), z.array(z.union([z.string(), part]))]).nullish(),
  ...{ refusal: z.string().nullish(), reasoning_content: z.unknown().optional(), reasoning: z.unknown().optional() },
});
const replySchema = z.object({
  choices: z.tuple([z.object({ message, finish_reason: z.string().nullish() })]).rest(z.unknown()),
  usage: usageSchema,
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
 * Most values of all enumerations of a schema; and characters of one with more than `freeValues` texts: OpenAI’s, the narrowest.
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

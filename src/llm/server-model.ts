/** Any OpenAI-compatible server as a language model, through the `openai` package. */
import type { OpenAI } from 'openai';
import { z } from 'zod';
import { WorkbenchError } from '../run/errors.js';
import { serverKey, withoutKey } from '../run/secrets.js';
import { Rng } from '../run/seeds.js';
import { throwIfStopped } from '../run/stop.js';
import {
  type Completion,
  type CompletionRequest,
  countWordPieces,
  type LanguageModel,
  wordPieceTokenizer,
} from './language-model.js';
import { withinLimits } from './server-schema.js';
import { type EchoRequest, refusesToScore, serverScorer } from './server-scores.js';
import {
  backOff,
  boundedFetch,
  type Delay,
  type OptionalPart,
  realDelay,
  ServerBusy,
  troubleOf,
} from './server-trouble.js';
import { semaphore } from './concurrency.js';

/** Which server and model, and how patient to be with it. */
export interface ServerModelOptions {
  /** Where `/chat/completions` is, often ending in `/v1`. */
  baseUrl: string;
  /** The server's name of the model. */
  model: string;
  /** Tokens of prompt and reply, default 8192: servers do not tell. */
  contextLength?: number;
  /** Requests under way at once, default 4. */
  concurrency?: number;
  /** Further tries after a failure that may pass, default 6. */
  retries?: number;
  /** Milliseconds for one try, from request to the reply's last byte; default 300 000. */
  timeoutMs?: number;
  /**
   * Whether texts are scored, through `/completions` with `echo` and `logprobs`: `auto` tries it at once and goes without where the
   * server gives no log-probabilities of a prompt, `on` fails there. Default `off`: the server is first spoken to at the first request.
   */
  scores?: 'auto' | 'on' | 'off';
  /** Of the jitter between tries. */
  seed?: number;
  /** Where the key is: KGWALK_LLM_KEY, else OPENAI_API_KEY. Default the process's environment. */
  env?: Readonly<Record<string, string | undefined>>;
  delay?: Delay;
}

type Body = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;

/** A server that asks for a longer pause than this will not come back within an evaluation. Milliseconds. */
const longestWait = 600_000;

/** Milliseconds, and what ends a request before. */
interface Limits {
  timeout: number;
  signal: AbortSignal;
}

/** How a request is gone on with where the server does not do what it asks. */
interface Patience {
  signal: AbortSignal | undefined;
  /** Leaves a part out of further tries; false where that does not help. */
  leaveOut?: (part: OptionalPart) => boolean;
  /** What is thrown in the place of a refusal. */
  refused?: (error: WorkbenchError) => Error;
  retries?: number;
}

/**
 * Opens a server. Servers that refuse a JSON schema are asked without one from then on, or once where they have taken others; and
 * `constrained` turns false; it also does once a whole reply is no JSON, since some servers accept a schema and ignore it. The
 * key goes to the server alone: it is in no id, name, error or reply.
 * @throws WorkbenchError `usage` for an address that is none, `config` for a key that is none, or for a server that does not score texts
 *   though it has to, `native` without the `openai` package
 */
export async function openServerModel(options: ServerModelOptions): Promise<LanguageModel> {
  const { model, contextLength = 8192, concurrency = 4, retries = 6, timeoutMs = 300_000 } = options;
  const { seed = 0, delay = realDelay, scores = 'off' } = options;
  const baseUrl = checkedUrl(options.baseUrl);
  const name = `${baseUrl}#${model}`;
  const key = serverKey(options.env);
  const client = await openClient(baseUrl, key);
  const inTurn = semaphore(concurrency);
  const rng = Rng.named(seed, 'server-model/back-off');
  const refused = new Set<OptionalPart>();
  let takesSchemas = false;
  let obeys = true;
  let reached = false;

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
      ...(schema && { response_format: responseFormat(schema.schema) }),
    };
    return { sent, bound: schema?.whole ?? false };
  }

  /** One try. The package's own time-out ends when the headers are there, so this one is ours. */
  async function once<Reply>(ask: (limits: Limits) => Promise<Reply>, signal: AbortSignal | undefined): Promise<Reply> {
    const limit = new AbortController();
    const end = () => limit.abort();
    const timer = setTimeout(end, timeoutMs);
    signal?.addEventListener('abort', end, { once: true });
    try {
      return await ask({ signal: limit.signal, timeout: timeoutMs });
    } catch (error) {
      if (limit.signal.aborted) throw new Error(`no whole reply within ${timeoutMs} ms`, { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    }
  }

  /** One request, tried until the server answers it or is given up. */
  async function patiently<Reply>(
    ask: (limits: Limits) => Promise<Reply>,
    { signal, leaveOut = () => false, refused: thrown = (error) => error, retries: most = retries }: Patience,
  ): Promise<Reply> {
    for (let tries = 0; ;) {
      throwIfStopped(signal);
      try {
        const reply = await once(ask, signal);
        reached = true;
        return reply;
      } catch (error) {
        throwIfStopped(signal);
        if (error instanceof WorkbenchError) throw error;
        const trouble = troubleOf(error, { name, key });
        if (trouble.kind === 'final') throw trouble.closed ? trouble.error : thrown(trouble.error);
        if (trouble.kind === 'refuses') {
          // A part that was not sent cannot be what is refused.
          if (leaveOut(trouble.part)) continue;
          throw thrown(gaveUp(name, `a refusal of ${trouble.part}, which was not sent`, 1));
        }
        if (trouble.kind === 'away' && !reached) throw notThere(name, trouble.reason);
        const asked = trouble.kind === 'again' ? trouble.waitMs : undefined;
        if (++tries > most || (asked ?? 0) > longestWait) {
          throw gaveUp(name, trouble.reason, tries, trouble.kind === 'again' && trouble.busy);
        }
        await delay(backOff(tries, asked, rng), signal);
      }
    }
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
    // Told by the reply alone: what other requests found out meanwhile must not show in it.
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
  const scorer = scores === 'off' ? undefined : await serverScorer({ echo, name, countTokens: countWordPieces });
  if (scores === 'on' && !scorer) throw refusesToScore(name)();

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
    ...(scorer && { scoreTexts: scorer }),
    dispose: () => Promise.resolve(),
  };
}

function responseFormat(schema: Readonly<Record<string, unknown>>): Body['response_format'] {
  return { type: 'json_schema', json_schema: { name: 'reply', strict: true, schema } };
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

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    // The text itself may hold a password.
    throw new WorkbenchError(
      'usage',
      'expected the URL of a server such as http://127.0.0.1:8080/v1, got another text',
      {
        hint: 'Leave user name, password and `?` out; a key goes into the environment variable KGWALK_LLM_KEY.',
      },
    );
  }
  return url.href.replace(/(?<!\/)\/+$/, '');
}

async function openClient(baseURL: string, key: string | undefined): Promise<OpenAI> {
  const library = await import('openai').catch((error: unknown) => {
    throw new WorkbenchError('native', 'expected the package openai, got nothing that can be loaded', {
      hint: 'Run `npm install` in the project.',
      cause: error,
    });
  });
  return new library.OpenAI({
    baseURL,
    apiKey: key ?? 'none',
    ...{ adminAPIKey: null, webhookSecret: null, organization: null, project: null },
    maxRetries: 0,
    logLevel: 'off',
    // Neither prompts nor the key follow a redirect to another place.
    fetchOptions: { redirect: 'manual' },
    fetch: boundedFetch,
    // A server without keys must not be sent one.
    defaultHeaders: key ? {} : { Authorization: null },
  });
}

function notThere(name: string, reason: string): WorkbenchError {
  return new WorkbenchError('config', `expected a language-model server, got ${reason}, at ${name}`, {
    hint: 'Start the server, or check host and port.',
  });
}

function gaveUp(name: string, reason: string, tries: number, busy = false): WorkbenchError {
  return new (busy ? ServerBusy : WorkbenchError)(
    'failure',
    `expected a completion, got ${reason} (${tries} tries), at ${name}`,
    {
      hint: 'Run the same command again when the server is well: what was answered so far is kept.',
    },
  );
}

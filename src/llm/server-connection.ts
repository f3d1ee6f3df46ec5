/** Connection to a server of the OpenAI API: address, key, retries and refusals. */
import { type ErrorLike, systemCode, WorkbenchError } from '../run/errors.js';
import { printable } from '../run/printable.js';
import {
  bounded,
  type Pace,
  Passing,
  passingStatus,
  patientRequests,
  type RequestLimits,
  wordsOf,
} from '../run/requests.js';
import { serverKey, withoutKey } from '../run/secrets.js';
import { Rng } from '../run/seeds.js';

/** Retries (default 6) and timeouts (default 300 000 ms). */
export interface ServerPatience extends Partial<Omit<RequestLimits, 'rng'>> {
  /** Random numbers for the jitter between retries. */
  seed?: number;
  /** Environment with the key: KGWALK_LLM_KEY, else OPENAI_API_KEY. Default the process's. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** Nothing answers at the address. */
export class ServerAway extends WorkbenchError {}

/** A server that stayed busy: ends all work with it, and says nothing about its features. */
export class ServerBusy extends WorkbenchError {}

/** Parts of a request that some servers refuse and the workbench can do without, each with words of such a refusal. */
const optionalParts = {
  response_format: /response_format|json_schema|schema|grammar|guided/i,
  max_tokens: /max_tokens/,
  seed: /\bseed\b/,
  temperature: /\btemperature\b/i,
  top_p: /\btop_?p\b/i,
  reasoning_effort: /\breasoning/i,
  chat_template_kwargs: /chat_template_kwargs|enable_thinking/,
  system: /\broles?\b|(?:system|developer) (?:message|prompt|instruction)/i,
  encoding_format: /encoding_format|base64/,
};
/** See `optionalParts`. */
export type OptionalPart = keyof typeof optionalParts;

/** A server that understands the request and refuses it: one that is too long, or a part that it does not take. */
export class ServerRefusal extends WorkbenchError {
  /** Parts that the server's words may mean. */
  parts: readonly OptionalPart[] = [];
}

export const usualRetries = 6;

interface ServerOptions extends ServerPatience {
  baseUrl: string;
  /** The server's name of the model. */
  model: string;
  wants: Wants;
}

/** The body of a request. */
type Sent = { messages?: unknown; max_tokens?: number | null; max_completion_tokens?: number; [key: string]: unknown };

/** Recovery from a request that the server refuses. */
interface Patience {
  signal: AbortSignal | undefined;
  /** Leaves a part out of further tries; false where it was not sent. */
  leaveOut?: (part: OptionalPart) => boolean;
  retries?: number | undefined;
  pace?: Pace | undefined;
}

/**
 * The key goes to the server alone: it is in no name and no error.
 * @throws WorkbenchError `usage` for an address that is none, `config` for a key that is none
 */
export function connectServer(options: ServerOptions) {
  const { model, wants, retries = usualRetries, timeoutMs = 300_000, seed = 0, delay } = options;
  const baseUrl = checkedUrl(options.baseUrl);
  const name = `${baseUrl}#${model}`;
  const key = serverKey(options.env);
  const patiently = patientRequests({ retries, timeoutMs, delay, rng: Rng.named(seed, 'server-model/back-off') });
  let reached = false;
  let failures = 0;

  /** Sends a request until the server answers it or is given up. @param bodyOf of each try @throws ServerRefusal */
  async function post(
    path: string,
    bodyOf: () => Sent,
    { signal, leaveOut = () => false, retries: most, pace }: Patience,
  ): Promise<unknown> {
    return patiently({
      ...{ signal, retries: most, pace },
      async ask(limit) {
        try {
          const reply = await send(baseUrl + path, bodyOf(), key, limit);
          const fault = faultIn(reply);
          if (fault) throw fault;
          reached = true;
          return reply;
        } catch (error) {
          if (error instanceof WorkbenchError) throw error;
          failures++;
          throw troubleOf(error, { name, key, wants, reached });
        }
      },
      changed: (error) => error instanceof ServerRefusal && error.parts.some(leaveOut),
      gaveUp({ message: reason, busy }, tries) {
        const message = `expected ${wants.what}, got ${reason} (${tries} tries), at ${name}`;
        const hint = 'Run the same command again when the server is well: what was answered so far is kept.';
        // Nothing is known about the question: it must not count as a miss.
        return new (busy ? ServerBusy : WorkbenchError)('failure', message, { hint, fatal: busy });
      },
    });
  }

  return {
    ...{ name, model, key, post },
    get failures() {
      return failures;
    },
  };
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    // The text itself may hold a password.
    const message = 'expected the URL of a server such as http://127.0.0.1:8080/v1, got another text';
    const hint = 'Leave user name, password and `?` out; a key goes into the environment variable KGWALK_LLM_KEY.';
    throw new WorkbenchError('usage', message, { hint });
  }
  return url.href.replace(/(?<!\/)\/+$/, '');
}

/** Words for error messages. */
export interface Wants {
  what: string;
  server: string;
  model: string;
  path: string;
  /** Kind of input, such as `a prompt`, and a hint for shortening it. */
  fits: string;
  shorten: string;
}

const away = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

const longPrompt =
  /context[ _](?:length|size|window)|exceed.{0,40}context|too (?:long|large|many tokens)|maximum.{0,40}tokens/i;

const busyWords = /rate.?limit|too many requests|exhausted|overloaded/i;
const refusal =
  /template|jinja|unsupported|not support|unrecogni[sz]ed|unknown (?:name|field|param|arg)|not permitted/i;

/** The error that a reply of status 200 holds, with the status that it names: 429 or 500 if none. */
function faultIn(reply: unknown): (Error & { status: number }) | undefined {
  type Held = Record<string, unknown> & { choices?: (Held | null)[] };
  const held = ([reply].flat()[0] ?? {}) as Held;
  const { error, object, detail, message, choices, data } = held;
  const isFault = object === 'error' || (!choices && !data && (detail ?? message));
  const fault = (isFault ? held : error) || choices?.[0]?.error;
  if (!fault) return undefined;
  const { code, status } = fault as Record<string, unknown>;
  const words = wordsOf(fault);
  const usual = busyWords.test(words) ? 429 : 500;
  const named = [code, status].map(Number).find((one) => one >= 400 && one < 600) ?? usual;
  return Object.assign(new Error(`${named} ${words}`), { status: named });
}

/**
 * Reads an error of a request. The error itself goes no further: it holds headers.
 * @param server `reached`: it has answered before; its key is part of no message
 */
function troubleOf(
  error: unknown,
  { name, key, wants, reached }: { name: string; key: string | undefined; wants: Wants; reached: boolean },
): Passing | WorkbenchError {
  const { status, headers } = error as { status?: number; headers?: Headers };
  const words = withoutKey(String((error as ErrorLike).message ?? error), key).replace(/\s+/g, ' ');
  const said = printable(words, 300);
  const got = (expected: string) => `expected ${expected}, got ${said}, at ${name}`;

  if (status === undefined) {
    const code = systemCode(error);
    // Cut connections, time-outs, replies that end in the middle.
    if (reached || code === undefined || !away.has(code)) return new Passing(code ?? said);
    return new ServerAway('config', `expected ${wants.server}, got ${code}, at ${name}`, {
      hint: 'Start the server, or check host and port.',
    });
  }
  const isTooLong = status === 413 || longPrompt.test(words);
  const parts = (Object.keys(optionalParts) as OptionalPart[]).filter((part) => optionalParts[part].test(words));
  // Some servers report a refusal of their chat template or of a parameter, or too long a prompt, as their own failure.
  const refused = status === 500 && (isTooLong || refusal.test(words));
  const passing = refused ? undefined : passingStatus(status, said, headers);
  if (passing) return passing;
  if (status >= 300 && status < 400) {
    const to = headers?.get('location') ?? '';
    const where = URL.canParse(to, name) ? `to ${new URL(to, name).origin}` : 'to nowhere';
    const message = `expected ${wants.what}, got a redirect ${where}, at ${name}`;
    return new WorkbenchError('config', message, {
      hint: 'Give the address where the server answers itself, if you trust it.',
    });
  }
  if (status === 401 || status === 403) {
    const [expected, hint] = key ? ['the key', 'Check the key'] : ['requests without a key', 'Set the key'];
    return new WorkbenchError('config', got(`a server that accepts ${expected}`), {
      hint: `${hint} in the environment variable KGWALK_LLM_KEY or OPENAI_API_KEY.`,
    });
  }
  if (status === 404) {
    const hint = `Check the model name and that the URL ends where \`${wants.path}\` begins, often in \`/v1\`.`;
    return new ServerRefusal('config', got(`${wants.model} under this name`), { hint });
  }
  if (isTooLong) return new ServerRefusal('data', got(`${wants.fits} that fits the model`), { hint: wants.shorten });
  const hint = 'See what the server says about the request.';
  return Object.assign(new ServerRefusal('failure', got(wants.what), { hint }), { parts });
}

/** Bytes of any reply: scores of prompts are a hundred times as long as those. */
const longestReply = 16 * 2 ** 20;
/** Bytes of a completion: some a token, those that are said around it, and the prompt, which some servers repeat. */
const longestAround = 2 ** 18;
const longestToken = 64;

/** Maximum bytes of a reply: parsing takes many times as much memory. @param length of the request */
function mostBytes({ messages, max_tokens, max_completion_tokens: renamed = 0 }: Sent, length: number): number {
  if (messages === undefined) return longestReply;
  return Math.min(longestReply, longestAround + longestToken * (max_tokens ?? renamed) + 4 * length);
}

/**
 * One request. Neither prompts nor the key follow a redirect to another place.
 * @returns the reply, as text where it does not say that it is JSON
 * @throws an error with `status` and `headers` of a refusal; WorkbenchError `config` for too long a body
 */
async function send(address: string, sent: Sent, key: string | undefined, signal: AbortSignal): Promise<unknown> {
  const body = JSON.stringify(sent);
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
  const response = await fetch(address, { method: 'POST', headers, body, signal, redirect: 'manual' });
  const most = mostBytes(sent, body.length);
  const message = `expected a reply of at most ${most} bytes, got a longer one, at ${response.url}`;
  const hint = 'This is no language-model server, or it does not keep to the length it is asked for.';
  const reply = bounded(response, most, () => new WorkbenchError('config', message, { hint }));
  if (reply.ok) return /\bjson\b/.test(reply.headers.get('content-type') ?? '') ? reply.json() : reply.text();
  const said = await reply.text().catch(({ message: reason }: Error) => reason);
  throw Object.assign(new Error(`${reply.status} ${wordsOf(said)}`), { status: reply.status, headers: reply.headers });
}

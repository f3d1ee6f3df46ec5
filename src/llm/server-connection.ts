/** Connection to a server of the OpenAI API, through the `openai` package: address, key, retries and pauses. */
import { setTimeout as wait } from 'node:timers/promises';
import type { OpenAI } from 'openai';
import { z } from 'zod';
import { type ErrorLike, systemCode, WorkbenchError } from '../run/errors.js';
import { serverKey, withoutKey } from '../run/secrets.js';
import { Rng } from '../run/seeds.js';
import { throwIfStopped } from '../run/stop.js';
import { printable } from '../run/printable.js';

/** Retries and timeouts. */
export interface ServerPatience {
  /** Further tries after a failure that may pass, default 6. */
  retries?: number;
  /** Milliseconds for one try, from request to the reply's last byte; default 300 000. */
  timeoutMs?: number;
  /** Random numbers for the jitter between retries. */
  seed?: number;
  /** Environment with the key: KGWALK_LLM_KEY, else OPENAI_API_KEY. Default the process's. */
  env?: Readonly<Record<string, string | undefined>>;
  delay?: Delay;
}

/** Nothing answers at the address. */
export class ServerAway extends WorkbenchError {}

export const usualRetries = 6;

interface ServerOptions extends ServerPatience {
  baseUrl: string;
  /** The server's name of the model. */
  model: string;
  wants: Wants;
}

/** A longer requested pause counts as a failure. Milliseconds. */
const longestWait = 600_000;

/** Milliseconds, and what ends a request before. */
export interface Limits {
  timeout: number;
  signal: AbortSignal;
}

/** Recovery from a request that the server refuses. */
interface Patience {
  signal: AbortSignal | undefined;
  /** Leaves a part out of further tries; false where that does not help. */
  leaveOut?: (part: OptionalPart) => boolean;
  refused?: (error: WorkbenchError) => Error;
  retries?: number;
}

/**
 * The key goes to the server alone: it is in no name and no error.
 * @throws WorkbenchError `usage` for an address that is none, `config` for a key that is none, `native` without the `openai` package
 */
export async function connectServer(options: ServerOptions) {
  const { model, wants, retries = usualRetries, timeoutMs = 300_000, seed = 0, delay = realDelay } = options;
  const baseUrl = checkedUrl(options.baseUrl);
  const name = `${baseUrl}#${model}`;
  const key = serverKey(options.env);
  const client = await openClient(baseUrl, key);
  const rng = Rng.named(seed, 'server-model/back-off');
  let reached = false;
  let failures = 0;

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
        failures++;
        const trouble = troubleOf(error, { name, key, wants });
        if (trouble.kind === 'final') throw trouble.closed ? trouble.error : thrown(trouble.error);
        if (trouble.kind === 'refuses') {
          // A part that was not sent cannot be what is refused.
          if (leaveOut(trouble.part)) continue;
          throw thrown(gaveUp(wants, name, `a refusal of ${trouble.part}, which was not sent`, 1));
        }
        if (trouble.kind === 'away' && !reached) throw notThere(wants, name, trouble.reason);
        const asked = trouble.kind === 'again' ? trouble.waitMs : undefined;
        if (++tries > most || (asked ?? 0) > longestWait) {
          throw gaveUp(wants, name, trouble.reason, tries, trouble.kind === 'again' && trouble.busy);
        }
        await delay(backOff(tries, asked, rng), signal);
      }
    }
  }

  return {
    ...{ name, model, key, client, patiently },
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

function notThere(wants: Wants, name: string, reason: string): WorkbenchError {
  return new ServerAway('config', `expected ${wants.server}, got ${reason}, at ${name}`, {
    hint: 'Start the server, or check host and port.',
  });
}

function gaveUp(wants: Wants, name: string, reason: string, tries: number, busy = false): WorkbenchError {
  const message = `expected ${wants.what}, got ${reason} (${tries} tries), at ${name}`;
  const hint = 'Run the same command again when the server is well: what was answered so far is kept.';
  return new (busy ? ServerBusy : WorkbenchError)('failure', message, { hint });
}

/** A part of the request that some servers refuse and the workbench can do without. */
export type OptionalPart = 'response_format' | 'max_tokens' | 'seed';

/** A busy server; says nothing about its features. */
export class ServerBusy extends WorkbenchError {}

/** Ask again, give the server up, ask without a part, or fail. */
type Trouble =
  /** Worth another try; `waitMs` is what the server asks for. */
  | { kind: 'again'; reason: string; waitMs: number | undefined; busy?: boolean }
  /** Nothing answers at the address. */
  | { kind: 'away'; reason: string }
  | { kind: 'refuses'; part: OptionalPart }
  /** `closed`: any request fails, such as without a key. */
  | { kind: 'final'; error: WorkbenchError; closed?: boolean };

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

interface ServerAddress {
  name: string;
  /** Never part of a message. */
  key: string | undefined;
  wants: Wants;
}

/** Too many requests, and a server, or one behind it, that is not there for the moment. */
const busy: readonly number[] = [429, 502, 503, 504];

const away = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Reads an error of the `openai` package or of `fetch` below it. The error itself goes no further: it holds headers. */
function troubleOf(error: unknown, address: ServerAddress): Trouble {
  const { status, headers } = error as { status?: number; headers?: Headers };
  const said = spoken(error, address.key);
  const final = (code: 'config' | 'data' | 'failure', expected: string, hint: string) => ({
    kind: 'final' as const,
    error: new WorkbenchError(code, `expected ${expected}, got ${said}, at ${address.name}`, { hint }),
  });

  if (status === undefined) {
    const code = systemCode(error);
    if (code !== undefined && away.has(code)) return { kind: 'away', reason: code };
    // Cut connections, time-outs, replies that end in the middle.
    return { kind: 'again', reason: code ?? said, waitMs: undefined };
  }
  if (status === 408 || status === 409 || status === 429 || status >= 500) {
    return { kind: 'again', reason: said, waitMs: askedWait(headers), busy: busy.includes(status) };
  }
  if (status >= 300 && status < 400) {
    const to = headers?.get('location') ?? '';
    const where = URL.canParse(to, address.name) ? `to ${new URL(to, address.name).origin}` : 'to nowhere';
    const message = `expected ${address.wants.what}, got a redirect ${where}, at ${address.name}`;
    const hint = 'Give the address where the server answers itself, if you trust it.';
    return { kind: 'final', error: new WorkbenchError('config', message, { hint }), closed: true };
  }
  if (status === 401 || status === 403) {
    const hint = address.key ? 'Check the key' : 'Set the key';
    return { ...final('config', `a server that accepts ${address.key ? 'the key' : 'requests without a key'}`, `${hint} in the environment variable KGWALK_LLM_KEY or OPENAI_API_KEY.`), closed: true }; // prettier-ignore
  }
  if (status === 404) {
    const hint = `Check the model name and that the URL ends where \`${address.wants.path}\` begins, often in \`/v1\`.`;
    return final('config', `${address.wants.model} under this name`, hint);
  }
  if (status === 413 || /context|too long|too large|maximum.{0,40}tokens/i.test(said)) {
    return final('data', `${address.wants.fits} that fits the model`, address.wants.shorten);
  }
  const part = refusedPart(said);
  if (part) return { kind: 'refuses', part };
  return final('failure', address.wants.what, 'See what the server says about the request.');
}

function refusedPart(said: string): OptionalPart | undefined {
  if (/response_format|json_schema|schema|grammar|guided/i.test(said)) return 'response_format';
  if (/max_tokens/.test(said)) return 'max_tokens';
  return /\bseed\b/.test(said) ? 'seed' : undefined;
}

/** Milliseconds that the server asks to wait. A date counts from the server's own clock. @source RFC 9110, 10.2.3 */
function askedWait(headers: Headers | undefined): number | undefined {
  const after = headers?.get('retry-after');
  if (!after) return undefined;
  const wait = /^\d+(\.\d+)?$/.test(after)
    ? Number(after) * 1000
    : Date.parse(after) - Date.parse(headers?.get('date') ?? '');
  return wait >= 0 ? wait : undefined;
}

/** Error message, short, on one line and without the key, which some servers repeat. */
function spoken(error: unknown, key: string | undefined): string {
  const said = String((error as ErrorLike).message ?? error);
  return printable(withoutKey(said, key).replace(/\s+/g, ' '), 300);
}

/** Waits; ends early without an error when the signal is aborted. */
export type Delay = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

const first = 500;
const longest = 30_000;

/** Milliseconds: 0.5 s doubling with each failed try to 30 s, of which a random half to whole; at least what is asked. */
export function backOff(tries: number, asked: number | undefined, rng: Rng): number {
  const whole = Math.min(longest, first * 2 ** (tries - 1));
  return Math.round(Math.max(asked ?? 0, whole * (0.5 + rng.uniform() / 2)));
}

/** Waits in earnest. */
export const realDelay: Delay = async (ms, signal) => {
  await wait(ms, undefined, { signal }).catch(() => {});
};

/** Bytes of any reply: scores of prompts are a hundred times as long as those. */
const longestReply = 16 * 2 ** 20;
/** Bytes of a completion: some a token, those that are said around it, and the prompt, which some servers repeat. */
const longestAround = 2 ** 18;
const longestToken = 64;

const sentBody = z.object({
  messages: z.unknown().optional(),
  max_tokens: z.int().optional(),
  max_completion_tokens: z.int().optional(),
});

/** Maximum bytes of a reply: parsing takes many times as much memory. */
function mostBytes(body: unknown): number {
  if (typeof body !== 'string') return longestReply;
  const { messages, max_tokens, max_completion_tokens } = sentBody.parse(JSON.parse(body));
  if (messages === undefined) return longestReply;
  const tokens = max_tokens ?? max_completion_tokens ?? 0;
  return Math.min(longestReply, longestAround + longestToken * tokens + 4 * body.length);
}

/** `fetch` with a limit on the body's length. @throws WorkbenchError `config`, from the body */
async function boundedFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (response.body === null) return response;
  const most = mostBytes(request[1]?.body);
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= most) controller.enqueue(chunk);
      else controller.error(tooLong(most, response.url));
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}

function tooLong(most: number, url: string): WorkbenchError {
  return new WorkbenchError('config', `expected a reply of at most ${most} bytes, got a longer one, at ${url}`, {
    hint: 'This is no language-model server, or it does not keep to the length it is asked for.',
  });
}

/** Connection to a server of the OpenAI API, through the `openai` package: address, key, retries and pauses. */
import type { OpenAI } from 'openai';
import { WorkbenchError } from '../run/errors.js';
import { serverKey } from '../run/secrets.js';
import { Rng } from '../run/seeds.js';
import { throwIfStopped } from '../run/stop.js';
import {
  backOff,
  boundedFetch,
  type Delay,
  type OptionalPart,
  realDelay,
  ServerBusy,
  troubleOf,
  type Wants,
} from './server-trouble.js';

export type { Wants } from './server-trouble.js';

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

/** See `ServerPatience.retries`. */
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
  /** Maps a refusal to another error. */
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
    /** Tries that failed. */
    get failures() {
      return failures;
    },
  };
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

function notThere(wants: Wants, name: string, reason: string): WorkbenchError {
  return new ServerAway('config', `expected ${wants.server}, got ${reason}, at ${name}`, {
    hint: 'Start the server, or check host and port.',
  });
}

function gaveUp(wants: Wants, name: string, reason: string, tries: number, busy = false): WorkbenchError {
  return new (busy ? ServerBusy : WorkbenchError)(
    'failure',
    `expected ${wants.what}, got ${reason} (${tries} tries), at ${name}`,
    {
      hint: 'Run the same command again when the server is well: what was answered so far is kept.',
    },
  );
}

/** Requests to servers: time limits, retries, the pauses that servers ask for, and the words of their errors. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Rng } from './seeds.js';
import { throwIfStopped } from './stop.js';

/** Waits; ends early without an error when the signal is aborted. */
export type Delay = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

/** Limits and retries of requests to one server. */
export interface RequestLimits {
  /** Further tries after a failure that may pass. */
  retries: number;
  /** Milliseconds for one try, from request to the reply's last byte. */
  timeoutMs: number;
  delay?: Delay | undefined;
  /** Random numbers for the jitter between retries. */
  rng: Rng;
}

/** A failure that may pass. `waitMs`: pause that the server asks for; `busy`: says nothing about its features. */
export class Passing extends Error {
  constructor(
    message: string,
    readonly waitMs?: number,
    readonly busy = false,
  ) {
    super(message);
  }
}

/** Pace of the requests to one server. */
export interface Pace {
  /** Waits until the next request may be sent. */
  begin(signal: AbortSignal | undefined): Promise<void>;
  /** To be called when the server was busy. */
  busy(): void;
  /** Requests answered so far: a busy server that answers others is not given up. */
  readonly answers: number;
}

/** One request. */
export interface PatientRequest<Reply> {
  /** @param failed number of failed tries */
  ask: (limit: AbortSignal, failed: number) => Promise<Reply>;
  signal?: AbortSignal | undefined;
  retries?: number | undefined;
  pace?: Pace | undefined;
  gaveUp: (error: Passing, tries: number) => Error;
  /** Changes the request after a refusal; true: it is sent again at once. */
  changed?: (error: unknown) => boolean;
}

/** A longer requested pause gives the server up. Milliseconds. */
const longestWait = 600_000;

/** Sends requests, each until it is answered, refused or given up. @throws (from the result) what `ask` throws except `Passing`; `gaveUp` */
export function patientRequests({ retries: usual, timeoutMs, delay = realDelay, rng }: RequestLimits) {
  return async <Reply>(request: PatientRequest<Reply>): Promise<Reply> => {
    const { ask, signal, retries = usual, pace, gaveUp, changed } = request;
    for (let [failed, answers] = [0, pace?.answers]; ;) {
      await pace?.begin(signal);
      throwIfStopped(signal);
      const limit = new AbortController();
      const end = () => limit.abort();
      const timer = setTimeout(end, timeoutMs);
      signal?.addEventListener('abort', end, { once: true });
      try {
        return await ask(limit.signal, failed);
      } catch (thrown) {
        throwIfStopped(signal);
        if (changed?.(thrown)) continue;
        const error = limit.signal.aborted ? new Passing(`no complete answer within ${timeoutMs} ms`) : thrown;
        if (!(error instanceof Passing)) throw error;
        const { waitMs = 0, busy } = error;
        if (busy) {
          pace?.busy();
          if (pace?.answers !== answers) [failed, answers] = [0, pace?.answers];
        }
        if (++failed > retries || waitMs > longestWait) throw gaveUp(error, failed);
        // Half a second doubling to 30, of which a random half to whole; at least what is asked.
        const whole = Math.min(30_000, 500 * 2 ** (failed - 1));
        await delay(Math.round(Math.max(waitMs, whole * (0.5 + rng.uniform() / 2))), signal);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
      }
    }
  };
}

/** Waits by the clock. */
export const realDelay: Delay = async (ms, signal) => {
  await wait(ms, undefined, { signal }).catch(() => {});
};

/** The response, whose body ends in an error beyond so many bytes. */
export function bounded(response: Response, most: number, tooLong: () => Error): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= most) controller.enqueue(chunk);
      else controller.error(tooLong());
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}

/** Failure by a status of a server that is busy, starting or broken; undefined for other statuses. */
export function passingStatus(status: number, said: string, headers: Headers | undefined): Passing | undefined {
  if (status !== 408 && status !== 409 && status !== 429 && status < 500) return undefined;
  // Too many requests, and a server, or one behind it, that is not there for the moment.
  return new Passing(said, askedWait(headers), [429, 502, 503, 504].includes(status));
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

/** Keys of error bodies with words; others hold codes, ids, or what was sent. */
const wording = /^(?:errors?|message|msg|details?|description|error_description|reason|title|exception|metadata|raw)$/i;
const deepest = 8;

/**
 * Words of an error body in any shape: text, with JSON in it read and markup left out, objects and lists. A field that the error
 * names stands before them.
 */
export function wordsOf(body: unknown): string {
  const words = [...new Set(saidIn(body, 0))].join('; ') || (JSON.stringify(body) ?? '');
  return words.replace(/\s+/g, ' ').trim();
}

function saidIn(body: unknown, depth: number): string[] {
  if (typeof body === 'string') {
    const inner = /^\s*[[{]/.test(body) && depth < deepest ? saidIn(jsonIn(body), depth + 1) : [];
    return inner.length > 0 ? inner : [body.replace(/<[^<>]*>/g, ' ')];
  }
  if (typeof body !== 'object' || body === null || depth > deepest) return [];
  if (Array.isArray(body)) return body.flatMap((one) => saidIn(one, depth + 1));
  const said = Object.entries(body).flatMap(([key, value]) => (wording.test(key) ? saidIn(value, depth + 1) : []));
  const { param, loc } = body as Record<string, unknown>;
  const field = [param ?? loc ?? []].flat().join('.');
  return said.map((words) => (words.includes(field) ? words : `${field}: ${words}`));
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * SPARQL 1.1 client: POST, JSON results, limited concurrency, retries. All queries are defined here, over terms validated by `terms.ts`.
 */
import { z } from 'zod';
import { semaphore } from '../llm/concurrency.js';
import { backOff, type Delay, realDelay } from '../llm/server-connection.js';
import { reasonOfFetch, WorkbenchError } from '../run/errors.js';
import { printable } from '../run/printable.js';
import { Rng } from '../run/seeds.js';
import { throwIfStopped } from '../run/stop.js';
import { type Binding, bindingSchema } from './terms.js';

/** Limits and retries of a client. */
export interface Patience {
  /** Concurrent requests. */
  concurrency: number;
  /** Milliseconds per attempt, including the response body. */
  timeoutMs: number;
  /** Retries after a temporary failure. */
  retries: number;
  delay?: Delay;
}

/** Row by variable name. */
export type ResultRow = Readonly<Record<string, Binding>>;

/** Result rows; `cut`: the endpoint reached its own maximum. */
export interface Answer {
  rows: readonly ResultRow[];
  cut: boolean;
}

/** Client of one endpoint. */
export interface SparqlClient {
  /** @throws WorkbenchError `config` for an invalid or refusing endpoint, `failure` after the last retry; both `fatal` */
  ask(query: string, signal?: AbortSignal): Promise<Answer>;
  /** Answered queries, their rows, failed attempts, and reconnections. */
  readonly counts: { queries: number; rows: number; failures: number; returns: number };
}

const answerSchema = z.object({
  results: z.object({ bindings: z.array(z.record(z.string(), bindingSchema)) }),
});

/** Maximum bytes of a response: 100,000 rows of long IRIs take a third. */
const longestAnswer = 64 * 2 ** 20;

/** Temporary failure. `waitMs`: delay requested by the endpoint. */
class Passing extends Error {
  constructor(
    message: string,
    readonly waitMs?: number,
  ) {
    super(message);
  }
}

/** @param endpoint its parameters (`default-graph-uri`) go into the body, which every server reads */
export function sparqlClient(
  endpoint: URL,
  { concurrency, timeoutMs, retries, delay = realDelay }: Patience,
): SparqlClient {
  const address = endpoint.origin + endpoint.pathname;
  const inTurn = semaphore(concurrency);
  const rng = Rng.named(0, 'sparql/back-off');
  const counts = { queries: 0, rows: 0, failures: 0, returns: 0 };
  const refused = (expected: string, got: string, hint: string) =>
    new WorkbenchError('config', `expected ${expected}, got ${printable(got, 300)}, at ${address}`, {
      hint,
      fatal: true,
    });

  async function once(query: string, signal: AbortSignal | undefined): Promise<Answer> {
    const limit = AbortSignal.timeout(timeoutMs);
    const body = new URLSearchParams(endpoint.search);
    body.set('query', query);
    let response: Response;
    let text: string;
    try {
      response = await fetch(address, {
        method: 'POST',
        body,
        redirect: 'manual',
        headers: { accept: 'application/sparql-results+json' },
        signal: signal ? AbortSignal.any([limit, signal]) : limit,
      });
      text = await bounded(response);
    } catch (error) {
      throwIfStopped(signal);
      if (error instanceof WorkbenchError) throw error;
      throw new Passing(
        limit.aborted ? `no complete answer within ${timeoutMs} ms` : printable(reasonOfFetch(error), 200),
      );
    }
    const { status, headers } = response;
    // Error pages are HTML, and some are empty.
    const why = text
      .replace(/<[^<>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    const said = `status ${status}${why === '' ? '' : `: ${why}`}`;
    if (status === 408 || status === 429 || status >= 500) throw new Passing(printable(said, 200), waitOf(headers));
    if (status !== 200)
      throw refused('an endpoint that answers', said, 'Check the address; it often ends in /sparql or /query.');
    const type = headers.get('content-type') ?? 'no content type';
    if (!/^application\/(?:sparql-results\+)?json\b/i.test(type)) {
      throw refused('results as JSON', type, 'Check that this is the address of the endpoint itself, not of its page.');
    }
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      throw new Passing('a truncated answer');
    }
    const parsed = answerSchema.safeParse(json);
    if (!parsed.success) throw refused('results as JSON', 'another JSON', 'Check that this is a SPARQL 1.1 endpoint.');
    const rows = parsed.data.results.bindings;
    // Virtuoso truncates with status 200; this header is the only sign.
    const most = Number(headers.get('x-sparql-maxrows') ?? Infinity);
    return { rows, cut: rows.length >= most };
  }

  async function patiently(query: string, signal: AbortSignal | undefined): Promise<Answer> {
    for (let tries = 0; ;) {
      throwIfStopped(signal);
      try {
        const answer = await once(query, signal);
        counts.queries++;
        counts.rows += answer.rows.length;
        if (tries > 0) counts.returns++;
        return answer;
      } catch (error) {
        if (!(error instanceof Passing)) throw error;
        counts.failures++;
        // An endpoint that never answered is probably a wrong address.
        const most = counts.queries === 0 ? Math.min(retries, 1) : retries;
        if (++tries > most) {
          const message = `expected an answer, got ${error.message} (${tries} tries), at ${address}`;
          const hint = 'Answers so far are cached: rerun the same command to continue once the endpoint is up again.';
          throw new WorkbenchError('failure', message, { hint, fatal: true });
        }
        await delay(backOff(tries, error.waitMs, rng), signal);
      }
    }
  }

  return { counts, ask: (query, signal) => inTurn(() => patiently(query, signal)) };
}

async function bounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += (part as Uint8Array).length;
    if (length > longestAnswer) {
      const message = `expected at most ${longestAnswer} bytes, got more, at an answer of the endpoint`;
      throw new WorkbenchError('data', message, { hint: 'Lower maxTails.', fatal: true });
    }
    parts.push(part as Uint8Array);
  }
  return Buffer.concat(parts).toString('utf8');
}

function waitOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, 60_000) : undefined;
}

/** Edge direction: from the subject, or back from the object. */
export type Direction = 'out' | 'in';

const pattern = (direction: Direction, entity: string, relation: string) =>
  direction === 'out' ? `${entity} ${relation} ?x` : `?x ${relation} ${entity}`;

/** Queries over validated terms. */
export const queries = {
  size: 'SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }',

  /** Number of tails per relation of each entity. */
  counts: (direction: Direction, entities: readonly string[]) =>
    `SELECT ?e ?r (COUNT(DISTINCT ?x) AS ?n) WHERE { VALUES ?e { ${entities.join(' ')} } ${pattern(direction, '?e', '?r')} } GROUP BY ?e ?r`,

  /** Tails of (entity, relation) pairs. */
  tails: (direction: Direction, pairs: readonly (readonly [entity: string, relation: string])[]) =>
    `SELECT DISTINCT ?e ?r ?x WHERE { VALUES (?e ?r) { ${pairs.map((pair) => `(${pair.join(' ')})`).join(' ')} } ${pattern(direction, '?e', '?r')} }`,

  /** First tails of one pair, in the endpoint's order. */
  someTails: (direction: Direction, entity: string, relation: string, most: number) =>
    `SELECT DISTINCT ?x WHERE { ${pattern(direction, entity, relation)} } LIMIT ${most}`,

  /** Labels in English or without a language. */
  labels: (label: string, entities: readonly string[]) =>
    `SELECT ?e ?x WHERE { VALUES ?e { ${entities.join(' ')} } ?e ${label} ?x FILTER(LANG(?x) = "" || LANGMATCHES(LANG(?x), "en")) }`,

  /** Entities by label, without a language or in English. */
  labelled: (label: string, labels: readonly string[]) =>
    `SELECT ?e ?x WHERE { VALUES ?x { ${labels.flatMap((text) => [text, `${text}@en`]).join(' ')} } ?e ${label} ?x }`,
};

/**
 * Asks a SPARQL 1.1 endpoint: POST, results as JSON, few requests at once, patient with what passes. All queries are written here, over terms
 * that `terms.ts` has checked.
 */
import { z } from 'zod';
import { semaphore } from '../llm/concurrency.js';
import { backOff, type Delay, realDelay } from '../llm/server-trouble.js';
import { reasonOfFetch, WorkbenchError } from '../run/errors.js';
import { printable } from '../run/printable.js';
import { Rng } from '../run/seeds.js';
import { throwIfStopped } from '../run/stop.js';
import { type Binding, bindingSchema } from './terms.js';

/** How patient a client is. */
export interface Patience {
  /** Requests under way at once. */
  concurrency: number;
  /** Milliseconds for one try, to the last byte. */
  timeoutMs: number;
  /** Further tries after a failure that may pass. */
  retries: number;
  delay?: Delay;
}

/** A row by the names of its variables. */
export type ResultRow = Readonly<Record<string, Binding>>;

/** Rows of an answer; `cut`: the endpoint gave as many as it gives at most. */
export interface Answer {
  rows: readonly ResultRow[];
  cut: boolean;
}

/** An endpoint that is asked. */
export interface SparqlClient {
  /** @throws WorkbenchError `config` for an endpoint that is none or refuses, `failure` for one that gave up; `fatal` both */
  ask(query: string, signal?: AbortSignal): Promise<Answer>;
  /** Queries that were answered, their rows, tries that failed, and times that the connection came back after it was lost. */
  readonly counts: { queries: number; rows: number; failures: number; returns: number };
}

const answerSchema = z.object({
  results: z.object({ bindings: z.array(z.record(z.string(), bindingSchema)) }),
});

/** Bytes of an answer: 100,000 rows of long IRIs are a third of it. */
const longestAnswer = 64 * 2 ** 20;

/** What may pass by itself. `waitMs` is what the endpoint asks for. */
class Passing extends Error {
  constructor(
    message: string,
    readonly waitMs?: number,
  ) {
    super(message);
  }
}

/** @param endpoint its parameters (`default-graph-uri`) go into the body, where every server reads them */
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
        limit.aborted ? `no whole answer within ${timeoutMs} ms` : printable(reasonOfFetch(error), 200),
      );
    }
    const { status, headers } = response;
    // Servers say it in HTML, and some not at all.
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
      throw new Passing('an answer that ends in the middle');
    }
    const parsed = answerSchema.safeParse(json);
    if (!parsed.success) throw refused('results as JSON', 'another JSON', 'Check that this is a SPARQL 1.1 endpoint.');
    const rows = parsed.data.results.bindings;
    // Virtuoso cuts with status 200; this header is the only sign of it.
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
        // An address that never answered is a wrong one.
        const most = counts.queries === 0 ? Math.min(retries, 1) : retries;
        if (++tries > most) {
          throw new WorkbenchError(
            'failure',
            `expected an answer, got ${error.message} (${tries} tries), at ${address}`,
            {
              hint: 'What was answered is kept: the same command goes on once the endpoint answers again.',
              fatal: true,
            },
          );
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
      throw new WorkbenchError(
        'data',
        `expected at most ${longestAnswer} bytes, got more, at an answer of the endpoint`,
        {
          hint: 'Take a smaller maxTails.',
          fatal: true,
        },
      );
    }
    parts.push(part as Uint8Array);
  }
  return Buffer.concat(parts).toString('utf8');
}

function waitOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, 60_000) : undefined;
}

/** Which way an edge is walked: from its subject, or back from its object. */
export type Direction = 'out' | 'in';

const pattern = (direction: Direction, entity: string, relation: string) =>
  direction === 'out' ? `${entity} ${relation} ?x` : `?x ${relation} ${entity}`;

/** The queries, over terms as a query writes them. */
export const queries = {
  size: 'SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }',

  /** How many tails each relation of each entity has. */
  counts: (direction: Direction, entities: readonly string[]) =>
    `SELECT ?e ?r (COUNT(DISTINCT ?x) AS ?n) WHERE { VALUES ?e { ${entities.join(' ')} } ${pattern(direction, '?e', '?r')} } GROUP BY ?e ?r`,

  /** Tails of pairs of entity and relation. */
  tails: (direction: Direction, pairs: readonly (readonly [entity: string, relation: string])[]) =>
    `SELECT DISTINCT ?e ?r ?x WHERE { VALUES (?e ?r) { ${pairs.map((pair) => `(${pair.join(' ')})`).join(' ')} } ${pattern(direction, '?e', '?r')} }`,

  /** So many tails of one pair, as the endpoint gives them. */
  someTails: (direction: Direction, entity: string, relation: string, most: number) =>
    `SELECT DISTINCT ?x WHERE { ${pattern(direction, entity, relation)} } LIMIT ${most}`,

  /** Labels in English or in no language. */
  labels: (label: string, entities: readonly string[]) =>
    `SELECT ?e ?x WHERE { VALUES ?e { ${entities.join(' ')} } ?e ${label} ?x FILTER(LANG(?x) = "" || LANGMATCHES(LANG(?x), "en")) }`,

  /** Entities of labels. */
  labelled: (label: string, labels: readonly string[]) =>
    `SELECT ?e ?x WHERE { VALUES ?x { ${labels.join(' ')} } ?e ${label} ?x }`,
};

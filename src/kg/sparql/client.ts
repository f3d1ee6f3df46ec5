/**
 * SPARQL 1.1 client: POST, JSON results, limited concurrency, retries. All queries are defined here, over terms validated by `source.ts`.
 */
import { z } from 'zod';
import { semaphore } from '../../run/concurrency.js';
import { kgwalkVersion } from '../../run/environment.js';
import { reasonOfFetch, WorkbenchError } from '../../run/errors.js';
import { printable } from '../../run/printable.js';
import { bounded, Passing, passingStatus, patientRequests, type RequestLimits, wordsOf } from '../../run/requests.js';
import { endpointHeaders, masked } from '../../run/secrets.js';
import { Rng } from '../../run/seeds.js';
import { type Binding, bindingSchema } from './source.js';

/** Row by variable name. */
export type ResultRow = Readonly<Record<string, Binding>>;

/** Result rows; `cut`: the endpoint reached its own maximum, the error where nothing smaller can be asked. */
export type Answer = { rows: readonly ResultRow[]; cut: PartialAnswer | undefined };

/** Client of one endpoint; counts answered queries, their rows, failed attempts, and reconnections. */
export type SparqlClient = ReturnType<typeof sparqlClient>;

/** An answer that the endpoint ended before it was whole, such as at its time limit: it is never taken for the whole, nor cached. */
export class PartialAnswer extends WorkbenchError {
  constructor(reason: string, address: string) {
    super('failure', `expected a whole answer, got a part (${reason}), at ${address}`, {
      hint: 'Raise the limits of the endpoint, or run the same command again when it is less busy: nothing of this answer was kept.',
      fatal: true,
    });
  }
}

const answerSchema = z.object({ results: z.object({ bindings: z.array(z.record(z.string(), bindingSchema)) }) });

/** Maximum bytes of a response: 100,000 rows of long IRIs take a third. */
const longestAnswer = 64 * 2 ** 20;
const tooLong = () =>
  new WorkbenchError('data', `expected at most ${longestAnswer} bytes, got more, at an answer of the endpoint`, {
    hint: 'Lower maxTails.',
    fatal: true,
  });

/**
 * @param endpoint its parameters (`default-graph-uri`) go into the body, which every server reads
 * @throws WorkbenchError (from `ask`, always `fatal`) `config` for an invalid or refusing endpoint, `failure` after the last retry; `PartialAnswer`
 */
export function sparqlClient(
  endpoint: URL,
  { concurrency, ...limits }: Omit<RequestLimits, 'rng'> & { concurrency: number },
) {
  const address = endpoint.origin + endpoint.pathname;
  const inTurn = semaphore(concurrency);
  const send = patientRequests({ ...limits, rng: Rng.named(0, 'sparql/back-off') });
  const counts = { queries: 0, rows: 0, failures: 0, returns: 0 };
  const own = endpointHeaders();
  const sent = new Headers({ 'user-agent': `kgwalk/${kgwalkVersion()}`, ...own });
  sent.set('accept', 'application/sparql-results+json');
  const refused = (expected: string, got: string, hint: string) =>
    new WorkbenchError('config', `expected ${expected}, got ${printable(masked(got), 300)}, at ${address}`, {
      hint,
      fatal: true,
    });

  async function once(query: string, signal: AbortSignal): Promise<Answer> {
    const body = new URLSearchParams(endpoint.search);
    body.set('query', query);
    let response: Response;
    let text: string;
    try {
      response = await fetch(address, { method: 'POST', body, redirect: 'manual', headers: sent, signal });
      text = await bounded(response, longestAnswer, tooLong).text();
    } catch (error) {
      throw error instanceof WorkbenchError ? error : new Passing(printable(reasonOfFetch(error), 200));
    }
    const { status, headers } = response;
    const said = [`status ${status}`, response.ok ? '' : wordsOf(text)].filter(Boolean).join(': ');
    const passing = passingStatus(status, printable(masked(said), 200), headers);
    if (passing) throw passing;
    if (status === 401 || status === 403) throw refused('an endpoint that lets queries in', said, ways(own));
    if (status !== 200 && status !== 206) {
      throw refused('an endpoint that answers', said, 'Check the address; it often ends in /sparql or /query.');
    }
    const type = headers.get('content-type') ?? 'no content type';
    if (!/^application\/(?:sparql-results\+)?json\b/i.test(type)) {
      const hint = 'Check that this is the address of the endpoint itself, not of its page.';
      throw refused('results as JSON', `${type}: ${wordsOf(text)}`, hint);
    }
    // Virtuoso ends a query at its time limit with status 200 or 206, and what it has by then; 00 is success.
    const state = headers.get('x-sql-state') ?? '00000';
    if (status === 206) throw new PartialAnswer('status 206', address);
    if (!state.startsWith('00')) throw new PartialAnswer(`X-SQL-State ${printable(state, 20)}`, address);
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
    return { rows, cut: rows.length >= most ? new PartialAnswer(`${most} rows`, address) : undefined };
  }

  const patiently = (query: string, signal: AbortSignal | undefined) =>
    send({
      signal,
      // An endpoint that never answered is probably a wrong address.
      retries: counts.queries === 0 ? Math.min(limits.retries, 1) : undefined,
      async ask(limit, failed) {
        const answer = await once(query, limit).catch((error: unknown) => {
          if (error instanceof Passing) counts.failures++;
          throw error;
        });
        counts.queries++;
        counts.rows += answer.rows.length;
        if (failed > 0) counts.returns++;
        return answer;
      },
      gaveUp({ message: reason }, tries) {
        const message = `expected an answer, got ${reason} (${tries} tries), at ${address}`;
        const hint = 'Answers so far are cached: rerun the same command to continue once the endpoint is up again.';
        return new WorkbenchError('failure', message, { hint, fatal: true });
      },
    });

  return { counts, ask: (query: string, signal?: AbortSignal) => inTurn(() => patiently(query, signal)) };
}

/** Hint for an endpoint that wants a login or other headers. */
function ways(own: Record<string, string>): string {
  const variables = 'KGWALK_SPARQL_USER and KGWALK_SPARQL_PASSWORD, or KGWALK_SPARQL_KEY for a bearer token';
  const login = own.authorization ? `Check the password or key in the environment: ${variables}` : `Set ${variables}`;
  return `${login}. Other headers, such as another user agent, go into KGWALK_SPARQL_HEADERS as JSON.`;
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

  tails: (direction: Direction, pairs: readonly (readonly [entity: string, relation: string])[]) =>
    `SELECT DISTINCT ?e ?r ?x WHERE { VALUES (?e ?r) { ${pairs.map((pair) => `(${pair.join(' ')})`).join(' ')} } ${pattern(direction, '?e', '?r')} }`,

  /** First tails of one pair, in the endpoint's order. */
  someTails: (direction: Direction, entity: string, relation: string, most: number) =>
    `SELECT DISTINCT ?x WHERE { ${pattern(direction, entity, relation)} } LIMIT ${most}`,

  /** Labels in English or without a language. */
  labels: (label: string, entities: readonly string[]) =>
    `SELECT ?e ?x WHERE { VALUES ?e { ${entities.join(' ')} } ?e ${label} ?x FILTER(LANG(?x) = "" || LANGMATCHES(LANG(?x), "en")) }`,

  /** Labels of the properties of Wikidata that stand behind relations. */
  propertyLabels: (label: string, relations: readonly string[]) =>
    `SELECT ?e ?x WHERE { VALUES ?e { ${relations.join(' ')} } ?p <http://wikiba.se/ontology#directClaim> ?e . ?p ${label} ?x FILTER(LANG(?x) = "" || LANGMATCHES(LANG(?x), "en")) }`,

  /** Entities by label, without a language or in English. */
  labelled: (label: string, labels: readonly string[]) =>
    `SELECT ?e ?x WHERE { VALUES ?x { ${labels.flatMap((text) => [text, `${text}@en`]).join(' ')} } ?e ${label} ?x }`,
};

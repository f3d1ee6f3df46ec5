/**
 * Edges of entities from an endpoint, with an on-disk cache shared by later commands. Relations with their tail counts are queried first,
 * so that hubs are known before they are read and truncated answers are detected.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { openStore } from '../encoder/lmdb-store.js';
import type { Delay } from '../llm/server-connection.js';
import { runInterleaved } from '../llm/concurrency.js';
import { configHash } from '../run/config.js';
import { WorkbenchError } from '../run/errors.js';
import { throwIfStopped } from '../run/stop.js';
import { type Direction, queries, type ResultRow, type SparqlClient, sparqlClient } from './client.js';
import { type SparqlSource, sourceFolder } from './source.js';
import { iriTerm, literalTerm, termOf } from './terms.js';

/** One relation of an entity. */
export interface KeptRelation {
  direction: Direction;
  /** Terms in the syntax of `terms.ts`. */
  relation: string;
  /** Ascending; without blank nodes, which cannot be queried. */
  tails: readonly string[];
  /** Total number of tails. */
  count: number;
  /** True if tails are missing: more than `maxTails`, or truncated by the endpoint. */
  cut: boolean;
}

/** Counters since the source was opened. */
export interface SourceCounts {
  queries: number;
  rows: number;
  /** Failed attempts. */
  failures: number;
  /** Entities from the cache, and entities queried. */
  remembered: number;
  asked: number;
  /** Relations of entities with missing tails. */
  cut: number;
}

/** Cached entity, keyed by the hash of its term. */
interface KeptEntity {
  term: string;
  relations: readonly KeptRelation[];
}

/** Entities per count query, rows per tails query, terms per label query. */
const entitiesAtOnce = 25;
/** Concurrent parts. */
const partsUnderWay = 4;
const rowsAtOnce = 5000;
const pairsAtOnce = 400;
const labelsAtOnce = 200;
/** Queries between consistency checks, and cached entities that a check queries again. */
const lookEvery = 500;
const looksAt = 10;

const openTables = (folder: string) =>
  openStore(folder, (root) => ({
    entities: root.openDB<KeptEntity, string>({ name: 'entities', encoding: 'json' }),
    labels: root.openDB<string, string>({ name: 'labels', encoding: 'json' }),
    about: root.openDB<{ triples: number }, string>({ name: 'about', encoding: 'json' }),
  }));

type Tables = Awaited<ReturnType<typeof openTables>>['tables'];

/** @throws WorkbenchError `config` or `failure` if no endpoint answers, `data` if it serves another graph than the cache */
export async function openNeighbourhoods(
  source: SparqlSource,
  { delay, cache }: { delay?: Delay | undefined; cache?: string | undefined } = {},
): Promise<Neighbourhoods> {
  const { endpoint, offline, timeout, retries } = source;
  const address = endpoint.href;
  const folder = sourceFolder(source, cache);
  if (offline && !existsSync(folder)) throw notKept('any answer', address);
  const client = sparqlClient(endpoint, { concurrency: 4, timeoutMs: timeout * 1000, retries, delay });
  const triples = offline ? undefined : await sizeOf(client);
  if (triples === 0) {
    throw new WorkbenchError('data', `expected a graph with triples, got none, at ${address}`, {
      hint: 'Select named graphs with ?default-graph-uri=IRI.',
    });
  }
  const { tables, close } = await openTables(folder);
  try {
    const about = tables.about.get('graph') ?? (triples === undefined ? undefined : { triples });
    if (!about) throw notKept('any answer', address);
    if (triples !== undefined && about.triples !== triples) throw otherGraph(address, about.triples, triples);
    const opened = new Neighbourhoods(source, { client, tables, about, close });
    if (!offline) await opened.lookAgain();
    if (!tables.about.get('graph')) await tables.about.put('graph', about);
    return opened;
  } catch (error) {
    await close();
    throw error;
  }
}

const sizeOf = async (client: SparqlClient, signal?: AbortSignal) =>
  numberOf((await client.ask(queries.size, signal)).rows[0]?.n?.value);

interface Opened {
  client: SparqlClient;
  tables: Tables;
  about: { triples: number };
  close(): Promise<void>;
}

/** Edges and labels of an endpoint through its cache. */
export class Neighbourhoods {
  /** sha256 (hex) of the endpoint, its options and its number of triples: all that answers depend on. */
  readonly id: string;
  readonly close: () => Promise<void>;
  readonly #client: SparqlClient;
  readonly #tables: Tables;
  readonly #about: { triples: number };
  readonly #address: string;
  readonly #label: string | undefined;
  readonly #maxTails: number;
  readonly #offline: boolean;
  readonly #counts = { remembered: 0, asked: 0, cut: 0 };
  /** Client counters at the last consistency check. */
  #checked: { returns: number; queries: number };

  constructor({ endpoint, label, maxTails, offline, version }: SparqlSource, opened: Opened) {
    this.#address = endpoint.href;
    this.#label = label === undefined ? undefined : iriTerm(label);
    this.#maxTails = maxTails;
    this.#offline = offline;
    this.#client = opened.client;
    this.#tables = opened.tables;
    this.#about = opened.about;
    this.#checked = { ...opened.client.counts };
    this.close = opened.close;
    this.id = configHash([endpoint.href, label, maxTails, version, opened.about.triples]);
  }

  get counts(): SourceCounts {
    const { queries: answered, rows, failures } = this.#client.counts;
    return { ...this.#counts, queries: answered, rows, failures };
  }

  /** All relations of each entity. @param terms of entities @throws WorkbenchError, always `fatal` */
  async of(terms: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, readonly KeptRelation[]>> {
    const wanted = [...new Set(terms)];
    const get = (term: string) => this.#tables.entities.get(keyOf(term))?.relations;
    const { found, missing } = await this.#throughCache(
      wanted,
      get,
      entitiesAtOnce,
      (part, both) => this.#bring(part, both),
      signal,
    );
    this.#counts.asked += missing;
    this.#counts.remembered += wanted.length - missing;
    for (const relations of found.values()) this.#counts.cut += relations.filter(({ cut }) => cut).length;
    return found;
  }

  /** Labels of the entities that have one; the first in English or without a language. */
  async labels(terms: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const label = this.#label;
    if (label === undefined) return new Map();
    const wanted = [...new Set(terms)].filter((term) => !term.startsWith('"'));
    const load = async (part: readonly string[], both: AbortSignal) => {
      const { rows } = await inParts(part, (some) => this.#client.ask(queries.labels(label, some), both));
      const first = firstBy(rows, 'e', ({ x }) => x && labelKey(x));
      await this.#putFirst(part, first, (text) => text.slice(1));
    };
    const get = (term: string) => this.#tables.labels.get(keyOf(term));
    const { found } = await this.#throughCache(wanted, get, labelsAtOnce, load, signal);
    return new Map([...found].filter(([, text]) => text !== ''));
  }

  /** Entity of each label; of several the first by IRI. */
  async labelled(labels: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const label = this.#label;
    if (label === undefined) return new Map();
    const texts = new Map(labels.map((text) => [literalTerm(text), text]));
    const load = async (part: readonly string[], both: AbortSignal) => {
      const asked = part.flatMap((text) => [text, `${text}@en`]);
      const { rows } = await inParts(asked, (some) => this.#client.ask(queries.labelled(label, some), both));
      const plain = rows.flatMap(({ e, x }) =>
        e && x ? [{ e, x: { type: 'literal' as const, value: x.value } }] : [],
      );
      const first = firstBy(plain, 'x', ({ e }) => e && termOf(e));
      await this.#putFirst(part, first, (term) => term);
    };
    const get = (text: string) => this.#tables.labels.get(keyOf(text));
    const { found } = await this.#throughCache([...texts.keys()], get, labelsAtOnce, load, signal);
    return new Map([...found].flatMap(([text, term]) => (term === '' ? [] : [[texts.get(text)!, term] as const])));
  }

  /**
   * Queries some cached entities again, others at each call: a graph of equal size that differs in a tenth of the cached entities is detected with probability
   * 2/3 per check.
   */
  async lookAgain(signal?: AbortSignal): Promise<void> {
    const start = randomBytes(32).toString('hex');
    const after = [...this.#tables.entities.getRange({ start, limit: looksAt })];
    const before = [...this.#tables.entities.getRange({ end: start, limit: looksAt - after.length })];
    const kept = [...after, ...before].map(({ value }) => value);
    if (kept.length === 0) return;
    const terms = kept.map(({ term }) => term);
    for (const direction of ['out', 'in'] as const) {
      const { found, cut } = await this.#counted(direction, terms, signal);
      for (const { term, relations } of kept) {
        const now = found.get(term)!;
        const known = relations.filter((one) => one.direction === direction);
        const same = known.length === now.size && known.every((one) => now.get(one.relation)?.count === one.count);
        if (!same && !cut) throw otherGraph(this.#address);
      }
    }
  }

  /** The endpoint may serve another graph after a reconnection. */
  async #checkGraph(signal: AbortSignal | undefined): Promise<void> {
    const { returns, queries: asked } = this.#client.counts;
    if (returns === this.#checked.returns && asked - this.#checked.queries < lookEvery) return;
    this.#checked = { returns, queries: asked };
    const now = await sizeOf(this.#client, signal);
    if (now !== this.#about.triples) throw otherGraph(this.#address, this.#about.triples, now);
    await this.lookAgain(signal);
  }

  /** Relations of entities with tail counts, without tails. */
  async #counted(direction: Direction, entities: readonly string[], signal: AbortSignal | undefined) {
    const found = new Map<string, Map<string, KeptRelation>>(entities.map((entity) => [entity, new Map()]));
    const { rows, cut } = await inParts(entities, (part) => this.#client.ask(queries.counts(direction, part), signal));
    for (const { e, r, n } of rows) {
      const [entity, relation] = [e && termOf(e), r && termOf(r)];
      const count = numberOf(n?.value);
      if (entity === undefined || relation === undefined || count === 0) continue;
      found.get(entity)?.set(relation, { direction, relation, count, tails: [], cut: false });
    }
    return { found, cut };
  }

  async #bringDirection(direction: Direction, entities: readonly string[], signal: AbortSignal) {
    const { found } = await this.#counted(direction, entities, signal);
    const pairs = [...found].flatMap(([entity, relations]) =>
      [...relations.values()].map((kept) => ({ entity, kept, tails: new Set<string>() })),
    );
    const hubs = pairs.filter(({ kept }) => kept.count > this.#maxTails);
    const parts = partsOf(pairs.filter(({ kept }) => kept.count <= this.#maxTails));
    await Promise.all([
      ...hubs.map(async ({ entity, kept, tails }) => {
        const { rows } = await this.#client.ask(
          queries.someTails(direction, entity, kept.relation, this.#maxTails),
          signal,
        );
        kept.cut = true;
        for (const { x } of rows) addTail(tails, x && termOf(x));
      }),
      ...parts.map(async (part) => {
        const byKey = new Map(part.map((pair) => [`${pair.entity} ${pair.kept.relation}`, pair]));
        await inParts(part, async (some) => {
          const asked = some.map(({ entity, kept }) => [entity, kept.relation] as const);
          const { rows } = await this.#client.ask(queries.tails(direction, asked), signal);
          const expected = some.reduce((sum, { kept }) => sum + kept.count, 0);
          if (rows.length > expected) throw otherGraph(this.#address);
          for (const { e, r, x } of rows) {
            const pair = byKey.get(`${(e && termOf(e)) ?? ''} ${(r && termOf(r)) ?? ''}`);
            if (pair) addTail(pair.tails, x && termOf(x));
          }
          const cut = rows.length < expected;
          if (cut && some.length === 1) some[0]!.kept.cut = true;
          return { rows: [], cut };
        });
      }),
    ]);
    for (const { kept, tails } of pairs) kept.tails = [...tails].sort();
    return found;
  }

  /** Fetches some entities and caches them at once, since later parts may fail. */
  async #bring(entities: readonly string[], signal: AbortSignal): Promise<void> {
    const [out, back] = await Promise.all([
      this.#bringDirection('out', entities, signal),
      this.#bringDirection('in', entities, signal),
    ]);
    await this.#checkGraph(signal);
    const relationsOf = (found: typeof out, entity: string) =>
      [...found.get(entity)!.values()].sort((a, b) => (a.relation < b.relation ? -1 : 1));
    await Promise.all(
      entities.map((term) =>
        this.#tables.entities.put(keyOf(term), {
          term,
          relations: [...relationsOf(out, term), ...relationsOf(back, term)],
        }),
      ),
    );
  }

  /** Looks up the cache and fetches the rest in parallel parts. The first failure ends all. */
  async #throughCache<Value>(
    wanted: readonly string[],
    get: (one: string) => Value | undefined,
    size: number,
    load: (part: readonly string[], signal: AbortSignal) => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<{ found: Map<string, Value>; missing: number }> {
    throwIfStopped(signal);
    const known = new Map(wanted.map((one) => [one, get(one)]));
    const missing = wanted.filter((one) => known.get(one) === undefined);
    if (this.#offline && missing.length > 0) throw notKept(missing[0]!, this.#address);
    const failed = new AbortController();
    const both = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
    const parts = Array.from({ length: Math.ceil(missing.length / size) }, (_, i) =>
      missing.slice(i * size, (i + 1) * size),
    );
    let first: unknown;
    // Parts are cached when complete; with few in flight, little is repeated after an endpoint fails.
    const bringing = runInterleaved(parts, partsUnderWay, (part) =>
      load(part, both).catch((error: unknown) => {
        first ??= error;
        failed.abort(error);
        throw error;
      }),
    );
    await bringing.catch((error: unknown) => {
      throw first ?? error;
    });
    return { found: new Map(wanted.map((one) => [one, known.get(one) ?? get(one)!])), missing: missing.length };
  }

  /** Missing values are cached as such. */
  async #putFirst(asked: readonly string[], found: ReadonlyMap<string, string>, value: (text: string) => string) {
    await Promise.all(
      asked.map((one) => this.#tables.labels.put(keyOf(one), found.has(one) ? value(found.get(one)!) : '')),
    );
  }
}

/** Queries all at once; truncated answers are queried again in halves. */
async function inParts<Asked>(
  asked: readonly Asked[],
  ask: (part: readonly Asked[]) => Promise<{ rows: readonly ResultRow[]; cut: boolean }>,
): Promise<{ rows: readonly ResultRow[]; cut: boolean }> {
  const answer = await ask(asked);
  if (!answer.cut || asked.length < 2) return answer;
  const middle = asked.length >>> 1;
  const [first, second] = [await inParts(asked.slice(0, middle), ask), await inParts(asked.slice(middle), ask)];
  return { rows: [...first.rows, ...second.rows], cut: first.cut || second.cut };
}

/** Labels with a language sort before those without. */
const labelKey = ({ value, 'xml:lang': language }: NonNullable<ResultRow[string]>) =>
  (language === undefined ? '1' : '0') + value;

/** Smallest value of each term of a variable. */
function firstBy(rows: readonly ResultRow[], key: 'e' | 'x', of: (row: ResultRow) => string | undefined) {
  const first = new Map<string, string>();
  for (const row of rows) {
    const term = row[key] && termOf(row[key]);
    const value = of(row);
    if (term === undefined || value === undefined) continue;
    const known = first.get(term);
    if (known === undefined || value < known) first.set(term, value);
  }
  return first;
}

interface Counted {
  kept: KeptRelation;
}

/** Parts with about as many rows as an answer may have. */
function partsOf<Pair extends Counted>(pairs: readonly Pair[]): Pair[][] {
  const parts: Pair[][] = [];
  let rows = Infinity;
  for (const pair of pairs) {
    rows += pair.kept.count;
    if (rows > rowsAtOnce || parts.at(-1)!.length >= pairsAtOnce) {
      parts.push([]);
      rows = pair.kept.count;
    }
    parts.at(-1)!.push(pair);
  }
  return parts;
}

function addTail(tails: Set<string>, term: string | undefined): void {
  if (term !== undefined) tails.add(term);
}

/** Hashed, as terms may exceed the database's key length. */
const keyOf = (term: string) => createHash('sha256').update(term).digest('hex');

const numberOf = (text: string | undefined) => {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : 0;
};

function otherGraph(address: string, before?: number, now?: number): WorkbenchError {
  const [expected, got] =
    before === undefined ? ['the graph asked before', 'another'] : [`${before} triples as before`, String(now)];
  return new WorkbenchError('data', `expected ${expected}, got ${got}, at ${address}`, {
    hint: 'The endpoint serves another graph, or it changed. Set a new #version= in the address to start with an empty cache.',
    fatal: true,
  });
}

function notKept(what: string, address: string): WorkbenchError {
  return new WorkbenchError('data', `expected ${what} in the cache, got none, at ${address} with offline=true`, {
    hint: 'Run once without offline: answers are cached.',
    fatal: true,
  });
}

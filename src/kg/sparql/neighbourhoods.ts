/** Edges of entities from an endpoint, with an on-disk cache. Relations are counted first: hubs are known before they are read, cuts detected. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { openStore } from '../../store/lmdb-store.js';
import { runInterleaved } from '../../run/concurrency.js';
import { configHash } from '../../run/config-values.js';
import { WorkbenchError } from '../../run/errors.js';
import type { Delay } from '../../run/requests.js';
import { throwIfStopped } from '../../run/stop.js';
import { type Direction, PartialAnswer, queries, type ResultRow, type SparqlClient, sparqlClient } from './client.js';
import { type SparqlSource, sourceFolder, iriTerm, literalTerm, termOf } from './source.js';

/** One relation of an entity. */
export interface KeptRelation {
  direction: Direction;
  /** Terms in the syntax of `source.ts`. */
  relation: string;
  /** Ascending; without blank nodes and quoted triples, which cannot be queried. */
  tails: readonly string[];
  /** Number of those; absent for none. */
  leftOut?: number;
  /** Total number of tails. */
  count: number;
  /** True if tails are missing: more than `maxTails`, or truncated by the endpoint. */
  cut: boolean;
}

/** Cached entity, keyed by the hash of its term. */
type KeptEntity = { term: string; relations: readonly KeptRelation[] };

/** Entities per count query, rows per tails query, terms per label query. */
const entitiesAtOnce = 25;
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
  readonly #counts = { remembered: 0, asked: 0, cut: 0, leftOut: 0 };
  /** Client counters at the last consistency check. */
  #checked: { returns: number; queries: number };

  constructor(
    private readonly source: SparqlSource,
    private readonly opened: Opened,
  ) {
    const { endpoint, label, maxTails, version } = source;
    this.#checked = { ...opened.client.counts };
    this.close = opened.close;
    this.id = configHash([endpoint.href, label, maxTails, version, opened.about.triples]);
  }

  /**
   * Since the source was opened: entities from the cache (`remembered`) and queried, relations with missing tails (`cut`), tails that
   * cannot be queried (`leftOut`), requests.
   */
  get counts() {
    const { queries: answered, rows, failures } = this.opened.client.counts;
    return { ...this.#counts, queries: answered, rows, failures };
  }

  /** All relations of each entity. @param terms of entities @throws WorkbenchError, always `fatal` */
  async of(terms: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, readonly KeptRelation[]>> {
    const wanted = [...new Set(terms)];
    const get = (term: string) => this.opened.tables.entities.get(keyOf(term))?.relations;
    const bring = (part: readonly string[], both: AbortSignal) => this.#bring(part, both);
    const { found, missing } = await this.#throughCache(wanted, get, entitiesAtOnce, bring, signal);
    this.#counts.asked += missing;
    this.#counts.remembered += wanted.length - missing;
    for (const { cut, leftOut = 0 } of [...found.values()].flat()) {
      this.#counts.cut += Number(cut);
      this.#counts.leftOut += leftOut;
    }
    return found;
  }

  /** Labels of the entities that have one; the first in English or without a language. */
  labels(terms: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const wanted = terms.filter((term) => !term.startsWith('"'));
    return this.#lookedUp(wanted, queries.labels, firstLabels, signal);
  }

  /** Labels of the properties of Wikidata behind relations such as `wdt:P17`; none for other relations, nor one that two have. */
  async relationLabels(terms: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const found = await this.#lookedUp(terms, queries.propertyLabels, firstLabels, signal, 'property ');
    const all = [...found.values()];
    return new Map([...found].filter(([, label]) => all.indexOf(label) === all.lastIndexOf(label)));
  }

  /** Entity of each label; of several the first by IRI. */
  async labelled(labels: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const texts = new Map(labels.map((text) => [literalTerm(text), text]));
    const first = (rows: readonly ResultRow[]) =>
      firstBy(
        rows,
        ({ x }) => x && literalTerm(x.value),
        ({ e }) => e && termOf(e),
      );
    const found = await this.#lookedUp([...texts.keys()], queries.labelled, first, signal);
    return new Map(Array.from(found, ([text, term]) => [texts.get(text)!, term]));
  }

  /** Looks up the other side of the label relation through the cache, which also keeps that nothing was found. */
  async #lookedUp(
    wanted: readonly string[],
    query: (label: string, part: readonly string[]) => string,
    first: (rows: readonly ResultRow[]) => ReadonlyMap<string, string>,
    signal: AbortSignal | undefined,
    kind = '',
  ): Promise<ReadonlyMap<string, string>> {
    if (this.source.label === undefined) return new Map();
    const label = iriTerm(this.source.label);
    const { client, tables } = this.opened;
    const load = async (part: readonly string[], both: AbortSignal) => {
      const found = first(await inParts(part, (some) => client.ask(query(label, some), both)));
      await Promise.all(part.map((one) => tables.labels.put(keyOf(kind + one), found.get(one) ?? '')));
    };
    const get = (one: string) => tables.labels.get(keyOf(kind + one));
    const { found } = await this.#throughCache([...new Set(wanted)], get, labelsAtOnce, load, signal);
    return new Map([...found].filter(([, text]) => text !== ''));
  }

  /** Queries some cached entities again, others at each call: a graph that differs in a tenth of them is detected with probability 2/3. */
  async lookAgain(signal?: AbortSignal): Promise<void> {
    const start = randomBytes(32).toString('hex');
    const after = [...this.opened.tables.entities.getRange({ start, limit: looksAt })];
    const before = [...this.opened.tables.entities.getRange({ end: start, limit: looksAt - after.length })];
    const kept = [...after, ...before].map(({ value }) => value);
    if (kept.length === 0) return;
    const terms = kept.map(({ term }) => term);
    for (const direction of ['out', 'in'] as const) {
      const found = await this.#counted(direction, terms, signal);
      for (const { term, relations } of kept) {
        const now = found.get(term)!;
        const known = relations.filter((one) => one.direction === direction);
        const same = known.length === now.size && known.every((one) => now.get(one.relation)?.count === one.count);
        if (!same) throw otherGraph(this.source.endpoint.href);
      }
    }
  }

  /** The endpoint may serve another graph after a reconnection. */
  async #checkGraph(signal: AbortSignal | undefined): Promise<void> {
    const { returns, queries: asked } = this.opened.client.counts;
    if (returns === this.#checked.returns && asked - this.#checked.queries < lookEvery) return;
    this.#checked = { returns, queries: asked };
    const now = await sizeOf(this.opened.client, signal);
    if (now !== this.opened.about.triples) throw otherGraph(this.source.endpoint.href, this.opened.about.triples, now);
    await this.lookAgain(signal);
  }

  /** Relations of entities with tail counts, without tails. */
  async #counted(direction: Direction, entities: readonly string[], signal: AbortSignal | undefined) {
    const found = new Map<string, Map<string, KeptRelation>>(entities.map((entity) => [entity, new Map()]));
    const rows = await inParts(entities, (part) => this.opened.client.ask(queries.counts(direction, part), signal));
    for (const { e, r, n } of rows) {
      const [entity, relation] = [e && termOf(e), r && termOf(r)];
      const count = numberOf(n?.value);
      if (entity === undefined || relation === undefined || count === 0) continue;
      found.get(entity)?.set(relation, { direction, relation, count, tails: [], cut: false });
    }
    return found;
  }

  async #bringDirection(direction: Direction, entities: readonly string[], signal: AbortSignal) {
    const found = await this.#counted(direction, entities, signal);
    const pairs = [...found].flatMap(([entity, relations]) =>
      [...relations.values()].map((kept) => ({ entity, kept, tails: new Set<string>() })),
    );
    const hubs = pairs.filter(({ kept }) => kept.count > this.source.maxTails);
    const parts = partsOf(pairs.filter(({ kept }) => kept.count <= this.source.maxTails));
    await Promise.all([
      ...hubs.map(async (pair) => {
        const { entity, kept } = pair;
        const query = queries.someTails(direction, entity, kept.relation, this.source.maxTails);
        const { rows } = await this.opened.client.ask(query, signal);
        kept.cut = true;
        for (const row of rows) addTail(pair, row);
      }),
      ...parts.map(async (part) => {
        const byKey = new Map(part.map((pair) => [`${pair.entity} ${pair.kept.relation}`, pair]));
        await inParts(part, async (some) => {
          const asked = some.map(({ entity, kept }) => [entity, kept.relation] as const);
          const { rows } = await this.opened.client.ask(queries.tails(direction, asked), signal);
          const expected = some.reduce((sum, { kept }) => sum + kept.count, 0);
          const named = rows.filter(({ x }) => x && termOf(x) !== undefined);
          if (named.length > expected) throw otherGraph(this.source.endpoint.href);
          const cut = rows.length < expected;
          if (cut && some.length > 1) return { rows: [], cut };
          if (cut) some[0]!.kept.cut = true;
          for (const row of rows) {
            const pair = byKey.get(`${row.e && termOf(row.e)} ${row.r && termOf(row.r)}`);
            if (pair) addTail(pair, row);
          }
          return { rows: [] };
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
    const sorted = (found: Map<string, KeptRelation>) =>
      [...found.values()].sort((a, b) => (a.relation < b.relation ? -1 : 1));
    const put = (term: string) => {
      const relations = [out, back].flatMap((found) => sorted(found.get(term)!));
      return this.opened.tables.entities.put(keyOf(term), { term, relations });
    };
    await Promise.all(entities.map(put));
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
    if (this.source.offline && missing.length > 0) throw notKept(missing[0]!, this.source.endpoint.href);
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
}

/** Queries all at once; truncated and partial answers are queried again in halves. @throws PartialAnswer where one alone is not whole */
async function inParts<Asked>(
  asked: readonly Asked[],
  ask: (part: readonly Asked[]) => Promise<{ rows: readonly ResultRow[]; cut?: PartialAnswer | boolean | undefined }>,
): Promise<readonly ResultRow[]> {
  const { rows, cut } = await ask(asked).catch((error: unknown) => {
    if (error instanceof PartialAnswer) return { rows: [], cut: error };
    throw error;
  });
  if (!cut) return rows;
  if (asked.length < 2) throw cut;
  const middle = asked.length >>> 1;
  return [...(await inParts(asked.slice(0, middle), ask)), ...(await inParts(asked.slice(middle), ask))];
}

/** Smallest label of each term, those with a language first. */
function firstLabels(rows: readonly ResultRow[]): ReadonlyMap<string, string> {
  const keys = firstBy(
    rows,
    ({ e }) => e && termOf(e),
    ({ x }) => x && labelKey(x),
  );
  return new Map(Array.from(keys, ([term, key]) => [term, key.slice(1)]));
}

/** Labels with a language sort before those without. */
const labelKey = ({ value, 'xml:lang': language }: NonNullable<ResultRow[string]>) =>
  (language === undefined ? '1' : '0') + value;

/** Smallest value by key; rows without either are left out. */
function firstBy(
  rows: readonly ResultRow[],
  keyOfRow: (row: ResultRow) => string | undefined,
  valueOf: (row: ResultRow) => string | undefined,
): Map<string, string> {
  const first = new Map<string, string>();
  for (const row of rows) {
    const [key, value] = [keyOfRow(row), valueOf(row)];
    if (key !== undefined && value !== undefined && !(first.get(key)! <= value)) first.set(key, value);
  }
  return first;
}

/** Parts with about as many rows as an answer may have. */
function partsOf<Pair extends { kept: KeptRelation }>(pairs: readonly Pair[]): Pair[][] {
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

function addTail({ kept, tails }: { kept: KeptRelation; tails: Set<string> }, { x }: ResultRow): void {
  const term = x && termOf(x);
  if (term === undefined) kept.leftOut = (kept.leftOut ?? 0) + 1;
  else tails.add(term);
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

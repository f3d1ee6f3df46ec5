/** Graph behind an endpoint with the interface of one in memory: it holds the edges loaded by `ensure`. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { RelationColumn } from '../adjacency.js';
import { Graph, inverseName, unknownId } from '../graph.js';
import { NameTable } from '../name-table.js';
import { semaphore } from '../../run/concurrency.js';
import type { Delay } from '../../run/requests.js';
import { type KeptRelation, type Neighbourhoods, openNeighbourhoods } from './neighbourhoods.js';
import { parseSparqlSource, type SparqlSource, nameOfTerm, termOfName } from './source.js';

/** Edges of one entity by relation and tail; int32, of equal length. */
interface Row {
  relations: Int32Array;
  tails: Int32Array;
  /** Relations with missing tails. */
  cut: number;
}

/**
 * Graph that grows on demand. Entities and relations of `known` keep their ids, so questions, gold answers and tie-breaks match the graph
 * in memory; others get the next ids in order of discovery. Memory: 14 bytes per loaded edge, and a name per entity.
 */
export class RemoteGraph extends Graph {
  declare offsets: Int32Array;
  declare relations: RelationColumn;
  declare tails: Int32Array;
  declare inverseOf: Int32Array;
  readonly #names: string[];
  readonly #known: Graph;
  /** Ids of names missing from `known`. */
  readonly #added = new Map<string, number>();
  readonly #terms: (string | undefined)[] = [];
  readonly #idOfTerm = new Map<string, number>();
  readonly #rows = new Map<number, Row>();
  readonly #relationList: string[];
  readonly #nameOfRelation = new Map<string, string>();
  readonly #inTurn = semaphore(1);
  /** Entities loaded within the current `watch`. */
  readonly #watched = new AsyncLocalStorage<Set<number>>();

  constructor(
    readonly source: SparqlSource,
    known: Graph,
    readonly remote: Neighbourhoods,
  ) {
    const relationNames = [...known.relationNames];
    const nothing = { heads: new Int32Array(), relations: new Int32Array(), tails: new Int32Array() };
    super(source.name, new NameTable(known.shared().entities), relationNames, nothing);
    this.#relationList = relationNames;
    this.#names = [...known.entityNames];
    this.#known = known;
  }

  override get local(): Graph {
    return this.#known;
  }

  override get hash(): string {
    return this.remote.id;
  }

  override get entityNames(): readonly string[] {
    return this.#names;
  }

  override get numEntities(): number {
    return this.#names.length;
  }

  override entityName(entity: number): string | undefined {
    return this.#names[entity];
  }

  override entityId(name: string): number {
    const id = this.#known.entityId(name);
    return id === unknownId ? (this.#added.get(name) ?? unknownId) : id;
  }

  override ensure(entities: Iterable<number>, signal?: AbortSignal): Promise<void> {
    const wanted = [...new Set(entities)];
    for (const entity of wanted) this.#watched.getStore()?.add(entity);
    const missing = () => wanted.filter((entity) => entity >= 0 && !this.#rows.has(entity));
    if (missing().length === 0) return Promise.resolve();
    return this.#inTurn(() => this.#bring(missing(), signal));
  }

  /** Runs `work` and counts the truncated relations, each once, of the entities that it loads. */
  async watch<Value>(work: () => Promise<Value>): Promise<{ value: Value; cut: number }> {
    const met = new Set<number>();
    const value = await this.#watched.run(met, work);
    return { value, cut: [...met].reduce((sum, entity) => sum + (this.#rows.get(entity)?.cut ?? 0), 0) };
  }

  override close(): Promise<void> {
    return this.remote.close();
  }

  /** Load statistics as text. */
  summary(): string {
    const { queries, rows, asked, remembered, cut, leftOut } = this.remote.counts;
    const hubs =
      cut > 0 ? `; ${cut} relations of hubs were cut, to ${this.source.maxTails} tails or by the endpoint` : '';
    const unnamed = leftOut > 0 ? `; ${leftOut} blank nodes and quoted triples left out of tails` : '';
    return `${this.name}: ${queries} queries, ${rows} rows; ${asked} entities queried, ${remembered} from the cache${hubs}${unnamed}`;
  }

  async #bring(entities: readonly number[], signal: AbortSignal | undefined): Promise<void> {
    await this.#findTerms(entities, signal);
    const termOf = (entity: number) => this.#terms[entity];
    const found = await this.remote.of(
      entities.flatMap((entity) => termOf(entity) ?? []),
      signal,
    );
    const tails = [...found.values()].flatMap((relations) => relations.flatMap((one) => one.tails));
    const labels = await this.remote.labels(
      tails.filter((term) => !this.#idOfTerm.has(term)),
      signal,
    );
    const relations = [...found.values()].flatMap((all) => all.map(({ relation }) => relation));
    await this.#nameRelations(new Set(relations), signal);
    for (const entity of entities) this.#rows.set(entity, this.#rowOf(found.get(termOf(entity) ?? '') ?? [], labels));
    this.#rebuild();
  }

  /** With a label relation, terms are queried by label; names without an entity stay without a term and edges. */
  async #findTerms(entities: readonly number[], signal: AbortSignal | undefined): Promise<void> {
    const missing = entities.filter((entity) => this.#terms[entity] === undefined);
    const { label, prefix } = this.source;
    const nameOf = (entity: number) => this.#names[entity]!;
    const labelled = await this.remote.labelled(label === undefined ? [] : missing.map(nameOf), signal);
    for (const entity of missing) {
      const term = label === undefined ? termOfName(nameOf(entity), prefix) : labelled.get(nameOf(entity));
      if (term !== undefined && !this.#idOfTerm.has(term)) this.#bind(entity, term);
    }
  }

  #bind(entity: number, term: string): void {
    this.#terms[entity] = term;
    this.#idOfTerm.set(term, entity);
  }

  #rowOf(found: readonly KeptRelation[], labels: ReadonlyMap<string, string>): Row {
    const edges: [number, number][] = [];
    for (const { direction, relation, tails } of found) {
      const id = this.#relation(relation, direction === 'in');
      for (const tail of tails) edges.push([id, this.#entity(tail, labels)]);
    }
    edges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return {
      relations: Int32Array.from(edges, ([id]) => id),
      tails: Int32Array.from(edges, ([, tail]) => tail),
      cut: found.filter(({ cut }) => cut).length,
    };
  }

  /** Names of the data set stay; other relations go by their label, unless another one has it. */
  async #nameRelations(met: ReadonlySet<string>, signal: AbortSignal | undefined): Promise<void> {
    const terms = [...met].filter((term) => !this.#nameOfRelation.has(term)).sort();
    const labels = await this.remote.relationLabels(terms, signal);
    const taken = new Set(this.#nameOfRelation.values());
    for (const term of terms) {
      const plain = nameOfTerm(term, this.source.relationPrefix);
      const label = this.#known.relationNames.includes(plain) ? plain : (labels.get(term) ?? plain);
      const name = taken.has(label) ? plain : label;
      taken.add(name);
      this.#nameOfRelation.set(term, name);
    }
  }

  #relation(term: string, backwards: boolean): number {
    const name = this.#nameOfRelation.get(term)!;
    for (const one of [name, inverseName(name)]) {
      if (this.relationIds.has(one)) continue;
      this.relationIds.set(one, this.#relationList.length);
      this.#relationList.push(one);
    }
    return this.relationId(backwards ? inverseName(name) : name);
  }

  /** Entity of a term: an entity of that name without a term yet, else a new one. */
  #entity(term: string, labels: ReadonlyMap<string, string>): number {
    const bound = this.#idOfTerm.get(term);
    if (bound !== undefined) return bound;
    const name = labels.get(term) ?? nameOfTerm(term, this.source.prefix);
    let id = this.entityId(name);
    if (id === unknownId || this.#terms[id] !== undefined) {
      id = this.#names.length;
      this.#names.push(name);
      if (!this.#added.has(name)) this.#added.set(name, id);
    }
    this.#bind(id, term);
    return id;
  }

  #rebuild(): void {
    const offsets = new Int32Array(this.numEntities + 1);
    for (const [entity, { tails }] of this.#rows) offsets[entity + 1] = tails.length;
    for (let i = 0; i < this.numEntities; i++) offsets[i + 1]! += offsets[i]!;
    const edges = offsets.at(-1)!;
    const [relations, tails] = [new Int32Array(edges), new Int32Array(edges)];
    for (const [entity, row] of this.#rows) {
      relations.set(row.relations, offsets[entity]);
      tails.set(row.tails, offsets[entity]);
    }
    Object.assign(this, { offsets, relations, tails });
    this.inverseOf = Int32Array.from(this.relationNames, (name) => this.relationId(inverseName(name)));
  }
}

/** Opens `sparql:URL#options`; ids of `known` stay. @throws WorkbenchError `usage` for an invalid address, and as `openNeighbourhoods` */
export async function openRemoteGraph(
  text: string,
  known: Graph,
  options: { delay?: Delay; cache?: string } = {},
): Promise<RemoteGraph> {
  const source = parseSparqlSource(text);
  return new RemoteGraph(source, known, await openNeighbourhoods(source, options));
}

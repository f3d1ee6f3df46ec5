/** A directed labelled multigraph in compressed sparse rows, every edge of every hub kept; triples and paths as its ids. */
import { createHash, type Hash } from 'node:crypto';
import { sampled } from '../run/seeds.js';
import { adjacencyOf, type AdjacencyRows, type RelationColumn } from './adjacency.js';
import { type NameColumns, NameTable } from './name-table.js';

/** Triples as ids, three parallel arrays of equal length. */
export interface TripleColumns {
  heads: Int32Array;
  relations: Int32Array;
  tails: Int32Array;
}

/** The id that stands for a name the graph does not know. */
export const unknownId = -1;

/** Marks the inverse direction of a relation in files and prompts: `~directed_by`. */
export const inversePrefix = '~';

/** A graph as plain data: its arrays lie in shared memory, so that sending it to a thread copies nothing. */
export interface SharedGraph extends AdjacencyRows {
  name: string;
  entities: NameColumns;
  relationNames: readonly string[];
  madeFrom: readonly string[];
  /** As `Graph.hash`, where it is known. */
  hash?: string | undefined;
}

/**
 * Edges of one head lie side by side, ordered by (relation, tail); duplicates of a triple are merged, parallel
 * relations survive. A step costs O(degree). Memory: 6 bytes an edge (8 with more than 65,536 relations); 8 bytes an entity
 * and the UTF-8 of its name; 11 to 23 more an entity once names are looked up (docs/scale.md).
 */
export class Graph {
  /** int32 [numEntities + 1]: edges of `head` are `offsets[head] .. offsets[head + 1] - 1`. */
  readonly offsets: Int32Array;
  /** `[numEdges]`: relation id of each edge; uint16 up to 65,536 relations, else int32. */
  readonly relations: RelationColumn;
  /** int32 [numEdges]: tail entity id of each edge. */
  readonly tails: Int32Array;
  /** int32 [numRelations]: the relation walked backwards, or -1 where it has no inverse. */
  readonly inverseOf: Int32Array;
  /** Name of each relation id, `~name` for an inverse. */
  readonly relationNames: readonly string[];
  readonly #entities: NameTable;
  protected readonly relationIds = new Map<string, number>();
  #entityNames: readonly string[] | undefined;
  #hash: string | undefined;

  /**
   * @param name which graph of a data set this is, such as `dialogue` or `wide`; named in every result
   * @param entityNames name of each entity id
   * @param relationNames name of each relation id, `~name` for an inverse
   * @param triples ids, or rows that are sorted already and become the graph's own; both directions must already be there
   * where both may be walked
   */
  constructor(
    readonly name: string,
    entityNames: readonly string[] | NameTable,
    relationNames: readonly string[],
    triples: TripleColumns | AdjacencyRows,
    /** What its triples were read from, noted as they were read; empty for a graph that was stored since. */
    readonly madeFrom: readonly string[] = [],
  ) {
    this.#entities = entityNames instanceof NameTable ? entityNames : NameTable.of(entityNames);
    const rows = 'offsets' in triples ? triples : sorted(this.#entities.size, relationNames.length, triples);
    this.offsets = rows.offsets;
    this.relations = rows.relations;
    this.tails = rows.tails;
    this.relationNames = relationNames;
    relationNames.forEach((relation, id) => this.relationIds.set(relation, id));
    this.inverseOf = Int32Array.from(relationNames, (relation) => this.relationId(inverseName(relation)));
  }

  /** The graph that `shared` gave, over the same memory: for threads. */
  static fromShared({ name, entities, relationNames, madeFrom, hash, ...rows }: SharedGraph): Graph {
    const graph = new Graph(name, new NameTable(entities), relationNames, rows, madeFrom);
    graph.#hash = hash;
    return graph;
  }

  /** The graph as plain data over the same memory; names are copied once. */
  shared(): SharedGraph {
    const { name, relationNames, madeFrom, offsets, relations, tails } = this;
    const entities = this.#entities.columns();
    return { name, relationNames, madeFrom, entities, offsets, relations, tails, hash: this.#hash };
  }

  /** A graph of the same names and ids with other edges: `rows` become its own. Its hash is its own, too. */
  withRows(rows: AdjacencyRows): Graph {
    return new Graph(this.name, this.#entities, this.relationNames, rows, this.madeFrom);
  }

  /**
   * Name of each entity id. The first use makes a string of every name, which stay: with millions of entities ask
   * `entityName` for those that are needed.
   */
  get entityNames(): readonly string[] {
    return (this.#entityNames ??= [...this.#entities.names()]);
  }

  /** Name of an entity, or undefined for an id that the graph lacks. */
  entityName(entity: number): string | undefined {
    return this.#entities.name(entity);
  }

  get numEntities(): number {
    return this.#entities.size;
  }

  get numRelations(): number {
    return this.relationNames.length;
  }

  get numEdges(): number {
    return this.tails.length;
  }

  /** The id that means "stay at the current entity" in action lists and tables: one past the last relation. */
  get equalRelation(): number {
    return this.numRelations;
  }

  /** Id of an entity by its exact name, or `unknownId`. */
  entityId(name: string): number {
    return this.#entities.id(name);
  }

  /** Id of a relation by its exact name, or `unknownId`. */
  relationId(name: string): number {
    return this.relationIds.get(name) ?? unknownId;
  }

  /** Number of edges that leave `entity`; 0 for `unknownId`. */
  degree(entity: number): number {
    return entity < 0 ? 0 : this.offsets[entity + 1]! - this.offsets[entity]!;
  }

  /**
   * To be awaited before the edges of these entities are read, by whoever may walk a graph that lies elsewhere: it brings them.
   * Here all are in memory, and nothing is done.
   */
  ensure(_entities: Iterable<number>, _signal?: AbortSignal): Promise<void> {
    return Promise.resolve();
  }

  /** The part that is in memory as a whole, with the ids that it has here: all of it, unless the graph lies elsewhere. */
  get local(): Graph {
    return this;
  }

  /** Gives up what lies elsewhere. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Index of the edge (head, relation, tail), or -1. O(log degree). */
  edgeIndex(head: number, relation: number, tail: number): number {
    if (head < 0) return -1;
    let low = this.offsets[head]!;
    let high = this.offsets[head + 1]! - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = this.relations[middle]! - relation || this.tails[middle]! - tail;
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** Whether every step of a path is an edge. */
  holds(path: Path): boolean {
    return path.every(([head, relation, tail]) => this.edgeIndex(head, relation, tail) >= 0);
  }

  /** sha256 (hex) over the JSON array [entity names, relation names] and the columns: a checkpoint belongs to one graph. */
  get hash(): string {
    if (this.#hash !== undefined) return this.#hash;
    const hash = createHash('sha256').update('[');
    hashNames(hash, this.#entities.names());
    hash.update(',');
    hashNames(hash, this.relationNames);
    hash.update(']');
    for (const column of [this.offsets, this.relations, this.tails]) hashColumn(hash, column);
    return (this.#hash = hash.digest('hex'));
  }
}

/** The name of a relation walked the other way: `r` ↔ `~r`. */
export function inverseName(relation: string): string {
  return relation.startsWith(inversePrefix) ? relation.slice(inversePrefix.length) : inversePrefix + relation;
}

function sorted(numEntities: number, numRelations: number, { heads, relations, tails }: TripleColumns): AdjacencyRows {
  return adjacencyOf(numEntities, numRelations, (take) => {
    for (let i = 0; i < heads.length; i++) take(heads[i]!, relations[i]!, tails[i]!);
  });
}

/** Names or numbers that are put through the hash at once. */
const piece = 2 ** 16;

function hashNames(hash: Hash, names: Iterable<string>): void {
  let text = '[';
  let comma = '';
  for (const name of names) {
    text += comma + JSON.stringify(name);
    comma = ',';
    if (text.length < piece) continue;
    hash.update(text);
    text = '';
  }
  hash.update(`${text}]`);
}

function hashColumn(hash: Hash, column: RelationColumn): void {
  for (let at = 0; at < column.length; at += piece) {
    const part = column.subarray(at, at + piece);
    const numbers = part instanceof Int32Array ? part : Int32Array.from(part);
    hash.update(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
  }
}

/** One edge that was walked: head, relation, tail. */
export type Triple = readonly [head: number, relation: number, tail: number];

/** Triples in walking order; each head is the tail before it. */
export type Path = readonly Triple[];

/** A path without its stay (Equal) steps, which add nothing to where it leads. */
export function canonicalPath(path: Path, equalRelation: number): Path {
  return path.filter(([, relation]) => relation !== equalRelation);
}

/** A key that is equal for equal paths. */
export function pathKey(path: Path): string {
  return path.map((triple) => triple.join(',')).join(';');
}

/** Compares lists of ids number by number; the beginning of a list comes before it. For `sort`. */
export function byIds(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

/** The triples at some places, in their order. New arrays. */
export function pickTriples({ heads, relations, tails }: TripleColumns, places: Int32Array): TripleColumns {
  const column = (values: Int32Array) => places.map((place) => values[place]!);
  return { heads: column(heads), relations: column(relations), tails: column(tails) };
}

/** A seeded draw in the order of the triples; all of them where there are no more. @param name names the draw */
export function sampledTriples(triples: TripleColumns, count: number, name: string): TripleColumns {
  return pickTriples(triples, Int32Array.from(sampled([...triples.heads.keys()], count, name)));
}

/** One after another. New arrays. */
export function joinTriples(parts: readonly TripleColumns[]): TripleColumns {
  const all = (column: keyof TripleColumns) => {
    const values = new Int32Array(parts.reduce((sum, part) => sum + part[column].length, 0));
    let at = 0;
    for (const part of parts) {
      values.set(part[column], at);
      at += part[column].length;
    }
    return values;
  };
  return { heads: all('heads'), relations: all('relations'), tails: all('tails') };
}

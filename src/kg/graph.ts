/** Directed labelled multigraph in compressed sparse rows (no edge of a hub is dropped); triples and paths as ids. */
import { createHash, type Hash } from 'node:crypto';
import { sampled } from '../run/seeds.js';
import { adjacencyOf, type AdjacencyRows, type RelationColumn } from './adjacency.js';
import { type NameColumns, NameTable } from './name-table.js';

/** Triples as ids: three parallel arrays. */
export type TripleColumns = { heads: Int32Array; relations: Int32Array; tails: Int32Array };

/** Id of a name that is not in the graph. */
export const unknownId = -1;

/** Prefix of inverse relations in files and prompts: `~directed_by`. */
export const inversePrefix = '~';

/** Graph as plain data in shared memory: sending it to a thread copies nothing. */
export interface SharedGraph extends AdjacencyRows {
  name: string;
  entities: NameColumns;
  relationNames: readonly string[];
  madeFrom: readonly string[];
  /** `Graph.hash`, if already computed. */
  hash?: string | undefined;
}

/**
 * Edges of a head are contiguous, ordered by (relation, tail); duplicates are merged, parallel relations kept. Memory: 6 bytes an edge (8 above
 * 65,536 relations); 8 bytes an entity and its name in UTF-8; 11 to 23 more once names are looked up (docs/explanation/performance.md).
 */
export class Graph {
  /** int32 [numEntities + 1]: edges of `head` are `offsets[head] .. offsets[head + 1] - 1`. */
  readonly offsets: Int32Array;
  /** `[numEdges]`: relation id of each edge; uint16 up to 65,536 relations, else int32. */
  readonly relations: RelationColumn;
  /** int32 [numEdges]: tail entity id of each edge. */
  readonly tails: Int32Array;
  /** int32 [numRelations]: inverse relation, or -1. */
  readonly inverseOf: Int32Array;
  /** Relation names by id, `~name` for an inverse. */
  readonly relationNames: readonly string[];
  readonly #entities: NameTable;
  protected readonly relationIds = new Map<string, number>();
  #entityNames: readonly string[] | undefined;
  #hash: string | undefined;

  /**
   * @param name of this graph within its data set, such as `dialogue` or `wide`; part of every result
   * @param entityNames by entity id
   * @param relationNames by relation id, `~name` for an inverse
   * @param triples ids, or sorted rows that the graph then owns; to be walkable both ways, both directions must be present
   */
  constructor(
    readonly name: string,
    entityNames: readonly string[] | NameTable,
    relationNames: readonly string[],
    triples: TripleColumns | AdjacencyRows,
    /** Sources of its triples; empty for a graph read back from disk. */
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

  /** Graph over the memory of `shared()`, for threads. */
  static fromShared({ name, entities, relationNames, madeFrom, hash, ...rows }: SharedGraph): Graph {
    const graph = new Graph(name, new NameTable(entities), relationNames, rows, madeFrom);
    graph.#hash = hash;
    return graph;
  }

  /** Plain data over the same memory; names are copied once. */
  shared(): SharedGraph {
    const { name, relationNames, madeFrom, offsets, relations, tails } = this;
    const entities = this.#entities.columns();
    return { name, relationNames, madeFrom, entities, offsets, relations, tails, hash: this.#hash };
  }

  /** Graph with the same names and ids but other edges; owns `rows` and has its own hash. */
  withRows(rows: AdjacencyRows): Graph {
    return new Graph(this.name, this.#entities, this.relationNames, rows, this.madeFrom);
  }

  /** Entity names by id. The first access decodes and keeps all names; for millions of entities use `entityName`. */
  get entityNames(): readonly string[] {
    return (this.#entityNames ??= [...this.#entities.names()]);
  }

  /** Name of an entity; undefined for an unknown id. */
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

  /** Id of the "stay" action in action lists and tables: one past the last relation. */
  get equalRelation(): number {
    return this.numRelations;
  }

  /** Entity id by exact name, or `unknownId`. */
  entityId(name: string): number {
    return this.#entities.id(name);
  }

  /** Relation id by exact name, or `unknownId`. */
  relationId(name: string): number {
    return this.relationIds.get(name) ?? unknownId;
  }

  /** Out-degree of `entity`; 0 for `unknownId`. */
  degree(entity: number): number {
    return entity < 0 ? 0 : this.offsets[entity + 1]! - this.offsets[entity]!;
  }

  /** Loads the edges of these entities of a remote graph; await it before reading them. No-op for graphs in memory. */
  ensure(_entities: Iterable<number>, _signal?: AbortSignal): Promise<void> {
    return Promise.resolve();
  }

  /** The part in memory, with the same ids: the whole graph unless it is remote. */
  get local(): Graph {
    return this;
  }

  /** Releases remote resources. */
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

  /** True if every step of a path is an edge. */
  holds(path: Path): boolean {
    return path.every(([head, relation, tail]) => this.edgeIndex(head, relation, tail) >= 0);
  }

  /** sha256 (hex) over the JSON array [entity names, relation names] and the columns; checkpoints are tied to it. */
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

/** Name of the inverse relation: `r` ↔ `~r`. */
export function inverseName(relation: string): string {
  return relation.startsWith(inversePrefix) ? relation.slice(inversePrefix.length) : inversePrefix + relation;
}

function sorted(numEntities: number, numRelations: number, { heads, relations, tails }: TripleColumns): AdjacencyRows {
  return adjacencyOf(numEntities, numRelations, (take) => {
    for (let i = 0; i < heads.length; i++) take(heads[i]!, relations[i]!, tails[i]!);
  });
}

/** Names or numbers hashed per call. */
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

/** An edge: head, relation, tail. */
export type Triple = readonly [head: number, relation: number, tail: number];

/** Triples in walking order; each head is the previous tail. */
export type Path = readonly Triple[];

/** Path without its stay (Equal) steps, which do not change where it leads. */
export function canonicalPath(path: Path, equalRelation: number): Path {
  return path.filter(([, relation]) => relation !== equalRelation);
}

/** Key that is equal for equal paths. */
export const pathKey = (path: Path): string => path.map((triple) => triple.join(',')).join(';');

/** Lexicographic comparison of id lists, prefix first. For `sort`. */
export function byIds(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

/** Triples at the given indices, in that order. New arrays. */
export function pickTriples({ heads, relations, tails }: TripleColumns, indices: Int32Array): TripleColumns {
  const column = (values: Int32Array) => indices.map((index) => values[index]!);
  return { heads: column(heads), relations: column(relations), tails: column(tails) };
}

/** Seeded sample in the order of the triples; all of them if there are not more. @param name sub-seed of the draw */
export function sampledTriples(triples: TripleColumns, count: number, name: string): TripleColumns {
  return pickTriples(triples, Int32Array.from(sampled([...triples.heads.keys()], count, name)));
}

/** Concatenates triples. New arrays. */
export function joinTriples(parts: readonly TripleColumns[]): TripleColumns {
  const all = (column: keyof TripleColumns) => {
    const values = new Int32Array(parts.reduce((sum, part) => sum + part[column].length, 0));
    parts.reduce((at, part) => (values.set(part[column], at), at + part[column].length), 0);
    return values;
  };
  return { heads: all('heads'), relations: all('relations'), tails: all('tails') };
}

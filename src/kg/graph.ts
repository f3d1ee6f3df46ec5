/** A directed labelled multigraph in compressed sparse rows: every edge of every hub is kept. */
import { createHash } from 'node:crypto';

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

/**
 * Edges of one head lie side by side, ordered by (relation, tail); duplicates of a triple are merged, parallel
 * relations survive. A step costs O(degree). Memory: 8 bytes an edge and 4 bytes an entity, plus the names.
 */
export class Graph {
  /** int32 [numEntities + 1]: edges of `head` are `offsets[head] .. offsets[head + 1] - 1`. */
  readonly offsets: Int32Array;
  /** int32 [numEdges]: relation id of each edge. */
  readonly relations: Int32Array;
  /** int32 [numEdges]: tail entity id of each edge. */
  readonly tails: Int32Array;
  /** int32 [numRelations]: the relation walked backwards, or -1 where it has no inverse. */
  readonly inverseOf: Int32Array;
  readonly #entityIds = new Map<string, number>();
  readonly #relationIds = new Map<string, number>();
  #hash: string | undefined;

  /**
   * @param name which graph of a data set this is, such as `dialogue` or `wide`; named in every result
   * @param entityNames name of each entity id
   * @param relationNames name of each relation id, `~name` for an inverse
   * @param triples ids; both directions must already be there where both may be walked
   */
  constructor(
    readonly name: string,
    readonly entityNames: readonly string[],
    readonly relationNames: readonly string[],
    triples: TripleColumns,
    /** What its triples were read from, noted as they were read; empty for a graph that was stored since. */
    readonly madeFrom: readonly string[] = [],
  ) {
    const { offsets, relations, tails } = compress(entityNames.length, triples);
    this.offsets = offsets;
    this.relations = relations;
    this.tails = tails;
    entityNames.forEach((entity, id) => this.#entityIds.set(entity, id));
    relationNames.forEach((relation, id) => this.#relationIds.set(relation, id));
    this.inverseOf = Int32Array.from(relationNames, (relation) => this.relationId(inverseName(relation)));
  }

  get numEntities(): number {
    return this.entityNames.length;
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
    return this.#entityIds.get(name) ?? unknownId;
  }

  /** Id of a relation by its exact name, or `unknownId`. */
  relationId(name: string): number {
    return this.#relationIds.get(name) ?? unknownId;
  }

  /** Number of edges that leave `entity`; 0 for `unknownId`. */
  degree(entity: number): number {
    return entity < 0 ? 0 : this.offsets[entity + 1]! - this.offsets[entity]!;
  }

  /** Index of the edge (head, relation, tail), or -1. O(log degree). */
  edgeIndex(head: number, relation: number, tail: number): number {
    if (head < 0) return -1;
    let low = this.offsets[head]!;
    let high = this.offsets[head + 1]! - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const order = this.relations[middle]! - relation || this.tails[middle]! - tail;
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** sha256 (hex) over names and edges: a checkpoint belongs to one graph. */
  get hash(): string {
    if (this.#hash === undefined) {
      const hash = createHash('sha256');
      hash.update(JSON.stringify([this.entityNames, this.relationNames]));
      for (const column of [this.offsets, this.relations, this.tails]) {
        hash.update(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
      }
      this.#hash = hash.digest('hex');
    }
    return this.#hash;
  }
}

/** The name of a relation walked the other way: `r` ↔ `~r`. */
export function inverseName(relation: string): string {
  return relation.startsWith(inversePrefix) ? relation.slice(inversePrefix.length) : inversePrefix + relation;
}

function compress(numEntities: number, { heads, relations, tails }: TripleColumns) {
  const starts = new Int32Array(numEntities + 1);
  for (const head of heads) starts[head + 1]!++;
  for (let entity = 0; entity < numEntities; entity++) starts[entity + 1]! += starts[entity]!;
  const cursor = starts.slice(0, numEntities);
  const order = new Int32Array(heads.length);
  for (let i = 0; i < heads.length; i++) order[cursor[heads[i]!]!++] = i;

  const offsets = new Int32Array(numEntities + 1);
  const sortedRelations = new Int32Array(heads.length);
  const sortedTails = new Int32Array(heads.length);
  let edge = 0;
  for (let entity = 0; entity < numEntities; entity++) {
    const edges = order.subarray(starts[entity]!, starts[entity + 1]!);
    edges.sort((a, b) => relations[a]! - relations[b]! || tails[a]! - tails[b]!);
    const first = edge;
    for (const i of edges) {
      const repeated = edge > first && sortedRelations[edge - 1] === relations[i] && sortedTails[edge - 1] === tails[i];
      if (repeated) continue;
      sortedRelations[edge] = relations[i]!;
      sortedTails[edge] = tails[i]!;
      edge++;
    }
    offsets[entity + 1] = edge;
  }
  return { offsets, relations: sortedRelations.slice(0, edge), tails: sortedTails.slice(0, edge) };
}

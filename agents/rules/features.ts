/** Features of entities: an edge of a relation to a certain entity, or to any. */
import type { Graph } from '../../src/kg/graph.js';
import { type RelationRows, relationRows, rowOf } from '../../src/kg/relation-rows.js';

/**
 * Features by id: first those with an entity, a row of the inverse relation each, then those of a relation alone. Memory: 4 bytes an
 * edge, and 8 a row in addition to the rows.
 */
export class Features {
  readonly rows: RelationRows;
  readonly count: number;
  readonly #rowCount: number;
  /** int32 [rows]: relation of each feature with an entity. */
  readonly #relations: Int32Array;
  /** int32 [entities + 1] and their features. */
  readonly #offsets: Int32Array;
  readonly #features: Int32Array;

  /** @param graph every relation with its inverse */
  constructor(graph: Graph) {
    const { offsets, relations, tails, inverseOf } = graph;
    const rows = (this.rows = relationRows(graph));
    const { begins } = rows;
    const { length } = inverseOf;
    this.#rowCount = begins[length]!;
    this.count = this.#rowCount + length;
    this.#relations = new Int32Array(this.#rowCount);
    for (let relation = 0; relation < length; relation++) {
      this.#relations.fill(inverseOf[relation]!, begins[relation], begins[relation + 1]);
    }
    this.#offsets = new Int32Array(offsets.length);
    this.#features = new Int32Array(tails.length + this.#rowCount);
    let size = 0;
    for (let entity = 0; entity + 1 < offsets.length; entity++) {
      for (let edge = offsets[entity]!; edge < offsets[entity + 1]!; edge++) {
        const relation = relations[edge]!;
        if (edge === offsets[entity] || relation !== relations[edge - 1]) {
          this.#features[size++] = this.#rowCount + relation;
        }
        this.#features[size++] = rowOf(rows, inverseOf[relation]!, tails[edge]!);
      }
      this.#offsets[entity + 1] = size;
    }
  }

  /** int32, each once. */
  of(entity: number): Int32Array {
    return this.#features.subarray(this.#offsets[entity], this.#offsets[entity + 1]);
  }

  /** The entities that have a feature: int32, ascending. */
  holders(feature: number): Int32Array {
    const { begins, heads, edges, tails } = this.rows;
    const relation = feature - this.#rowCount;
    return relation < 0
      ? tails.subarray(edges[feature], edges[feature + 1])
      : heads.subarray(begins[relation], begins[relation + 1]);
  }

  /** Relation of a feature. */
  relationOf(feature: number): number {
    return feature < this.#rowCount ? this.#relations[feature]! : feature - this.#rowCount;
  }

  /** Entity of a feature; -1 for any. */
  entityOf(feature: number): number {
    return feature < this.#rowCount ? this.rows.heads[feature]! : -1;
  }
}

/** Vectors of entities and relations, and the scores of triples under them. Training is elsewhere. */

/** 1: sum of absolute differences; 2: Euclidean. */
export type Norm = 1 | 2;

/**
 * A trained table. It has a row for each entity and relation of its graph and none for Equal (stay) or Pad: staying has
 * no translation to learn, and a padded row drags every entity towards one point.
 */
export interface EmbeddingTable {
  /** What the vectors mean: in `transe` a triple holds where head + relation is near tail. */
  model: 'transe';
  /** The distance it was trained for. */
  norm: Norm;
  dim: number;
  numEntities: number;
  numRelations: number;
  /** float32 [numEntities, dim], row-major. */
  entities: Float32Array;
  /** float32 [numRelations, dim], row-major. */
  relations: Float32Array;
}

/** How far head + relation is from tail; 0 is perfect. */
export function tripleDistance(table: EmbeddingTable, head: number, relation: number, tail: number): number {
  const { entities, relations, dim, norm } = table;
  let sum = 0;
  for (let k = 0; k < dim; k++) {
    const difference = entities[head * dim + k]! + relations[relation * dim + k]! - entities[tail * dim + k]!;
    sum += norm === 1 ? Math.abs(difference) : difference * difference;
  }
  return norm === 1 ? sum : Math.sqrt(sum);
}

/** The score of a triple: its negative distance, so higher is better and 0 the highest. */
export function scoreTriple(table: EmbeddingTable, head: number, relation: number, tail: number): number {
  return -tripleDistance(table, head, relation, tail);
}

/** The mean L2 norm of the entity vectors. */
export function meanEntityNorm({ entities, numEntities, dim }: EmbeddingTable): number {
  let norms = 0;
  for (let begin = 0; begin < entities.length; begin += dim) {
    let square = 0;
    for (let k = begin; k < begin + dim; k++) square += entities[k]! * entities[k]!;
    norms += Math.sqrt(square);
  }
  return norms / Math.max(1, numEntities);
}

/**
 * The table scaled so that entity vectors have a mean L2 norm of 1. One factor for entities and relations alike: every
 * distance shrinks by it and every ranking stays, which row by row normalisation would not give.
 * @returns a new table and the factor its values were multiplied with
 */
export function normalisedTable(table: EmbeddingTable): { table: EmbeddingTable; scale: number } {
  const scale = 1 / Math.max(meanEntityNorm(table), 1e-12);
  const times = (values: Float32Array) => values.map((value) => value * scale);
  return { table: { ...table, entities: times(table.entities), relations: times(table.relations) }, scale };
}

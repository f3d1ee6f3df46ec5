/** Adjacency rows (CSR) by counting sort: linear in triples and entities, hubs included. */
import { WorkbenchError } from '../run/errors.js';

/** Relation ids: uint16 if they fit, else int32. */
export type RelationColumn = Uint16Array | Int32Array;

/** Edges by head in shared memory, so that threads need no copies. */
export interface AdjacencyRows {
  /** int32 [entities + 1]: edges of `head` are `offsets[head] .. offsets[head + 1] - 1`. */
  offsets: Int32Array;
  /** [edges], ascending in a row. */
  relations: RelationColumn;
  /** int32 [edges], ascending in a row among equal relations; edges are unique. */
  tails: Int32Array;
}

/** Enumerates all triples; any order, but the same at each call. */
export type EachTriple = (take: (head: number, relation: number, tail: number) => void) => void;

/** Lists of numbers as int32 arrays. */
export function int32Lists<Name extends string>(lists: Record<Name, readonly number[]>): Record<Name, Int32Array> {
  const columns = Object.entries<readonly number[]>(lists).map(([name, list]) => [name, Int32Array.from(list)]);
  return Object.fromEntries(columns) as Record<Name, Int32Array>;
}

/** By relation id the entities with an edge of it, ascending. @param wanted lists of other relations stay empty; default all */
export function headsByRelation(
  { offsets, relations }: Pick<AdjacencyRows, 'offsets' | 'relations'>,
  numRelations: number,
  wanted: (relation: number) => boolean = () => true,
): number[][] {
  const heads = Array.from({ length: numRelations }, (): number[] => []);
  for (let head = 0; head + 1 < offsets.length; head++) {
    for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) {
      const relation = relations[edge]!;
      // Edges of an entity are in the order of their relations.
      const isFirst = edge === offsets[head]! || relation !== relations[edge - 1];
      if (isFirst && wanted(relation)) heads[relation]!.push(head);
    }
  }
  return heads;
}

/** Number of relations that uint16 ids can represent. */
export const shortRelations = 2 ** 16;
/** Maximum number of edges that 32-bit offsets can index. */
const mostEdges = 2 ** 31 - 1;
/** Rows up to this length are sorted by insertion, longer ones as packed numbers. */
const shortRow = 24;

/** Empty shared-memory column for relation ids below `numRelations`. */
export function relationColumn(numRelations: number, length: number): RelationColumn {
  return numRelations <= shortRelations
    ? new Uint16Array(new SharedArrayBuffer(2 * length))
    : new Int32Array(new SharedArrayBuffer(4 * length));
}

/** Empty int32 column in shared memory. */
export const int32Column = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length));

/** Counting sort in two passes; needs scratch for the largest hub. @throws WorkbenchError `data` for 2^31 triples or more */
export function adjacencyOf(numEntities: number, numRelations: number, each: EachTriple): AdjacencyRows {
  const offsets = int32Column(numEntities + 1);
  let length = 0;
  each((head) => {
    offsets[head + 1]!++;
    length++;
  });
  if (length > mostEdges) {
    throw new WorkbenchError('data', `expected at most ${mostEdges} edges, inverses counted, got ${length}`, {
      hint: 'Import a part of the graph.',
    });
  }
  for (let entity = 0; entity < numEntities; entity++) offsets[entity + 1]! += offsets[entity]!;
  const relations = relationColumn(numRelations, length);
  const tails = int32Column(length);
  // Each offset moves to the end of its row, the start of the next one.
  each((head, relation, tail) => {
    const edge = offsets[head]!++;
    relations[edge] = relation;
    tails[edge] = tail;
  });
  offsets.copyWithin(1, 0, numEntities);
  offsets[0] = 0;
  const edges = sortRows({ offsets, relations, tails });
  if (edges === length) return { offsets, relations, tails };
  return { offsets, relations: shortened(relations, edges), tails: shortened(tails, edges) };
}

/** A view if little memory is wasted, else a copy so that the rest can be freed. */
function shortened<T extends RelationColumn>(column: T, length: number): T {
  if (length > 0.95 * column.length) return column.subarray(0, length) as T;
  const bytes = column.BYTES_PER_ELEMENT * length;
  const copy = new (column.constructor as new (memory: SharedArrayBuffer) => T)(new SharedArrayBuffer(bytes));
  copy.set(column.subarray(0, length));
  return copy;
}

/** Sorts each row by (relation, tail) and removes duplicates. @returns number of remaining edges, moved to the front */
function sortRows(rows: AdjacencyRows): number {
  const { offsets, relations, tails } = rows;
  const numEntities = offsets.length - 1;
  const longRow = longRowSorter(rows);
  let kept = 0;
  let begin = 0;
  for (let entity = 0; entity < numEntities; entity++) {
    const end = offsets[entity + 1]!;
    if (end - begin <= shortRow) insertionSort(rows, begin, end);
    else longRow(begin, end);
    const first = kept;
    for (let edge = begin; edge < end; edge++) {
      const [relation, tail] = [relations[edge]!, tails[edge]!];
      if (kept > first && relations[kept - 1] === relation && tails[kept - 1] === tail) continue;
      relations[kept] = relation;
      tails[kept++] = tail;
    }
    offsets[entity + 1] = kept;
    begin = end;
  }
  return kept;
}

function insertionSort({ relations, tails }: AdjacencyRows, begin: number, end: number): void {
  for (let edge = begin + 1; edge < end; edge++) {
    const relation = relations[edge]!;
    const tail = tails[edge]!;
    let at = edge;
    while (at > begin && (relations[at - 1]! - relation || tails[at - 1]! - tail) > 0) {
      relations[at] = relations[at - 1]!;
      tails[at] = tails[at - 1]!;
      at--;
    }
    relations[at] = relation;
    tails[at] = tail;
  }
}

/** Sorts (relation, tail) pairs packed into one number: exact while relations × entities < 2^52. */
function longRowSorter({ offsets, relations, tails }: AdjacencyRows): (begin: number, end: number) => void {
  const numEntities = offsets.length - 1;
  let keys = new Float64Array(0);
  return (begin, end) => {
    if (keys.length < end - begin) keys = new Float64Array(2 * (end - begin));
    const row = keys.subarray(0, end - begin);
    for (let i = 0; i < row.length; i++) row[i] = relations[begin + i]! * numEntities + tails[begin + i]!;
    row.sort();
    for (let i = 0; i < row.length; i++) {
      const relation = Math.floor(row[i]! / numEntities);
      relations[begin + i] = relation;
      tails[begin + i] = row[i]! - relation * numEntities;
    }
  };
}

/** The same edges by tail: `tails` then holds heads; relations keep their forward id. New arrays; linear in edges. */
export function reversedRows({ offsets, relations, tails }: AdjacencyRows): AdjacencyRows {
  const numEntities = offsets.length - 1;
  let numRelations = 0;
  for (const relation of relations) if (relation >= numRelations) numRelations = relation + 1;
  return adjacencyOf(numEntities, numRelations, (take) => {
    for (let head = 0; head < numEntities; head++) {
      for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) take(tails[edge]!, relations[edge]!, head);
    }
  });
}

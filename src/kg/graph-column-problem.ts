/** Whether columns that somebody else wrote are a graph. */
import { isUtf8 } from 'node:buffer';
import type { AdjacencyRows } from './adjacency.js';
import type { NameColumns } from './name-table.js';

/** What a graph file holds. */
export interface GraphColumns extends AdjacencyRows {
  entities: NameColumns;
  relationNames: NameColumns;
}

/** What is wrong, as what was got instead of a graph file; undefined where offsets, ids, order and names hold together. Linear. */
export function graphColumnProblem({ entities, relationNames, ...rows }: GraphColumns): string | undefined {
  if (!areNames(entities) || !areNames(relationNames)) return 'one whose names are no UTF-8';
  return areRows(rows, relationNames.ends.length) ? undefined : 'one whose edges do not fit its names';
}

function areRows({ offsets, relations, tails }: AdjacencyRows, numRelations: number): boolean {
  const numEntities = offsets.length - 1;
  if (offsets[0] !== 0 || offsets[numEntities] !== tails.length) return false;
  for (let head = 0; head < numEntities; head++) if (offsets[head]! > offsets[head + 1]!) return false;
  for (let head = 0; head < numEntities; head++) {
    const end = offsets[head + 1]!;
    let [relation, tail] = [-1, -1];
    for (let edge = offsets[head]!; edge < end; edge++) {
      const [nextRelation, nextTail] = [relations[edge]!, tails[edge]!];
      const later = nextRelation > relation || (nextRelation === relation && nextTail > tail);
      if (!later || nextRelation >= numRelations || nextTail < 0 || nextTail >= numEntities) return false;
      [relation, tail] = [nextRelation, nextTail];
    }
  }
  return true;
}

/** Whether each name begins with a character: the whole being UTF-8, each name is then. */
function areNames({ bytes, ends }: NameColumns): boolean {
  if ((ends.at(-1) ?? 0) !== bytes.length || !isUtf8(bytes)) return false;
  let start = 0;
  for (const end of ends) {
    if (end < start || (start < bytes.length && (bytes[start]! & 0xc0) === 0x80)) return false;
    start = end;
  }
  return true;
}

/** What a graph's hash is made of, without ever holding it in one piece. */
import { createHash, type Hash } from 'node:crypto';
import type { AdjacencyRows, RelationColumn } from './adjacency.js';

/** Names or numbers that are put through the hash at once. */
const piece = 2 ** 16;

/**
 * sha256 (hex) over the JSON array [entity names, relation names], then offsets, relations and tails as int32.
 * @param entityNames by id
 */
export function graphHash(
  entityNames: Iterable<string>,
  graph: AdjacencyRows & { relationNames: readonly string[] },
): string {
  const hash = createHash('sha256');
  hash.update('[');
  addNames(hash, entityNames);
  hash.update(',');
  addNames(hash, graph.relationNames);
  hash.update(']');
  for (const column of [graph.offsets, graph.relations, graph.tails]) addColumn(hash, column);
  return hash.digest('hex');
}

function addNames(hash: Hash, names: Iterable<string>): void {
  let text = '[';
  let first = true;
  for (const name of names) {
    text += (first ? '' : ',') + JSON.stringify(name);
    first = false;
    if (text.length < piece) continue;
    hash.update(text);
    text = '';
  }
  hash.update(`${text}]`);
}

function addColumn(hash: Hash, column: RelationColumn): void {
  for (let at = 0; at < column.length; at += piece) {
    const part = column.subarray(at, at + piece);
    const numbers = part instanceof Int32Array ? part : Int32Array.from(part);
    hash.update(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
  }
}

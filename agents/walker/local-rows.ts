/** Renumbers the entities of a batch, so that only their rows enter the network. */
import type { StateBatch } from './state-batch.js';

/** The distinct entities of a batch, and the batch in their places. */
export interface LocalEntities {
  /** int32 [U]: distinct entity ids, by first appearance. */
  ids: Int32Array;
  /** int32 [N], [S], [S]: positions in `ids`. */
  tails: Int32Array;
  start: Int32Array;
  current: Int32Array;
}

/** A renumbering that is reused from batch to batch: O(actions), no clearing of the whole table. */
export function createLocalEntities(numEntities: number): (batch: StateBatch) => LocalEntities {
  const position = new Int32Array(numEntities);
  const seenIn = new Int32Array(numEntities);
  let generation = 0;
  return (batch) => {
    generation++;
    const ids = new Int32Array(batch.tails.length + 2 * batch.numStates);
    let count = 0;
    const renumber = (entities: Int32Array) =>
      entities.map((entity) => {
        if (seenIn[entity] !== generation) {
          seenIn[entity] = generation;
          position[entity] = count;
          ids[count++] = entity;
        }
        return position[entity]!;
      });
    const start = renumber(batch.start);
    const current = renumber(batch.current);
    const tails = renumber(batch.tails);
    return { ids: ids.slice(0, count), tails, start, current };
  };
}

/** Copies rows of a host table, float32 [ids.length, width]. */
export function hostRows(table: Float32Array, width: number, ids: Int32Array): Float32Array {
  const rows = new Float32Array(ids.length * width);
  for (let i = 0; i < ids.length; i++) rows.set(table.subarray(ids[i]! * width, (ids[i]! + 1) * width), i * width);
  return rows;
}

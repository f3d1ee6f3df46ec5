/** Deduplication of rows and ids of a batch. */

/** Rows that differ from the one before, as the states of a task share theirs, and which of them each row is. */
export function distinctRows(rows: Float32Array, width: number): { rows: Float32Array; rowOf: Int32Array } {
  const rowOf = new Int32Array(rows.length / width);
  const begins: number[] = [];
  for (let row = 0; row < rowOf.length; row++) {
    const at = row * width;
    let j = row === 0 ? width : 0;
    while (j < width && rows[at + j] === rows[at - width + j]) j++;
    if (row === 0 || j < width) begins.push(at);
    rowOf[row] = begins.length - 1;
  }
  const distinct = new Float32Array(begins.length * width);
  begins.forEach((at, i) => distinct.set(rows.subarray(at, at + width), i * width));
  return { rows: distinct, rowOf };
}

/** Distinct ids of lists by first appearance, and the lists by places among them. */
type Renumber = (...lists: readonly Int32Array[]) => { ids: Int32Array; indices: Int32Array[] };

/**
 * Renumbers ids below `size` in O(what is listed), without clearing a table. What the graph lacks (−1) is read as its first
 * entity: a walk can only stay there, at any score.
 */
export function renumbering(size: number): Renumber {
  const position = new Int32Array(size);
  const seenIn = new Int32Array(size);
  let generation = 0;
  return (...lists) => {
    generation++;
    const ids = new Int32Array(lists.reduce((sum, { length }) => sum + length, 0));
    let count = 0;
    const indices = lists.map((list) =>
      list.map((given) => {
        const id = Math.max(0, given);
        if (seenIn[id] !== generation) {
          seenIn[id] = generation;
          position[id] = count;
          ids[count++] = id;
        }
        return position[id]!;
      }),
    );
    return { ids: ids.slice(0, count), indices };
  };
}

/** Copies rows of a host table, float32 [ids.length, width]; zeros for −1. */
export function hostRows(table: Float32Array, width: number, ids: Int32Array): Float32Array {
  const rows = new Float32Array(ids.length * width);
  for (let i = 0; i < ids.length; i++) {
    if (ids[i]! >= 0) rows.set(table.subarray(ids[i]! * width, (ids[i]! + 1) * width), i * width);
  }
  return rows;
}

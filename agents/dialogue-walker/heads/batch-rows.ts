/** Rows and ids of a batch: deduplicated, and held where networks are computed. */
import type { Numbers, Rows, Scope } from '../../../src/nn/executor.js';
import type { Tape, Taped } from '../../../src/nn/tape.js';
import type { HeadShape, StateBatch } from './head.js';

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

/** [width] rows of matrices that stay where networks are computed. */
export const heldRows = (scope: Scope<Numbers, Rows>, values: Float32Array, width: number): Taped => ({
  ...{ rows: values.length / width, width },
  values: scope.copy(values),
});

/** Text vectors of a batch, and the row of each state's. */
export function contextRows(tape: Tape, { held, context }: StateBatch, width: number): [Taped, Int32Array] {
  if (held) return [held.context, held.contextOf];
  // States of one dialogue share its text.
  const { rows, rowOf } = distinctRows(context, width);
  return [tape.constant(rows, width), rowOf];
}

/** Features of the edges of a batch: [N, width]. */
export const featureRows = (tape: Tape, { held, edgeFeatures }: StateBatch, width: number): Taped =>
  held?.edgeFeatures ? tape.rows(held.edgeFeatures, held.edges) : tape.constant(edgeFeatures, width);

/** Copies text vectors and edge features of a batch. @returns makes batches of some of its states */
export function heldBatch(
  scope: Scope<Numbers, Rows>,
  batch: StateBatch,
  { contextDim, numEdgeFeatures: width }: Pick<HeadShape, 'contextDim' | 'numEdgeFeatures'>,
): (states: Int32Array) => StateBatch {
  const { rows, rowOf } = distinctRows(batch.context, contextDim);
  const context = heldRows(scope, rows, contextDim);
  const edgeFeatures = width === 0 ? undefined : heldRows(scope, batch.edgeFeatures, width);
  const none = new Float32Array(0);
  return (states) => {
    const offsets = new Int32Array(states.length + 1);
    states.forEach((s, i) => (offsets[i + 1] = offsets[i]! + batch.offsets[s + 1]! - batch.offsets[s]!));
    const [edges, stateOf] = [new Int32Array(offsets.at(-1)!), new Int32Array(offsets.at(-1)!)];
    states.forEach((s, i) => {
      for (let e = offsets[i]!; e < offsets[i + 1]!; e++) edges[e] = batch.offsets[s]! + e - offsets[i]!;
      stateOf.fill(i, offsets[i], offsets[i + 1]);
    });
    const ofStates = <Column extends Int32Array | Float32Array>(column: Column): Column => {
      const each = column.length / batch.numStates;
      return column.slice(0, states.length * each).map((_, i) => {
        const row = Math.floor(i / each);
        return column[states[row]! * each + i - row * each]!;
      }) as Column;
    };
    const ofEdges = (column: Int32Array) => edges.map((e) => column[e]!);
    return {
      ...{ numStates: states.length, offsets, stateOf, context: none, edgeFeatures: none },
      ...{ start: ofStates(batch.start), current: ofStates(batch.current), scalars: ofStates(batch.scalars) },
      lastRelation: ofStates(batch.lastRelation),
      previousPathRelation: ofStates(batch.previousPathRelation),
      ...{ earlierRelations: ofStates(batch.earlierRelations), earlierTails: ofStates(batch.earlierTails) },
      ...{ walkedRelations: ofStates(batch.walkedRelations), walkedTails: ofStates(batch.walkedTails) },
      ...{ actions: ofEdges(batch.actions), relations: ofEdges(batch.relations), tails: ofEdges(batch.tails) },
      held: { context, contextOf: states.map((s) => rowOf[s]!), edgeFeatures, edges },
    };
  };
}

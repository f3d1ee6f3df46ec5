/** Facts of several subgraphs as a walk over entities reads them, in typed arrays. */
import type { Subgraph, Subgraphs } from '../../../src/kg/subgraphs.js';
import { layQuestions, type LaidQuestions, type Placed } from './laid-questions.js';

/** Edges into a row by one relation are a run: they stand side by side, since the edges that leave the row by the inverse do. */
export interface EntityBatch extends LaidQuestions {
  /** [hops], each uint8 [rows]: 1 where a walk may be after so many steps, loops among them. The last are the candidates. */
  reached: readonly Uint8Array[];
  /** int32 [runs]: row that a run comes to, ascending. */
  rowOf: Int32Array;
  /** int32 [runs]: question · relations + relation. */
  slotOf: Int32Array;
  /** float32 [runs]: ln(1 + edges), 0 of a loop: how much a row is of a kind. */
  kinds: Float32Array;
  /** int32 [runs + 1]: edges of a run. */
  offsets: Int32Array;
  /** int32 [edges]: row that an edge comes from. */
  from: Int32Array;
}

/** @param hops steps of a walk @param cut subgraph of each task */
export function entityBatch(
  { numRelations, selfLoop, inverseOf }: Subgraphs,
  tasks: readonly Placed[],
  hops: number,
  cut: readonly Subgraph[],
): EntityBatch {
  const laid = layQuestions(tasks, cut);
  const edges = cut.reduce((sum, { tails }) => sum + tails.length, 0);
  const rowOf = new Int32Array(edges);
  const slotOf = new Int32Array(edges);
  const kinds = new Float32Array(edges);
  const offsets = new Int32Array(edges + 1);
  const from = new Int32Array(edges);
  let [run, edge] = [0, 0];
  cut.forEach((subgraph, q) => {
    const first = laid.bounds[q]!;
    for (let index = 0; index < subgraph.entities.length; index++) {
      const end = subgraph.offsets[index + 1]!;
      for (let at = subgraph.offsets[index]!; at < end; run++) {
        const relation = subgraph.relations[at]!;
        const begin = at;
        for (; at < end && subgraph.relations[at] === relation; at++) from[edge++] = first + subgraph.tails[at]!;
        rowOf[run] = first + index;
        slotOf[run] = q * numRelations + inverseOf[relation]!;
        kinds[run] = relation === selfLoop ? 0 : Math.log1p(at - begin);
        offsets[run + 1] = edge;
      }
    }
  });
  const runs = {
    from,
    rowOf: rowOf.subarray(0, run),
    slotOf: slotOf.subarray(0, run),
    kinds: kinds.subarray(0, run),
    offsets: offsets.subarray(0, run + 1),
  };
  const reached = reachedOf(runs, laid, hops);
  return { ...laid, ...runs, reached, candidates: reached.at(-1)! };
}

/**
 * The same facts walked back from what was arrived at, by the relations of the way there; the topic may be come to.
 * @param inverseOf of the subgraphs @param initialWeights float32 [rows]: where it begins, summing to 1 a question; zeros for a question that has none
 */
export function walkedBack(batch: EntityBatch, inverseOf: Int32Array, initialWeights: Float32Array): EntityBatch {
  const numRelations = inverseOf.length;
  const back = {
    ...batch,
    initialWeights,
    // What comes to a row by a relation stands where it leaves by the inverse.
    slotOf: batch.slotOf.map((slot) => slot - (slot % numRelations) + inverseOf[slot % numRelations]!),
    candidates: new Uint8Array(batch.entities.length).fill(1),
  };
  const reached = reachedOf(back, back, batch.reached.length);
  return { ...back, reached, candidates: reached.at(-1)! };
}

function reachedOf(
  { rowOf, offsets, from }: Pick<EntityBatch, 'rowOf' | 'offsets' | 'from'>,
  { initialWeights, candidates }: LaidQuestions,
  hops: number,
): Uint8Array[] {
  let before = Uint8Array.from(initialWeights, (share) => Number(share > 0));
  return Array.from({ length: hops }, () => {
    const reached = new Uint8Array(before.length);
    rowOf.forEach((row, run) => {
      if (candidates[row] === 0 || reached[row] === 1) return;
      for (let edge = offsets[run]!; edge < offsets[run + 1]!; edge++) if (before[from[edge]!] === 1) reached[row] = 1;
    });
    return (before = reached);
  });
}

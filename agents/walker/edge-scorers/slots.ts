/**
 * Edges by their place alone: the network has one logit a slot, and what leads where is not read. Slot 0 is staying, slot
 * i + 1 the i-th edge of the action list; slots without a legal action take no part, so nothing of theirs is ever drawn,
 * ranked or learned from. What is learned of a slot holds for one order of edges.
 */
import { WorkbenchError } from '../../../src/run/errors.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { gatherRows } from '../../../src/tensor/ops.js';
import type { Edges, MakeEdgeScorer } from './edge-scorer.js';

/**
 * @param count slots, staying counted
 * @param equalRelation relation id of staying
 * @returns a scorer that throws a WorkbenchError `config` for an action list longer than the slots
 * @source LLM-ARK (Huang 2024), section 4.6, the ablation without path awareness
 */
export function slots(tf: Tf, { count, equalRelation }: { count: number; equalRelation: number }): MakeEdgeScorer {
  /** int32 [N]: place of each edge in a table [S, stride]. */
  const places = ({ stateOf, actions, relations }: Edges, stride: number) =>
    stateOf.map((state, i) => {
      const slot = relations[i] === equalRelation ? 0 : actions[i]! + 1;
      if (slot >= count) throw longerThanSlots(slot + 1, count);
      return state * stride + slot;
    });
  return () => ({
    layer: { name: 'pa.slots', width: count },
    logits: (outputs, edges) => tf.reshape(gatherRows(tf, tf.reshape(outputs, [-1, 1]), places(edges, count)), [-1]),
    rank: ({ values, stride }, edges) =>
      Promise.resolve(Float32Array.from(places(edges, stride), (place) => values[place]!)),
    weightsChanged: () => {},
  });
}

/** @param needed slots of an action list, staying counted */
export function longerThanSlots(needed: number, count: number): WorkbenchError {
  return new WorkbenchError(
    'config',
    `expected action lists of at most ${count} places, staying counted, with walker.pathAware=false, got one of ${needed}`,
    { hint: 'Cut the lists by env.edgePolicy=ark or topk-degree, which keep env.maxOut places.' },
  );
}

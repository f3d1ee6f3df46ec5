/** What each walk of a batch costs: asked for where the batch as a whole is not finite. */
import { lossOrNot } from '../../src/tensor/diverged.js';
import type { GoldWalk } from './gold-states.js';

/** A walk's share of a batch: its states `from` until `to`, their actions `begin` until `end`. */
export interface WalkShare {
  walk: GoldWalk;
  from: number;
  to: number;
  begin: number;
  end: number;
  /** As of a batch of this walk alone. */
  offsets: Int32Array;
}

/**
 * @param offsets int32 [states of all walks + 1]
 * @param lossOf may throw that it is not finite
 * @returns losses, NaN and infinite ones included, by the ids of tasks
 */
export function lossesByWalk(
  walks: readonly GoldWalk[],
  offsets: Int32Array,
  lossOf: (share: WalkShare) => number,
): { id: string; loss: number }[] {
  let from = 0;
  return walks.map((walk) => {
    const to = from + walk.states.length;
    const [begin, end] = [offsets[from]!, offsets[to]!];
    const own = offsets.slice(from, to + 1).map((offset) => offset - begin);
    const share = { walk, from, to, begin, end, offsets: own };
    from = to;
    return { id: walk.states[0]!.task.id, loss: lossOrNot(() => lossOf(share)) };
  });
}

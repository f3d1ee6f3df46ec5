/** Cache for rows of edge features that recur in every epoch, such as those of gold walks, with a memory limit. */
import type { WalkTask } from '../../../datasets/walk-sample.js';
import type { WalkState } from '../../../envs/dialogue-walk/rules.js';

/** Rows of edge features by state, such as those of gold walks, which recur in every epoch. Rows that do not fit are computed again. */
export class RowCache {
  readonly #kept = new WeakMap<WalkState, { task: WalkTask; rows: Float32Array }>();
  #bytesLeft: number;

  /** @param bytes memory limit of all rows; nothing is evicted */
  constructor(bytes: number) {
    this.#bytesLeft = bytes;
  }

  /** float32: what was kept of a state in a task. */
  of(task: WalkTask, state: WalkState): Float32Array | undefined {
    const kept = this.#kept.get(state);
    return kept?.task === task ? kept.rows : undefined;
  }

  /** Zeros to be filled with what to keep of a state; undefined where they would be too much. */
  room(task: WalkTask, state: WalkState, length: number): Float32Array | undefined {
    const bytes = 4 * length;
    if (bytes > this.#bytesLeft) return undefined;
    this.#bytesLeft -= bytes;
    const rows = new Float32Array(length);
    this.#kept.set(state, { task, rows });
    return rows;
  }
}

/** Rows of some actions out of those of all, from a place of `out` on. */
export function copyRows(rows: Float32Array, actions: Int32Array, width: number, out: Float32Array, at: number): void {
  for (let i = 0; i < actions.length; i++) {
    const from = actions[i]! * width;
    for (let j = 0; j < width; j++) out[at++] = rows[from + j]!;
  }
}

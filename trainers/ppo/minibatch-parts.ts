/** Cuts a minibatch into parts whose actions fit the network's memory; gradients of the parts add up to the whole's. */
import type { Minibatch } from './rollout-buffer.js';

/** Some states of a minibatch, and their share of its transitions. */
export interface MinibatchPart extends Minibatch {
  /** Share of the minibatch's transitions; the weight of the part's means. */
  share: number;
}

/**
 * Runs of states, in order, each with the transitions that visit them. A minibatch below the limit is one part.
 * @param numActions legal actions of each state of the minibatch
 * @param maxActions actions a part; a single state may exceed it
 */
export function minibatchParts(
  minibatch: Minibatch,
  numActions: readonly number[],
  maxActions: number,
): MinibatchPart[] {
  if (numActions.reduce((sum, count) => sum + count, 0) <= maxActions) return [{ ...minibatch, share: 1 }];
  const partOf = new Int32Array(numActions.length);
  const begins = [0];
  let actions = 0;
  numActions.forEach((count, state) => {
    if (actions > 0 && actions + count > maxActions) {
      begins.push(state);
      actions = 0;
    }
    actions += count;
    partOf[state] = begins.length - 1;
  });
  const rows: number[][] = begins.map(() => []);
  minibatch.transitions.state.forEach((state, row) => rows[partOf[state]!]!.push(row));
  return begins.map((begin, part) => select(minibatch, begin, begins[part + 1] ?? numActions.length, rows[part]!));
}

function select(
  { states, transitions }: Minibatch,
  begin: number,
  end: number,
  rows: readonly number[],
): MinibatchPart {
  const floats = (column: Float32Array) => Float32Array.from(rows, (row) => column[row]!);
  return {
    states: states.subarray(begin, end),
    share: rows.length / transitions.state.length,
    transitions: {
      state: Int32Array.from(rows, (row) => transitions.state[row]! - begin),
      action: Int32Array.from(rows, (row) => transitions.action[row]!),
      oldLogProb: floats(transitions.oldLogProb),
      oldValue: floats(transitions.oldValue),
      advantage: floats(transitions.advantage),
      returns: floats(transitions.returns),
    },
  };
}

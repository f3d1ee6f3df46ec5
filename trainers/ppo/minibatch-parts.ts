/** Cuts a minibatch into parts whose actions fit the network's memory; gradients of the parts add up to the whole's. */
import { runsOf } from '../../agents/actor.js';
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
  maxActions: number | undefined,
): MinibatchPart[] {
  const runs = runsOf(numActions, maxActions);
  if (runs.length === 1) return [{ ...minibatch, share: 1 }];
  const partOf = new Int32Array(numActions.length);
  runs.forEach(([begin, end], part) => partOf.fill(part, begin, end));
  const rows: number[][] = runs.map(() => []);
  minibatch.transitions.state.forEach((state, row) => rows[partOf[state]!]!.push(row));
  return runs.map(([begin, end], part) => select(minibatch, begin, end, rows[part]!));
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

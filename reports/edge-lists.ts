/** What a report says of walkers that may not walk every edge. */
import type { EvaluationRecord } from '../src/run/records.js';
import { percent } from './numbers.js';
import type { ResultSet } from './results.js';

/** Which edges the agent may walk, and how many golds that leaves; nothing where it is all of them. */
export function edgeNotes({ edges, coverage: { goldWalkable } }: EvaluationRecord): string[] {
  if (!edges) return [];
  const left = goldWalkable === undefined ? '' : `, ${percent(goldWalkable)} % of golds left`;
  return [`edges ${edges.policy}, ${edges.maxOut} actions${left}`];
}

/** A warning where dialogues of the evaluation's own kind chose edges of some agent. */
export function edgeReservations({ rows }: ResultSet): string[] {
  const leaks = rows.filter(({ record: { edges } }) => (edges?.brought?.valid ?? 0) + (edges?.brought?.test ?? 0) > 0);
  return leaks.length === 0
    ? []
    : [
        `Dialogues of valid and test chose edges of ${leaks.map(({ label }) => label).join(', ')} (env.edgePolicy=ark): such figures compare with LLM-ARK’s alone.`,
      ];
}

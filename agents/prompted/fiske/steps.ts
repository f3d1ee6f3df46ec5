/** Steps out of branches, as the graph has them. */
import { walksTo, type Branch } from './branch.js';
import type { ClueSet } from './clues.js';
import type { Exploration } from './exploration.js';

/** One edge out of a branch. */
export interface Step {
  from: Branch;
  relation: number;
  tail: number;
  /** Paths that take this step. */
  walks: number;
}

/** A step that a clue speaks for. */
export interface AcceptedStep extends Step {
  /** All clues that are covered after it. */
  covered: ClueSet;
  /** A clue names the tail: it is no answer. */
  named: boolean;
}

/** Relations of Freebase that name things instead of relating them. */
const namingRelation = /^~?type\.object\.name$|sameAs/;

/** Every edge that leaves a branch, save those that `backtracking` forbids. */
export function stepsOf(from: Branch, { graph, settings, read }: Exploration): Step[] {
  const steps: Step[] = [];
  const begin = graph.offsets[from.head]!;
  const degree = graph.degree(from.head);
  for (let edge = begin; edge < begin + degree; edge++) {
    const relation = graph.relations[edge]!;
    const tail = graph.tails[edge]!;
    // Only paths that may go on this way count: of several ways to a head some may come from the tail.
    const walks = walksTo(from, (arrival) => {
      if (settings.backtracking === 'always' || arrival.from.head !== tail) return true;
      return settings.backtracking === 'other-facts' && graph.inverseOf[arrival.relation] !== relation;
    });
    if (walks > 0 && !namingRelation.test(graph.relationNames[relation]!)) steps.push({ from, relation, tail, walks });
  }
  read(degree);
  return steps;
}

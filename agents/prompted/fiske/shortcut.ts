/** Steps that need no model: to a neighbour whose name is a clue that is not covered yet. */
import { normalizeName } from '../../../src/kg/name-index.js';
import type { Exploration } from './exploration.js';
import type { AcceptedStep, Step } from './steps.js';

/**
 * Those of a branch's steps whose tails are named by uncovered clues. A relation covers a clue as well where its whole
 * name is that clue: parts of names prove nothing.
 */
export function namedSteps(steps: readonly Step[], { graph, clues, namedBy }: Exploration): AcceptedStep[] {
  return steps.flatMap((step) => {
    const named = (namedBy.get(step.tail) ?? 0) & ~step.from.covered;
    if (named === 0) return [];
    const relation = normalizeName(graph.relationNames[step.relation]!);
    const said = clues.texts.reduce((set, clue, i) => (normalizeName(clue) === relation ? set | (1 << i) : set), 0);
    return [{ ...step, covered: step.from.covered | named | said, named: true }];
  });
}

/** Partial branches put together: what is shown where no branch covered every clue. */
import type { Path } from '../../../src/kg/graph.js';
import { pathTo, type Branch } from './branch.js';
import type { ClueSet } from './clues.js';

/** Triples of partial branches that hang together, and the clues that these cover. */
export interface Merged {
  triples: Path;
  covered: ClueSet;
}

/**
 * The first branch with all that share an entity with it or with what joined it before. One branch alone merges to itself.
 * @param partial most covered clues first
 */
export function mergePartial(partial: readonly Branch[]): Merged {
  const triples: Path[number][] = [];
  const entities = new Set<number>();
  let covered = 0;
  let apart = partial.map((branch) => ({ branch, path: pathTo(branch) }));
  for (let joined = true; joined;) {
    joined = false;
    const rest: typeof apart = [];
    for (const candidate of apart) {
      const touches =
        triples.length === 0 || candidate.path.some(([head, , tail]) => entities.has(head) || entities.has(tail));
      if (!touches) {
        rest.push(candidate);
        continue;
      }
      joined = true;
      covered |= candidate.branch.covered;
      triples.push(...candidate.path);
      for (const [head, , tail] of candidate.path) entities.add(head).add(tail);
    }
    apart = rest;
  }
  return { triples, covered };
}

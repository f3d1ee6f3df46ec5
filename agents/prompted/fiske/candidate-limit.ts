/** What happens where mapped relations lead to more entities than a model may be asked about. */
import type { Exploration } from './exploration.js';
import type { AcceptedStep } from './steps.js';

/** Steps that are within the limit, and those that are accepted without a question. */
export interface Limited {
  /** Steps whose entities the model is asked about. */
  offered: AcceptedStep[];
  /** Steps that count without: their relation's clue speaks for all of them. */
  whole: AcceptedStep[];
}

/**
 * Keeps the smallest relations that fit into `maxCandidates` together. The others are accepted whole or cut, as
 * `overflow` says; without the multi-answer rule nothing can be accepted whole. Either way the trace tells.
 */
export function withinLimit(steps: readonly AcceptedStep[], exploration: Exploration): Limited {
  const { graph, settings, mayEnd, session } = exploration;
  const groups = new Map<number, AcceptedStep[]>();
  for (const step of steps) {
    const group = groups.get(step.relation);
    if (group) group.push(step);
    else groups.set(step.relation, [step]);
  }
  const size = (group: readonly AcceptedStep[]) => new Set(group.map(({ tail }) => tail)).size;
  const sized = [...groups.values()].map((group) => ({ group, size: size(group) }));
  sized.sort((a, b) => a.size - b.size || a.group[0]!.relation - b.group[0]!.relation);

  const limited: Limited = { offered: [], whole: [] };
  let room = settings.maxCandidates;
  for (const { group, size } of sized) {
    if (size <= room) {
      limited.offered = [...limited.offered, ...group];
      room -= size;
      continue;
    }
    const relation = graph.relationNames[group[0]!.relation]!;
    if (settings.overflow === 'group' && settings.multiAnswerRule) {
      limited.whole = [...limited.whole, ...group.filter(({ tail }) => mayEnd(tail))];
      session.trace({ event: 'note', text: `${size} entities of ${relation} taken whole` });
    } else {
      const tails = [...new Set(group.map(({ tail }) => tail))].sort((a, b) => a - b);
      const kept = new Set(tails.slice(0, room));
      limited.offered = [...limited.offered, ...group.filter(({ tail }) => kept.has(tail))];
      session.trace({ event: 'note', text: `${size - kept.size} of ${size} entities of ${relation} cut` });
      room = 0;
    }
  }
  return limited;
}

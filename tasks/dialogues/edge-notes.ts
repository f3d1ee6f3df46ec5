/** What shorter lists of edges cost and give away, in words. */
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';

/**
 * One line a fact; none where every edge may be walked.
 * @param splits samples by name, at least one each: of them the share whose gold is left is told
 */
export function selectionNotes(
  { graph, selection }: WalkGraph,
  splits: Readonly<Record<string, readonly WalkSample[]>>,
): string[] {
  if (!selection) return [];
  const { policy, maxOut, entitiesCut, edges, kept } = selection;
  const left = Object.entries(splits).map(([name, samples]) => {
    const walkable = samples.filter(({ gold }) => graph.holds(gold.path)).length;
    return `${((100 * walkable) / samples.length).toFixed(1)} % of ${name}`;
  });
  const warning = leakWarning({ selection });
  return [
    `edges ${policy}: ${kept} of ${edges} may be walked, at most ${maxOut} actions a state, ${entitiesCut} entities cut; gold paths that are left: ${left.join(', ')}`,
    ...(warning === undefined ? [] : [warning]),
  ];
}

/** What must stand beside every score of a walker over these edges, where dialogues of valid and test chose some. */
export function leakWarning({ selection }: Pick<WalkGraph, 'selection'>): string | undefined {
  if (!selection?.brought) return undefined;
  const { valid, test } = selection.brought;
  return `warning: edgePolicy=ark leaks: ${valid} edges may be walked because dialogues of valid walk them, ${test} because those of test do; compare its scores with LLM-ARK’s alone`;
}

/** Relations as people read them: the graph's `~` marks that an edge is walked against its direction. */

const inversePrefix = '~';

/** @returns the name without its mark, and whether it had one */
export function readRelation(name: string): { relation: string; inverse: boolean } {
  const inverse = name.startsWith(inversePrefix);
  return { relation: inverse ? name.slice(inversePrefix.length) : name, inverse };
}

/** `←starred_actors— —has_genre→`, as the walks are drawn. */
export function chainText(relations: readonly string[]): string {
  const arrows = relations
    .map(readRelation)
    .map(({ relation, inverse }) => (inverse ? `←${relation}—` : `—${relation}→`));
  return arrows.join(' ');
}

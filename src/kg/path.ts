/** Paths: sequences of triples, as ids. */

/** One edge that was walked: head, relation, tail. */
export type Triple = readonly [head: number, relation: number, tail: number];

/** Triples in walking order; each head is the tail before it. */
export type Path = readonly Triple[];

/** A path without its stay (Equal) steps, which add nothing to where it leads. */
export function canonicalPath(path: Path, equalRelation: number): Path {
  return path.filter(([, relation]) => relation !== equalRelation);
}

/** A key that is equal for equal paths. */
export function pathKey(path: Path): string {
  return path.map((triple) => triple.join(',')).join(';');
}

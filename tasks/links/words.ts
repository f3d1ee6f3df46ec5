/** Walks in words. */
import { type Graph, inversePrefix } from '../../src/kg/graph.js';

/**
 * A walk as one line, such as `Tom Hanks -[acts in]-> Big <-[directed]- Penny Marshall`: an inverse relation is written as the
 * relation itself, its arrow pointing back. Steps that stay are left out; a walk of nothing else is its head.
 * @param labels display name of each entity
 * @param path int32: relation and entity of each step, as observations and beams have it
 */
export function verbalisePath(
  { relationNames }: Pick<Graph, 'relationNames'>,
  labels: readonly string[],
  head: number,
  path: ArrayLike<number>,
): string {
  let words = labels[head]!;
  for (let at = 0; at < path.length; at += 2) {
    const name = relationNames[path[at]!];
    // Staying has the id after the last relation.
    if (name === undefined) continue;
    const arrow = name.startsWith(inversePrefix) ? ` <-[${name.slice(inversePrefix.length)}]- ` : ` -[${name}]-> `;
    words += arrow + labels[path[at + 1]!]!;
  }
  return words;
}

/** Names of answers. */
export interface LinkNames {
  graph: Graph;
  /** Display name of each entity. */
  labels: readonly string[];
}

/** [head, relation, tail] names of a walk's steps, stays left out. @param path relation and entity of each step */
export function namedSteps({ graph, labels }: LinkNames, head: number, path: Int32Array): [string, string, string][] {
  const steps: [string, string, string][] = [];
  for (let step = 0, from = head; step < path.length; step += 2) {
    const [relation, to] = [path[step]!, path[step + 1]!];
    if (relation !== graph.numRelations) steps.push([labels[from]!, graph.relationNames[relation]!, labels[to]!]);
    from = to;
  }
  return steps;
}

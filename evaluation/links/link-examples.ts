/** Queries worked out in names: what walks answered, and by which way. */
import type { ReachedEntities } from '../../agents/link-walker/beam.js';
import type { Graph } from '../../src/kg/graph.js';
import type { LinkAnswer } from '../../src/run/link-records.js';

/** The names that answers are told in. */
export interface LinkNames {
  graph: Graph;
  /** Display name of each entity. */
  labels: readonly string[];
}

/** What is right: the query's answer where there is one, and every answer that is known. */
export interface RightAnswers {
  /** Entity id. */
  answer?: number | undefined;
  /** int32, ascending. */
  known: Int32Array;
}

/** The first answers of a question, best first, each with the best walk to it. */
export function namedAnswers(
  { graph, labels }: LinkNames,
  head: number,
  { entities, best, order, path }: ReachedEntities,
  { answer, known }: RightAnswers,
  most: number,
): LinkAnswer[] {
  return Array.from(order(best, most), (i): LinkAnswer => {
    const entity = entities[i]!;
    return {
      entity: labels[entity]!,
      logProb: best[i]!,
      right: entity === answer,
      known: entity !== answer && known.includes(entity),
      path: namedSteps({ graph, labels }, head, path(i)),
    };
  });
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

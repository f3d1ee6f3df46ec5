/** Row of one query, its columns, and walks and rules in words. */
import { z } from 'zod';
import type { FoundRule } from '../../agents/link-ranker.js';
import { arrowFile } from '../../src/run/arrow.js';
import { openObject } from '../../src/run/read-json.js';
import { anyNumber } from '../../src/run/records.js';
import { type Graph, inversePrefix } from '../../src/kg/graph.js';

/** A line of `answers.jsonl`. */
export const linkRow = openObject({
  /** `tail/12`: direction, and place among the triples that were asked. */
  id: z.string(),
  direction: z.enum(['tail', 'head']),
  /** Entity id that the query gives, relation id that it asks for, entity id of its answer. */
  head: z.int(),
  relation: z.int(),
  answer: z.int(),
  /** Filtered realistic rank of the answer, 1 or more; of walks, by the best one to each entity. */
  rank: anyNumber,
  /** The same by the summed probability of walks; absent where nothing is summed. */
  sumRank: anyNumber.optional(),
  /** See `sampledHit`; absent in evaluations of before it. */
  hitOf50: anyNumber.optional(),
  /** The answer was reached; absent where everything is scored. */
  reached: z.boolean().optional(),
  /** Edges from head to answer, the query's own left out; 255 beyond the horizon. */
  distance: z.int(),
  /** For walks and rules: relations that led to the first answer beyond train, and whether some split holds that answer. */
  chain: z.array(z.int()).optional(),
  chainRight: z.boolean().optional(),
  /** Calls and tokens, where the agent asks a model. */
  cost: z.record(z.string(), anyNumber).optional(),
  miss: z.string().optional(),
});
/** See `linkRow`. */
export type LinkRow = z.output<typeof linkRow>;

/**
 * Rows as an Arrow IPC file: `asks_head`, `head`, `relation`, `answer`, `rank`, `distance`, and where there are such
 * `sum_rank` and `reached`. Equal rows give equal bytes.
 */
export function linkArrow(rows: readonly LinkRow[]): Uint8Array {
  const [first] = rows;
  return arrowFile(rows, ({ int32, float64, uint8 }) => ({
    asks_head: uint8(({ direction }) => Number(direction === 'head')),
    head: int32(({ head }) => head),
    relation: int32(({ relation }) => relation),
    answer: int32(({ answer }) => answer),
    rank: float64(({ rank }) => rank),
    distance: uint8(({ distance }) => distance),
    ...(first?.sumRank !== undefined && { sum_rank: float64(({ sumRank }) => sumRank!) }),
    ...(first?.reached !== undefined && { reached: uint8(({ reached }) => Number(reached)) }),
  }));
}

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
interface LinkNames {
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

/** `of 61 heads with nationality → Norway, 58 have Norwegian` */
export function ruleWords(
  { kind, chain, feature, right, of }: Omit<FoundRule, 'precision'>,
  relation: number,
  answer: number,
  { graph, labels }: { graph: Pick<Graph, 'relationNames'>; labels: readonly string[] },
): string {
  const names = graph.relationNames;
  const having =
    feature && `${names[feature.relation]!} → ${feature.entity < 0 ? 'anything' : labels[feature.entity]!}`;
  switch (kind) {
    case 'chain':
      return `${chain!.map((step) => names[step]!).join(' → ') || '(itself)'} (${right} of ${of})`;
    case 'prior':
      return `of ${of} heads of ${names[relation]!}, ${right} have ${labels[answer]!}`;
    case 'head':
      return `of ${of} heads with ${having!}, ${right} have ${labels[answer]!}`;
    case 'answers':
      return `of ${of} answers with ${having!}, ${right} are known here`;
  }
}

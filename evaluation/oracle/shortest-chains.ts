/** Relation sequences for questions that come without: the shortest ones that lead to an answer. */
import { executeChain } from '../../src/kg/frontier.js';
import { byIds, type Graph } from '../../src/kg/graph.js';

/** Sequences that are executed to be ranked, and kept at most. */
const mostRanked = 64;
const mostKept = 3;

/**
 * The relation sequences of the shortest paths from the topics to the answers nearest to them, best first: by F1 of where
 * they lead against the answers, then by relation ids. At most three; empty where no answer is within reach.
 * @param excluded topics that leave every frontier when a sequence is followed
 * @param maxHops longest path
 */
export function shortestChains(
  graph: Graph,
  topics: readonly number[],
  answers: ReadonlySet<number>,
  excluded: readonly number[],
  maxHops = 3,
): number[][] {
  const chains = nearestChains(graph, topics, answers, maxHops);
  const ranked = chains.slice(0, mostRanked).map((chain) => {
    const { entities } = executeChain(graph, topics, chain, excluded);
    const hits = entities.reduce((sum, entity) => sum + (answers.has(entity) ? 1 : 0), 0);
    return { chain, f1: (2 * hits) / (entities.length + answers.size) };
  });
  // Stable: equal ones stay in the order of their ids.
  ranked.sort((a, b) => b.f1 - a.f1);
  return ranked.slice(0, mostKept).map(({ chain }) => chain);
}

/** Distinct sequences in ascending order of ids. Breadth first: each entity keeps the sequences of its distance. */
function nearestChains(
  graph: Graph,
  topics: readonly number[],
  answers: ReadonlySet<number>,
  maxHops: number,
): number[][] {
  const seen = new Set(topics.filter((topic) => topic >= 0));
  let level = new Map<number, Map<string, number[]>>([...seen].map((topic) => [topic, new Map([['', []]])]));
  for (let hop = 0; hop < maxHops && level.size > 0; hop++) {
    const next = new Map<number, Map<string, number[]>>();
    for (const [entity, chains] of level) {
      for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
        const tail = graph.tails[edge]!;
        if (seen.has(tail)) continue;
        const reached = next.get(tail) ?? new Map<string, number[]>();
        next.set(tail, reached);
        for (const chain of chains.values()) {
          if (reached.size >= mostRanked) break;
          const longer = [...chain, graph.relations[edge]!];
          reached.set(longer.join(), longer);
        }
      }
    }
    const found = [...next].filter(([entity]) => answers.has(entity)).flatMap(([, chains]) => [...chains]);
    if (found.length > 0) return [...new Map(found).values()].sort(byIds);
    for (const entity of next.keys()) seen.add(entity);
    level = next;
  }
  return [];
}

/** A proposed chain and where it leads. */
import type { Graph } from '../../../src/kg/graph.js';
import { canonicalOrder, initialFrontier, stepFrontier } from '../../../src/kg/frontier.js';

/** A chain with the entities that it leads to. */
export interface ExecutedChain {
  chain: readonly number[];
  /** In canonical order; empty where it breaks off. */
  answers: readonly number[];
  /** Hop, from 1, that leads nowhere; absent where all lead on. */
  brokenAt?: number;
}

/** Follows a chain with whole frontiers. @param excluded entities that never come back */
export function executed(
  graph: Graph,
  topics: readonly number[],
  chain: readonly number[],
  excluded: readonly number[],
): ExecutedChain {
  let frontier = initialFrontier(topics);
  for (let hop = 0; hop < chain.length; hop++) {
    frontier = stepFrontier(graph, frontier, chain[hop]!, excluded);
    if (frontier.entities.length === 0) return { chain, answers: [], brokenAt: hop + 1 };
  }
  return { chain, answers: canonicalOrder(frontier) };
}

/** `~starred_actors → directed_by`, as prompts show it. */
export function chainText(graph: Graph, chain: readonly number[]): string {
  return chain.map((relation) => graph.relationNames[relation]!).join(' → ');
}

/** The chain from its topic to its first answers and their number: the paper's integrated inference chain. */
export function integratedText(
  graph: Graph,
  topic: string,
  { chain, answers }: ExecutedChain,
  answersShown: number,
): string {
  const names = answers.slice(0, answersShown).map((entity) => graph.entityNames[entity]!);
  const more = answers.length > names.length ? '; …' : '';
  return `${topic} → ${chainText(graph, chain)} → ${names.join('; ')}${more} (${answers.length})`;
}

/** The critique that needs no call: which hop of which chain leads nowhere. */
export function brokenCritique(graph: Graph, chains: readonly ExecutedChain[]): string {
  const broken = chains.flatMap(({ chain, brokenAt }) =>
    brokenAt === undefined
      ? []
      : [`${chainText(graph, chain)} leads nowhere at ${graph.relationNames[chain[brokenAt - 1]!]!}`],
  );
  return broken.length > 0 ? `${broken.join('; ')}.` : 'No chain was given.';
}

/** The critique where the verifier gives none. */
export function plainCritique(graph: Graph, chains: readonly ExecutedChain[]): string {
  return `None of these answers the question: ${chains.map(({ chain }) => chainText(graph, chain)).join('; ')}.`;
}

/**
 * The chain to fall back on: of those that lead somewhere the one whose answers most others lead to as well, the earliest
 * of equals. Undefined where none leads anywhere.
 */
export function mostVoted(tried: readonly ExecutedChain[]): ExecutedChain | undefined {
  const votes = new Map<string, number>();
  const key = ({ answers }: ExecutedChain) => [...answers].sort((a, b) => a - b).join();
  const leading = tried.filter(({ answers }) => answers.length > 0);
  for (const one of leading) votes.set(key(one), (votes.get(key(one)) ?? 0) + 1);
  return leading.reduce<ExecutedChain | undefined>(
    (best, one) => (best && votes.get(key(best))! >= votes.get(key(one))! ? best : one),
    undefined,
  );
}

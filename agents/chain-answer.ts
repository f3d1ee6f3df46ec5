/** From a relation sequence to an answer with its facts: what walkers and lookups over relations share. */
import type { FrontierNode } from '../envs/relation-walk/frontier-trie.js';
import { canonicalOrder, chainFrontiers } from '../src/kg/frontier.js';
import type { Graph, Triple } from '../src/kg/graph.js';
import type { NamedTriple } from '../src/llm/decision.js';
import { factOf } from './prompted/facts.js';
import type { QuestionAnswer } from './question-agent.js';

/** Facts that an answer carries at most; a path is never cut. */
const maxFacts = 50;

/** The answer that a walked relation sequence stands for: its whole frontier in canonical order. */
export function chainAnswer(
  graph: Graph,
  node: Pick<FrontierNode, 'topics' | 'relations' | 'frontier'> & Partial<Pick<FrontierNode, 'excluded'>>,
  rest: Pick<QuestionAnswer, 'stop' | 'cost' | 'confidence'>,
): QuestionAnswer {
  const entities = canonicalOrder(node.frontier);
  const chain = [...node.relations];
  const evidence = chainEvidence(graph, node.topics, chain, entities, maxFacts, node.excluded);
  return { entities, literals: [], chain, evidence, degraded: false, ...rest };
}

/** No answer, and why. */
export function noAnswer(stop: string): QuestionAnswer {
  return { entities: [], literals: [], evidence: [], degraded: false, stop, cost: {} };
}

/**
 * For each answer, best first, one path back to a topic: the facts in walking order, each once and in the graph's own
 * direction, until `limit` is reached.
 * @param answers entities at the end of the chain, in the order in which they matter
 * @param excluded entities that never came back; default the topics
 */
export function chainEvidence(
  graph: Graph,
  topics: readonly number[],
  chain: readonly number[],
  answers: readonly number[],
  limit: number,
  excluded: readonly number[] = topics,
): NamedTriple[] {
  const frontiers = chainFrontiers(graph, topics, chain, excluded);
  const facts = new Map<string, NamedTriple>();
  for (const answer of answers) {
    const path: Triple[] = [];
    for (let step = chain.length - 1, tail = answer; step >= 0; step--) {
      const relation = chain[step]!;
      const end = tail;
      const head = frontiers[step]!.entities.find((entity) => graph.edgeIndex(entity, relation, end) >= 0)!;
      path.unshift([head, relation, end]);
      tail = head;
    }
    const fresh = path
      .map((triple) => factOf(graph, triple))
      .map((fact) => [fact.join('\u0000'), fact] as const)
      .filter(([key]) => !facts.has(key));
    if (facts.size + fresh.length > limit) break;
    for (const [key, fact] of fresh) facts.set(key, fact);
  }
  return [...facts.values()];
}

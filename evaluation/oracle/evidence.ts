/** Facts in a prompt: the only input of the simulated model's answers. */
import { excludedTopics } from '../../datasets/question.js';
import { inverseName, type Graph } from '../../src/kg/graph.js';
import { normalizeName } from '../../src/kg/name-index.js';
import type { NamedTriple } from '../../src/llm/decision.js';
import type { QuestionFacts } from './question-facts.js';

/** Names of the evidence's entities, by their normalised form, in order of appearance. */
export function namesIn(evidence: readonly NamedTriple[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const [head, , tail] of evidence) {
    for (const name of [head, tail]) {
      const key = normalizeName(name);
      if (!names.has(key)) names.set(key, name);
    }
  }
  return names;
}

/** All right answers that the evidence names, as it spells them, in the order of the gold; each once. */
export function answersIn({ gold, answerNames }: QuestionFacts, evidence: readonly NamedTriple[]): string[] {
  const found = new Map<number, string>();
  for (const [key, name] of namesIn(evidence)) {
    const answer = answerNames.get(key);
    if (answer !== undefined && !found.has(answer)) found.set(answer, name);
  }
  return gold.answers.flatMap((_, i) => (found.has(i) ? [found.get(i)!] : []));
}

/**
 * What the evidence says of a claim: true where a gold chain leads to the claimed entity inside the evidence, false where
 * the claim is false and the evidence leads to a real end of the chain; undefined where it shows neither.
 */
export function truthIn(graph: Graph, facts: QuestionFacts, evidence: readonly NamedTriple[]): boolean | undefined {
  const { gold, chains } = facts;
  const ends = new Set(chains.flatMap(({ relations }) => [...walkedIn(graph, facts, evidence, relations)]));
  const claimed = graph.entityNames[gold.claimed ?? -1];
  if (gold.truth) return claimed !== undefined && ends.has(claimed) ? true : undefined;
  const real = chains.flatMap(({ frontiers }) => [...frontiers.at(-1)!].map((entity) => graph.entityNames[entity]!));
  return real.some((end) => ends.has(end)) ? false : undefined;
}

/** Names that a relation sequence leads to from the topics inside the evidence, in either direction of a fact. */
function walkedIn(
  graph: Graph,
  { task }: QuestionFacts,
  evidence: readonly NamedTriple[],
  chain: readonly number[],
): Set<string> {
  const excluded = excludedTopics(task).map((topic) => graph.entityNames[topic]!);
  let reached = new Set(task.topics.map(({ name }) => name));
  for (const relation of chain) {
    const name = graph.relationNames[relation]!;
    const next = new Set<string>();
    for (const [head, label, tail] of evidence) {
      if (label === name && reached.has(head)) next.add(tail);
      if (label === inverseName(name) && reached.has(tail)) next.add(head);
    }
    for (const topic of excluded) next.delete(topic);
    reached = next;
  }
  return reached;
}

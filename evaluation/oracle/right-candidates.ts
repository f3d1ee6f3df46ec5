/** Which of the offered relations, entities, chains and paths lie on a gold chain. */
import { normalizeName } from '../../src/kg/name-index.js';
import type { Candidate, Decision, PathsDecision, NamedTriple } from '../../src/llm/decision.js';
import type { GoldChain, QuestionFacts } from './question-facts.js';
import { excludedTopics } from '../../datasets/question.js';
import { inverseName, type Graph } from '../../src/kg/graph.js';

/** A hop of a gold chain that a decision is about. */
interface Hop {
  chain: GoldChain;
  /** From 0. */
  depth: number;
}

/** Hops that begin where the decision's subjects stand; all hops where it names no subjects. */
function hopsOf({ chains }: QuestionFacts, { subjects }: Decision): Hop[] {
  return chains.flatMap((chain) =>
    [...chain.relations.keys()]
      .filter((depth) => !subjects || subjects.some((entity) => chain.frontiers[depth]!.has(entity)))
      .map((depth) => ({ chain, depth })),
  );
}

/** True if a candidate is a relation of the hop, or an entity that the hop leads to. */
function fits(candidate: Candidate, { chain, depth }: Hop): boolean {
  const relation = chain.relations[depth]!;
  if (candidate.kind === 'relation') return candidate.relation === relation || candidate.inverse === relation;
  if (candidate.kind !== 'entity') return false;
  return (candidate.relation ?? relation) === relation && chain.frontiers[depth + 1]!.has(candidate.entity);
}

/** For every candidate whether it is right to follow. */
export function rightCandidates(
  facts: QuestionFacts,
  decision: Decision & { candidates: readonly Candidate[] },
): boolean[] {
  const hops = hopsOf(facts, decision);
  return decision.candidates.map((candidate) => {
    if (candidate.kind === 'chain') return isGoldChain(facts, candidate.relations);
    if (candidate.kind === 'path') return followsGold(facts, candidate.triples);
    if (candidate.kind === 'text') return facts.answerNames.has(normalizeName(candidate.text));
    return hops.some((hop) => fits(candidate, hop));
  });
}

/** The first hop, from 0, that an offered relation or entity takes rightly; undefined where none does. */
export function rightHop(
  facts: QuestionFacts,
  decision: Decision & { candidates: readonly Candidate[] },
): number | undefined {
  const depths = hopsOf(facts, decision).flatMap((hop) =>
    decision.candidates.some((candidate) => fits(candidate, hop)) ? hop.depth : [],
  );
  return depths.length > 0 ? Math.min(...depths) : undefined;
}

/** True if the data set, or the shortest path, gives this relation sequence. */
export function isGoldChain({ chains }: QuestionFacts, relations: readonly number[]): boolean {
  return chains.some((chain) => chain.relations.join() === relations.join());
}

/** Indices of the paths that walk along a whole gold chain, to a right answer or to what is truly claimed. */
export function goldPaths({ gold, chains, ...facts }: QuestionFacts, { allowed }: PathsDecision): number[] {
  return [...allowed.keys()].filter((index) => {
    const path = allowed[index]!;
    const whole = chains.filter(({ relations }) => relations.length === path.length);
    const claimed = facts.task.form !== 'truth' || !gold.truth || path.at(-1)?.[2] === gold.claimed;
    return claimed && followsGold({ gold, chains: whole, ...facts }, path);
  });
}

function followsGold({ chains }: QuestionFacts, triples: readonly (readonly [number, number, number])[]): boolean {
  return chains.some(
    ({ relations, frontiers }) =>
      triples.length > 0 &&
      triples.length <= relations.length &&
      triples.every(
        ([head, relation, tail], i) =>
          frontiers[i]!.has(head) && relation === relations[i] && frontiers[i + 1]!.has(tail),
      ),
  );
}

/**
 * The target that a candidate speaks for: the clue of its hop, where that is among the targets. Entities of the last hop
 * speak for none, since the answer is what the question leaves open.
 */
export function rightTarget(
  facts: QuestionFacts,
  decision: Decision & { targets: readonly string[] },
  candidate: Candidate,
): number | undefined {
  const targets = decision.targets.map(normalizeName);
  for (const hop of hopsOf(facts, decision)) {
    const last = hop.depth === hop.chain.relations.length - 1;
    if (!fits(candidate, hop) || (last && candidate.kind === 'entity')) continue;
    const target = targets.indexOf(normalizeName(hop.chain.clues[hop.depth]!));
    if (target >= 0) return target;
  }
  return undefined;
}

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

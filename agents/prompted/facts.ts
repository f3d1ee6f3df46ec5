/** Between ids and names: facts as prompts show them, and replies back to entities. */
import { type Graph, inverseName, inversePrefix, type Triple } from '../../src/kg/graph.js';
import type { NameIndex } from '../../src/kg/name-index.js';
import { BudgetSpent, type NamedTriple } from '../../src/llm/decision.js';

/** The fact of a walked edge: an inverse step is turned back into the graph's own direction. */
export function factOf(graph: Graph, [head, relation, tail]: Triple): NamedTriple {
  const name = graph.relationNames[relation]!;
  const from = graph.entityNames[head]!;
  const to = graph.entityNames[tail]!;
  return name.startsWith(inversePrefix) ? [to, inverseName(name), from] : [from, name, to];
}

/** Facts in order, each once. */
export function distinctFacts(facts: readonly NamedTriple[]): NamedTriple[] {
  return [...new Map(facts.map((fact) => [fact.join('\u0000'), fact])).values()];
}

/**
 * Looks names up exactly, after normalisation. Of homonyms those that the agent met on its way count, else all.
 * @param met entities of the evidence
 * @returns distinct, in the order of the names; literals are names without an entity
 */
export function groundNames(
  names: readonly string[],
  index: Pick<NameIndex, 'lookup'>,
  met: ReadonlySet<number> = new Set(),
) {
  const entities = new Set<number>();
  const literals = new Set<string>();
  for (const name of names) {
    const homonyms = index.lookup(name);
    const known = homonyms.filter((entity) => met.has(entity));
    if (homonyms.length === 0) literals.add(name);
    for (const entity of known.length > 0 ? known : homonyms) entities.add(entity);
  }
  return { entities: [...entities], literals: [...literals] };
}

/** The verdict in the answers to a `truth` question; absent where there is none. */
export function truthOf(answers: readonly string[]): { truth?: boolean } {
  const word = answers[0]?.trim().toLowerCase();
  return word === 'true' ? { truth: true } : word === 'false' ? { truth: false } : {};
}

/** Decision; undefined when the budget is spent. */
export function unlessSpent<T>(decided: Promise<T>): Promise<T | undefined> {
  return decided.catch((error: unknown) => {
    if (error instanceof BudgetSpent) return undefined;
    throw error;
  });
}

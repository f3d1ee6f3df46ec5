/** Facts as few lines: those of one head and relation stand together, and of the others those of one relation and tail. */
import type { NamedTriple } from '../decision.js';
import { shownName } from './prompt-text.js';

/**
 * Such as `Tower Clock | repaired_by | Mia Kop; Jon Weil`, in the order in which the lines begin. Every fact is in one line, and
 * no line says more than the facts. O(facts).
 * @source KnowledgeNavigator (Guo et al. 2024) joins in these two steps
 */
export function joinedLines(facts: readonly NamedTriple[]): string[] {
  const byHead = groupsOf(facts, ([head, relation]) => [head, relation]);
  const byTail = groupsOf(byHead.filter((group) => group.length === 1).flat(), ([, relation, tail]) => [
    relation,
    tail,
  ]);
  const groupOf = new Map<NamedTriple, readonly NamedTriple[]>();
  for (const group of [...byHead, ...byTail]) for (const fact of group) groupOf.set(fact, group);
  return [...new Set(facts.map((fact) => groupOf.get(fact)!))].map(lineOf);
}

function groupsOf(facts: readonly NamedTriple[], keyOf: (fact: NamedTriple) => readonly string[]): NamedTriple[][] {
  const groups = new Map<string, NamedTriple[]>();
  for (const fact of facts) {
    const key = JSON.stringify(keyOf(fact));
    const known = groups.get(key);
    if (known) known.push(fact);
    else groups.set(key, [fact]);
  }
  return [...groups.values()];
}

function lineOf(group: readonly NamedTriple[]): string {
  const names = (place: 0 | 2) => [...new Set(group.map((fact) => fact[place]))].map(shownName).join('; ');
  return [names(0), shownName(group[0]![1]), names(2)].join(' | ');
}

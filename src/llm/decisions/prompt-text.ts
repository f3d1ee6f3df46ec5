/** Rendering of names, facts and lists in prompts: one line each. */
import { printable } from '../../run/printable.js';
import type { Decision, NamedTriple, PathsDecision } from '../decision.js';

/** Longest name in a prompt, in UTF-16 units: one hostile name must not push out all others. */
const longestName = 300;

/** A name for prompts and grammars: control characters neutralised, overlong ones cut with an ellipsis. */
export const shownName = (name: string): string => printable(name, longestName);

/** A text of ours or of the user on one line: line breaks become spaces, other control characters are neutralised. */
export const oneLine = (text: string): string => printable(text.replace(/\s+/gu, ' ').trim());

/** `head | relation | tail`, in the direction in which the graph holds it. */
export function shownTriple([head, relation, tail]: NamedTriple): string {
  return `${shownName(head)} | ${shownName(relation)} | ${shownName(tail)}`;
}

/** Separator of the names of a path. */
export const arrow = ' → ';

type Naming = Pick<PathsDecision, 'entityName' | 'relationName'>;
type Path = PathsDecision['allowed'][number];

/** Entity, relation, entity, … as walked. */
export function pathNames({ entityName, relationName }: Naming, path: Path): string[] {
  const steps = path.flatMap(([, relation, tail]) => [relationName(relation), entityName(tail)]);
  return [...path.slice(0, 1).map(([head]) => entityName(head)), ...steps].map(shownName);
}

/** `Tenet → directed_by → Nolan`. */
export const pathText = (naming: Naming, path: Path): string => pathNames(naming, path).join(arrow);

/** Lines `1. …`, counting from 1: 0 always means none. */
export function numberedLines(texts: readonly string[]): string[] {
  return texts.map((text, i) => `${i + 1}. ${shownName(text)}`);
}

/** Texts of the candidates, or of the allowed answers; empty where a decision offers nothing by number. */
export function offeredTexts(decision: Decision): string[] {
  if ('candidates' in decision) return decision.candidates.map(({ text }) => shownName(text));
  return decision.kind === 'answer' ? (decision.allowed ?? []).map(shownName) : [];
}

/**
 * Facts in few lines: those of one head and relation together, of the others those of one relation and tail, such as
 * `Tower Clock | repaired_by | Mia Kop; Jon Weil`. O(facts).
 * @source KnowledgeNavigator (Guo et al. 2024) joins in these two steps
 */
export function joinedLines(facts: readonly NamedTriple[]): string[] {
  const byHead = groupsOf(facts, ([head, relation]) => [head, relation]);
  const single = byHead.filter((group) => group.length === 1).flat();
  const byTail = groupsOf(single, ([, relation, tail]) => [relation, tail]);
  const groupOf = new Map<NamedTriple, readonly NamedTriple[]>();
  for (const group of [...byHead, ...byTail]) for (const fact of group) groupOf.set(fact, group);
  return [...new Set(facts.map((fact) => groupOf.get(fact)!))].map(lineOf);
}

function groupsOf(facts: readonly NamedTriple[], keyOf: (fact: NamedTriple) => readonly string[]): NamedTriple[][] {
  return [...Map.groupBy(facts, (fact) => JSON.stringify(keyOf(fact))).values()];
}

function lineOf(group: readonly NamedTriple[]): string {
  const names = (place: 0 | 2) => [...new Set(group.map((fact) => fact[place]))].map(shownName).join('; ');
  return [names(0), shownName(group[0]![1]), names(2)].join(' | ');
}

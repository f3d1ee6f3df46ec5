/** Notes of an import on names: those that look alike, and those that the graph lacks. */
import type { Graph } from '../src/kg/graph.js';
import { inversePrefix } from '../src/kg/graph.js';
import { nearestName, printable } from '../src/run/printable.js';
import type { StoredQuestion } from './questions/stored-question.js';

/** Names that one note shows. */
const mostShown = 10;
/** Entities among which a misspelt name is looked for: it is compared with each. */
const mostCompared = 100_000;

const quoted = (name: string): string => printable(JSON.stringify(name), 100);

/** Up to ten names, in quotes or as `show` writes them, and how many more there are. */
export function listed(names: readonly string[], show: (name: string) => string = quoted): string {
  const more = names.length > mostShown ? ` and ${names.length - mostShown} more` : '';
  return (
    names
      .slice(0, mostShown)
      .map((name) => show(name))
      .join(', ') + more
  );
}

/** Sentences for a manifest; absent if there are none. */
export const noted = (notes: readonly string[]): string[] | undefined => (notes.length > 0 ? [...notes] : undefined);

/** Notes on entities and relations whose names differ from another one's only by white space or Unicode normal form. */
export function lookAlikes(graph: Pick<Graph, 'entityNames' | 'relationNames'>): string[] {
  const plain = graph.relationNames.filter((name) => !name.startsWith(inversePrefix));
  return [...alike(graph.entityNames, 'entities'), ...alike(plain, 'relations')];
}

function alike(names: readonly string[], what: string): string[] {
  // Others are their own form.
  const changed = names.filter((name) => /[^\x20-\x7e]|^ | $| {2}/.test(name));
  const groups = Map.groupBy(changed, formOf);
  for (const name of names) if (groups.get(name)?.includes(name) === false) groups.get(name)!.push(name);
  const found = [...groups.values()].filter((group) => group.length > 1).flat();
  if (found.length === 0) return [];
  const counted = `${found.length} names of ${what} differ from another only by white space or Unicode normal form`;
  return [`${counted}: ${listed(found).replace(/[\p{M}\p{Cf}]|[^\S ]/gu, escaped)}`];
}

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** NFKC without format characters, white space as single spaces. */
const formOf = (name: string) =>
  name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();

/** Notes on topics and answers that the graph lacks, with the nearest names. */
export function notFound(questions: readonly StoredQuestion[], graph: Graph): string[] {
  return (['topics', 'answers'] as const).flatMap((what) => {
    const names = questions.flatMap((question) => question[what].map(({ name }) => name));
    const lacking = [...new Set(names)].filter((name) => graph.entityId(name) < 0);
    if (lacking.length === 0) return [];
    const withNearest = (name: string) => {
      const near = graph.numEntities <= mostCompared ? nearestName(name, graph.entityNames) : undefined;
      return near === undefined ? quoted(name) : `${quoted(name)} (nearest: ${quoted(near)})`;
    };
    return [`${what} not in graph ${graph.name}, ${lacking.length} names: ${listed(lacking, withNearest)}`];
  });
}

/** Resolution of user input to entities (id or display name) and relations (with or without `~`). */
import { normalizeName } from '../../src/kg/name-index.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { nearestName, printable } from '../../src/run/printable.js';
import type { LinkDataset } from './link-dataset.js';

type Named = Pick<LinkDataset, 'graph' | 'labels'> & { manifest: { name: string } };

/** Minimum letters for matching parts of a name. */
const shortest = 3;
/** Maximum entities listed in an error. */
const shown = 10;

/**
 * Entity with that source id (`/m/0bxtg`; numbers are ids, too), else that display name, else a name that differs only in case,
 * punctuation or an article.
 * @returns its graph id
 * @throws WorkbenchError `usage` for an ambiguous name, listing ids, and for an unknown one
 */
export function resolveEntity({ graph, labels, manifest }: Named, text: string): number {
  const id = graph.entityId(text);
  if (id >= 0) return id;
  const wanted = normalizeName(text);
  const exact = placesOf(labels, (label) => label === text);
  const found = exact.length > 0 ? exact : placesOf(labels, (label) => normalizeName(label) === wanted);
  if (found.length === 1) return found[0]!;
  const got = `"${printable(text, 80)}"`;
  if (found.length > 1) {
    const ids = found.slice(0, shown).map((entity) => printable(graph.entityName(entity)!, 80));
    const more = found.length > shown ? ` and ${found.length - shown} more` : '';
    const message = `expected one entity, got ${got}, the name of ${found.length}: ${ids.join(', ')}${more}`;
    throw new WorkbenchError('usage', message, { hint: 'Give the id of one of them.' });
  }
  throw new WorkbenchError('usage', `expected an entity of ${manifest.name}, got ${got}`, {
    hint: meant(text, labels) ?? meant(text, graph.entityNames) ?? 'Give its id or its name.',
  });
}

/**
 * Relation by name; `~name` is its inverse, which queries heads.
 * @returns its graph id
 * @throws WorkbenchError `usage` for an unknown one
 */
export function resolveRelation({ graph, manifest }: Omit<Named, 'labels'>, text: string): number {
  const id = graph.relationId(text);
  if (id >= 0) return id;
  throw new WorkbenchError('usage', `expected a relation of ${manifest.name}, got "${printable(text, 80)}"`, {
    hint: meant(text, graph.relationNames) ?? `Relations: \`kgwalk datasets stats ${manifest.name}\`.`,
  });
}

/** Suggestions: names with this prefix, else the nearest spelling, else names that contain it; undefined if none. */
function meant(text: string, names: readonly string[]): string | undefined {
  const typed = text.toLowerCase();
  const holding = typed.length < shortest ? [] : names.filter((name) => name.toLowerCase().includes(typed));
  const beginning = holding.filter((name) => name.toLowerCase().startsWith(typed));
  const near = nearestName(text, names);
  const found = beginning.length > 0 ? beginning.slice(0, 3) : near === undefined ? holding.slice(0, 3) : [near];
  if (found.length === 0) return undefined;
  return `Did you mean ${found.map((name) => `"${printable(name, 80)}"`).join(' or ')}?`;
}

const placesOf = (labels: readonly string[], is: (label: string) => boolean): number[] =>
  labels.flatMap((label, entity) => (is(label) ? entity : []));

/** Names that people can read for the IRIs of a graph, no two alike. */

/** What is known of one term of an RDF graph, by its key: `<iri>`, `_:blank` or `"literal`. */
export interface NamedTerm {
  key: string;
  /** The name it would have if it were alone. */
  wanted: string;
}

/** The part of an IRI after its last `/`, `#` or `:`, decoded; the whole IRI where that is empty. */
export function localName(iri: string): string {
  // By places, as an expression that is tried at every place takes the square of the length.
  const name = iri.slice(1 + Math.max(...['/', '#', ':'].map((mark) => iri.lastIndexOf(mark))));
  if (name === '') return iri;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * A name for every key, all different: the wanted one where nobody else wants it; literals always keep theirs; others that share one
 * become `wanted (local name)`, and where even that is taken, the key itself (with
 * stars, should it be the text of a literal).
 */
export function distinctNames(terms: readonly NamedTerm[]): Map<string, string> {
  const wanting = new Map<string, number>();
  for (const { wanted } of terms) wanting.set(wanted, (wanting.get(wanted) ?? 0) + 1);
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const take = (key: string, name: string) => {
    names.set(key, name);
    taken.add(name);
  };
  for (const { key, wanted } of terms) if (key.startsWith('"') || wanting.get(wanted) === 1) take(key, wanted);
  for (const { key, wanted } of terms) {
    if (names.has(key)) continue;
    const qualified = key.startsWith('<') ? `${wanted} (${localName(key.slice(1, -1))})` : key;
    let name = taken.has(qualified) ? key : qualified;
    while (taken.has(name)) name += '*';
    take(key, name);
  }
  return names;
}

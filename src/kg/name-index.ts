/** Name normalisation and lookup of entities, shared by matching, hints and answers. */
import type { Graph } from './graph.js';

const leadingArticle = /^(?:the|a|an) (?=.)/;

/**
 * Normal form of names: NFKC, lower case, punctuation as spaces except within numbers and dates (`1,000.5`, `2012-05-01`), apostrophes
 * dropped, spaces collapsed, one leading article dropped. A name of punctuation only, such as the film `$`, keeps it.
 */
export function normalizeName(name: string): string {
  const folded = name.normalize('NFKC').toLowerCase();
  const words = folded
    .replace(/(?<=\p{L})['’](?=\p{L})/gu, '')
    .replace(/(?<=\d)[.,:/-](?=\d)/g, '\u0000$&')
    .replace(/(?<!\u0000)[\p{P}\p{S}]/gu, ' ')
    .replaceAll('\u0000', '')
    .replace(/\s+/gu, ' ')
    .trim();
  return words === '' ? folded.trim() : words.replace(leadingArticle, '');
}

/** Name without a trailing qualifier in brackets, as in `Heat (film)`. */
export function withoutQualifier(name: string): string {
  const text = name.trimEnd();
  const close = text.length - 1;
  if (text[close] !== ')') return name;
  const open = text.indexOf('(', text.lastIndexOf(')', close - 1) + 1);
  return open < 0 ? name : text.slice(0, open).trimEnd();
}

const withoutAccents = (name: string) => name.normalize('NFD').replace(/\p{Mn}/gu, '');

/** Entities by normalised name or alias; homonyms map to all their entities. */
export class NameIndex {
  readonly #entities = new Map<string, number[]>();
  #plain: Map<string, number[]> | undefined;
  /** Words of the longest name: bound for n-grams of a question. */
  readonly maxWords: number;

  /** @param aliases further names by entity id */
  constructor(graph: Graph, aliases: ReadonlyMap<number, readonly string[]> = new Map()) {
    let maxWords = 0;
    const add = (name: string, entity: number) => {
      const key = normalizeName(name);
      if (key === '') return;
      const known = this.#entities.get(key);
      if (!known) this.#entities.set(key, [entity]);
      else if (!known.includes(entity)) known.push(entity);
      maxWords = Math.max(maxWords, key.split(' ').length);
    };
    graph.entityNames.forEach(add);
    for (const [entity, names] of aliases) for (const name of names) add(name, entity);
    this.maxWords = maxWords;
  }

  /** Entity ids of a name in order of first appearance; empty if unknown. */
  lookup(name: string): readonly number[] {
    return this.#entities.get(normalizeName(name)) ?? [];
  }

  /** Like `lookup`; where nothing is found, accents are ignored on both sides. */
  find(name: string): readonly number[] {
    const found = this.lookup(name);
    if (found.length > 0) return found;
    if (!this.#plain) {
      this.#plain = new Map();
      for (const [key, entities] of this.#entities) {
        const plain = withoutAccents(key);
        this.#plain.set(plain, [...(this.#plain.get(plain) ?? []), ...entities]);
      }
    }
    return this.#plain.get(withoutAccents(normalizeName(name))) ?? [];
  }
}

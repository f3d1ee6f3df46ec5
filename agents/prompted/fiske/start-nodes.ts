/** Entities that clues name: where exploration may begin. */
import type { Graph } from '../../../src/kg/graph.js';
import { normalizeName, type NameIndex } from '../../../src/kg/name-index.js';
import type { ClueSet, Clues } from './clues.js';

/** An entity that clues name. */
export interface StartNode {
  entity: number;
  /** Clues that name it. */
  covered: ClueSet;
}

/** All entities that the clues of a question name. */
export interface StartNodes {
  /** In the order of the clues, then by id; each entity once. */
  starts: StartNode[];
  /** Clues that name an entity exactly, by entity: what a neighbour is recognised by. */
  namedBy: ReadonlyMap<number, ClueSet>;
  /** Homonyms beyond `maxStarts`, left out. */
  cut: number;
}

/**
 * Finds the entities of clues: by name or alias after normalisation, all homonyms, and where there is none by words.
 * @param options.maxStarts most entities a clue
 * @param options.nameMatch share of common words, in (0, 1], that a name needs that is not equal
 */
export function findStartNodes(
  { texts }: Clues,
  names: NameIndex,
  words: WordIndex,
  { maxStarts, nameMatch }: { maxStarts: number; nameMatch: number },
): StartNodes {
  const namedBy = new Map<number, ClueSet>();
  const covered = new Map<number, ClueSet>();
  let cut = 0;
  texts.forEach((clue, i) => {
    const exact = names.lookup(clue);
    for (const entity of exact) namedBy.set(entity, (namedBy.get(entity) ?? 0) | (1 << i));
    const found = exact.length > 0 ? exact : words.alike(clue, nameMatch);
    cut += Math.max(0, found.length - maxStarts);
    for (const entity of found.slice(0, maxStarts)) covered.set(entity, (covered.get(entity) ?? 0) | (1 << i));
  });
  return { starts: [...covered].map(([entity, set]) => ({ entity, covered: set })), namedBy, cut };
}

/** Entities by the words of their names. */
export interface WordIndex {
  /** Entities whose words are shared with the phrase to at least that part (intersection over union), best first, then by id. */
  alike(phrase: string, share: number): number[];
}

/** Indexed at the first look-up, and once: a name is a set of words. */
export function wordIndex(graph: Graph): WordIndex {
  let sizes: Int32Array | undefined;
  const holders = new Map<string, number[]>();
  const index = () =>
    Int32Array.from(graph.entityNames, (name, entity) => {
      const words = wordsOf(name);
      for (const word of words) {
        const known = holders.get(word);
        if (known) known.push(entity);
        else holders.set(word, [entity]);
      }
      return words.size;
    });
  return {
    alike(phrase, share) {
      sizes ??= index();
      const common = new Map<number, number>();
      const words = wordsOf(phrase);
      for (const word of words)
        for (const entity of holders.get(word) ?? []) common.set(entity, (common.get(entity) ?? 0) + 1);
      const shareOf = (entity: number) => {
        const shared = common.get(entity)!;
        return shared / (words.size + sizes![entity]! - shared);
      };
      return [...common.keys()]
        .filter((entity) => shareOf(entity) >= share)
        .sort((a, b) => shareOf(b) - shareOf(a) || a - b);
    },
  };
}

const wordsOf = (name: string): Set<string> => new Set(normalizeName(name).split(' ').filter(Boolean));

/** Clues of a question, entities or relations alike; and the entities among them. */
import type { Graph } from '../../../src/kg/graph.js';
import { type NameIndex, normalizeName } from '../../../src/kg/name-index.js';

/** A set of clues as bits, clue i being `1 << i`. */
export type ClueSet = number;

export interface Clues {
  texts: readonly string[];
  all: ClueSet;
  /** Those that coverage needs: without clues that only say of what kind the answer is. */
  required: ClueSet;
}

const kindOfAnswer: Record<string, string> = { who: 'which person', where: 'which place', when: 'what time' };
const typeClue = /^(?:which |what )?(?:person|place|time)$/;

/** The question with a leading who, where or when replaced by the answer type. */
export function rewrittenQuestion(question: string): string {
  return question.replace(/^\s*(who|where|when)\b/i, (word) => kindOfAnswer[word.trim().toLowerCase()]!);
}

/** Clues as read from a reply: each once after normalisation, kinds of answer last, at most `most`. */
export function cluesOf(phrases: readonly string[], most: number): Clues {
  const distinct = new Map<string, string>();
  for (const phrase of phrases) {
    const key = normalizeName(phrase);
    if (key !== '' && !distinct.has(key)) distinct.set(key, phrase.trim());
  }
  const isType = (key: string) => typeClue.test(key);
  const keys = [...distinct.keys()].slice(0, most);
  const ordered = [...keys.filter((key) => !isType(key)), ...keys.filter(isType)];
  const all = 2 ** ordered.length - 1;
  const types = ordered.filter(isType).length;
  return { texts: ordered.map((key) => distinct.get(key)!), all, required: 2 ** (ordered.length - types) - 1 };
}

const functionWords = new Set(
  `a an and any are as at be been by can could did do does for from had has have how in into is it its list many me of on
  or other please same share show tell than that the their them there these they this those to under was were what when
  where which who whom whose why will with would you`.split(/\s+/),
);

/**
 * Clues without a model, for replies that cannot be read: the longest word sequences that are names in the graph, then
 * the remaining words that carry meaning.
 */
export function heuristicClues(question: string, names: NameIndex): string[] {
  const words = question.split(/\s+/u).filter((word) => normalizeName(word) !== '');
  const free = words.map(() => true);
  const found: string[] = [];
  for (let length = Math.min(names.maxWords, words.length); length > 0; length--) {
    for (let begin = 0; begin + length <= words.length; begin++) {
      if (free.slice(begin, begin + length).includes(false)) continue;
      const phrase = words.slice(begin, begin + length).join(' ');
      if (length === 1 && functionWords.has(normalizeName(phrase))) continue;
      if (names.lookup(phrase).length === 0) continue;
      found.push(phrase);
      free.fill(false, begin, begin + length);
    }
  }
  const rest = words.filter((word, i) => free[i] && !functionWords.has(normalizeName(word)));
  return [...found, ...rest];
}

/** Capitalized phrases, if there are any, as names are; then the others are common words that happen to be names. */
export function properNames(phrases: readonly string[]): readonly string[] {
  const proper = phrases.filter((phrase) => /\p{Lu}/u.test(phrase));
  return proper.length > 0 ? proper : phrases;
}

export function clueCount(set: ClueSet): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Places of the set's clues, ascending. */
export function clueIndices(set: ClueSet): number[] {
  const indices: number[] = [];
  for (let i = 0; 1 << i <= set; i++) if (set & (1 << i)) indices.push(i);
  return indices;
}

/** An entity that clues name. */
export type StartNode = { entity: number; covered: ClueSet };

/**
 * Finds the entities of clues: by name or alias after normalisation, all homonyms, and where there is none by words.
 * @param options.maxStarts most entities a clue
 * @param options.nameMatch share of common words, in (0, 1], that a name needs that is not equal
 * @param naming texts of clues that may name an entity; default all
 * @returns starts in the order of the clues, then by id, each entity once; `namedBy`: clues that name an entity exactly, what a
 *   neighbour is recognised by; `cut`: homonyms beyond `maxStarts`, left out
 */
export function findStartNodes(
  { texts }: Clues,
  names: NameIndex,
  words: WordIndex,
  { maxStarts, nameMatch }: { maxStarts: number; nameMatch: number },
  naming: readonly string[] = texts,
) {
  const namedBy = new Map<number, ClueSet>();
  const covered = new Map<number, ClueSet>();
  let cut = 0;
  texts.forEach((clue, i) => {
    if (!naming.includes(clue)) return;
    const exact = names.lookup(clue);
    for (const entity of exact) namedBy.set(entity, (namedBy.get(entity) ?? 0) | (1 << i));
    const found = exact.length > 0 ? exact : words.alike(clue, nameMatch);
    cut += Math.max(0, found.length - maxStarts);
    for (const entity of found.slice(0, maxStarts)) covered.set(entity, (covered.get(entity) ?? 0) | (1 << i));
  });
  const starts: StartNode[] = [...covered].map(([entity, set]) => ({ entity, covered: set }));
  return { starts, namedBy, cut };
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

/** What a question gives to go by: clues, of which it is not known whether they are entities or relations. */
import type { NameIndex } from '../../../src/kg/name-index.js';
import { normalizeName } from '../../../src/kg/name-index.js';

/** A set of clues as bits, clue i being `1 << i`. */
export type ClueSet = number;

/** The clues of one question. */
export interface Clues {
  texts: readonly string[];
  /** All of them. */
  all: ClueSet;
  /** Those that coverage needs: without clues that only say of what kind the answer is. */
  required: ClueSet;
}

const kindOfAnswer: Record<string, string> = { who: 'which person', where: 'which place', when: 'what time' };
const typeClue = /^(?:which |what )?(?:person|place|time)$/;

/** The question with a leading who, where or when as the kind of thing it asks for. */
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

/** How many clues are in the set. */
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

/** Pronounceable words that mean nothing, by number: no table of used words is kept, so there can be any number of them. */

/** How the words of one kind of name sound. */
export interface Manner {
  onsets: readonly string[];
  /** Of words longer than the shortest, where an onset could be read as a syllable and the next onset. Default `onsets`. */
  longer?: readonly string[];
  vowels: readonly string[];
  /** Closing a word. None reads as a syllable before another ending, so that no two words are spelt alike. */
  endings: readonly string[];
  /** Syllables at least, the ending not counted. */
  syllables: number;
}

/** Of family names, places and so on: each kind sounds alike and unlike the others. */
export const manners = {
  given: {
    onsets: ['l', 'm', 'n', 'r', 'v', 't', 'k', 'd', 's', 'j', 'y', 'z', 'th', 'br', 'fl'],
    vowels: ['a', 'e', 'i', 'o', 'u', 'ae', 'ia'],
    endings: ['rvi', 'lmo', 'nthe', 'sko', 'lbra', 'ndu', 'rza', 'vven', 'ltha', 'mpri'],
    syllables: 1,
  },
  family: {
    onsets: ['b', 'd', 'g', 'h', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'w', 'br', 'dr', 'kr', 'st', 'tr', 'sk'],
    vowels: ['a', 'e', 'i', 'o', 'u', 'au', 'ei'],
    endings: [
      'rnsk',
      'lden',
      'rvick',
      'nsel',
      'mundt',
      'tov',
      'rrisk',
      'ndry',
      'vane',
      'ska',
      'lq',
      'rthe',
      'bek',
      'zzo',
    ],
    syllables: 1,
  },
  title: {
    onsets: ['v', 'l', 'm', 's', 'r', 'd', 'k', 't', 'n', 'z', 'f', 'gr', 'cr', 'sel', 'th'],
    longer: ['v', 'l', 'm', 'r', 'd', 'k', 't', 'n', 'z', 'f', 'gr', 'cr', 'th'],
    vowels: ['a', 'e', 'i', 'o', 'u'],
    endings: ['lmar', 'rquin', 'ndor', 'sith', 'xen', 'rra', 'llow', 'nthe', 'ska', 'vane', 'rune', 'mis'],
    syllables: 1,
  },
  sound: {
    onsets: ['z', 'b', 'p', 'w', 'gl', 'sw', 'tw', 'k', 'm', 'r', 'dr', 'sn', 'pl'],
    vowels: ['o', 'u', 'i', 'a', 'oo', 'ee'],
    endings: ['mbo', 'zz', 'pple', 'ck', 'nk', 'ddy', 'lly', 'ff', 'ngo', 'sha', 'xie'],
    syllables: 1,
  },
  city: {
    onsets: ['d', 'k', 'b', 'l', 'm', 'n', 'r', 's', 't', 'h', 'g', 'w', 'v', 'f'],
    vowels: ['o', 'a', 'e', 'u', 'y', 'ea'],
    endings: ['rvale', 'lmoor', 'nholt', 'rquay', 'ldrum', 'mbeck', 'rgarth', 'ngrove', 'rwold', 'sfell'],
    syllables: 1,
  },
  country: {
    onsets: ['t', 'k', 'm', 'z', 'v', 'l', 'b', 'n', 'r', 'd', 's', 'g'],
    vowels: ['a', 'e', 'o', 'u'],
    endings: ['ravia', 'ldonia', 'stria', 'nland', 'rmark', 'venia', 'ntara', 'ssia'],
    syllables: 2,
  },
} as const satisfies Record<string, Manner>;

/**
 * The word of a number: another word for every number from 0 on. Syllables are an onset and a vowel, so between two vowels stands
 * one onset and the spelling can be read in one way only; numbers beyond the shortest words get one syllable more.
 */
export function inventedWord(
  { onsets: shortest, longer = shortest, vowels, endings, syllables }: Manner,
  number: number,
): string {
  let onsets = shortest;
  let length = syllables;
  let size = (onsets.length * vowels.length) ** length * endings.length;
  let rest = number;
  while (rest >= size) {
    rest -= size;
    length++;
    onsets = longer;
    size = (onsets.length * vowels.length) ** length * endings.length;
  }
  // Neighbouring numbers differ in every part: the numbers of one length are permuted.
  rest = permuted(rest, size);
  const ending = endings[rest % endings.length]!;
  rest = Math.floor(rest / endings.length);
  let word = '';
  for (let i = 0; i < length; i++) {
    word += onsets[rest % onsets.length]! + vowels[Math.floor(rest / onsets.length) % vowels.length]!;
    rest = Math.floor(rest / (onsets.length * vowels.length));
  }
  return word[0]!.toUpperCase() + word.slice(1) + ending;
}

/**
 * A bijection of [0, size) that scatters neighbours: multiplication by a number near the golden section that has no divisor in common
 * with `size`. @param index integer in [0, size) @param shift added before the remainder
 */
export function permuted(index: number, size: number, shift = 0): number {
  const factor = factorOf(size);
  const product = index * factor + shift;
  if (product <= Number.MAX_SAFE_INTEGER) return product % size;
  return Number((BigInt(index) * BigInt(factor) + BigInt(shift)) % BigInt(size));
}

/** There are a few sizes a world. */
const factors = new Map<number, number>();

function factorOf(size: number): number {
  let factor = factors.get(size);
  if (factor === undefined) {
    factor = Math.max(1, Math.floor(size * 0.6180339887));
    while (commonDivisor(factor, size) !== 1) factor++;
    factors.set(size, factor);
  }
  return factor;
}

function commonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

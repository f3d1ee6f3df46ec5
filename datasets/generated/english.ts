/** Forms of English nouns and verbs, for questions made from names of relations. */
import { createRequire } from 'node:module';

/** A verb by itself or with what follows it, in its base form: `direct`, `play for`, `be located in`. */
export type VerbPhrase = string;

/** Forms of a verb phrase. */
export interface VerbForms {
  /** `direct` */
  base: string;
  /** `directs`; of `be` is or are. */
  present: string;
  /** `directed`; of `be` was or were. */
  past: string;
  /** `directing` */
  gerund: string;
  /** `directed`, as after `was`; undefined where the phrase is passive already, or ends with a preposition of its own. */
  participle: string | undefined;
}

const prepositions = new Set('about as at by for from in into of on onto over to under with'.split(' '));

/** True for words such as `in`. */
export const isPreposition = (word: string): boolean => prepositions.has(word);

type Conjugated = Partial<Record<'PastTense' | 'PresentTense' | 'Gerund' | 'Participle', string>>;
interface English {
  verb: {
    conjugate(verb: string, model: unknown): Conjugated;
    toInfinitive(verb: string, model: unknown, tense: string): string;
  };
  noun: { toPlural(noun: string, model: unknown): string; toSingular(noun: string, model: unknown): string };
  model: unknown;
}

let opened: English | undefined;

/** The library, loaded with the first word that needs it: asking what is trained already does not wait for it. */
function english(): English {
  if (opened) return opened;
  const library = createRequire(import.meta.url)('compromise/two') as {
    methods(): { two: { transform: Omit<English, 'model'> } };
    model(): unknown;
  };
  return (opened = { ...library.methods().two.transform, model: library.model() });
}

const conjugated = (verb: string): Conjugated => english().verb.conjugate(verb, english().model);

/** Participles that the library takes for the past tense, or lacks. */
const participles: Readonly<Record<string, string>> = { bear: 'born', hold: 'held' };

/** Forms of a phrase by its first word; a passive one, such as `be located in`, keeps its participle. */
export function verbForms(phrase: VerbPhrase): VerbForms {
  const [first, ...rest] = phrase.split(' ') as [string, ...string[]];
  const behind = (word: string) => [word, ...rest].join(' ');
  if (first === 'be') {
    return { base: phrase, present: behind('is'), past: behind('was'), gerund: behind('being'), participle: undefined };
  }
  const {
    PastTense = `${first}ed`,
    PresentTense = `${first}s`,
    Gerund = `${first}ing`,
    Participle,
  } = conjugated(first);
  const takesObject = !isPreposition(rest.at(-1) ?? '');
  const participle = participles[first] ?? Participle ?? PastTense;
  return {
    ...{ base: phrase, present: behind(PresentTense), past: behind(PastTense), gerund: behind(Gerund) },
    participle: takesObject ? behind(participle) : undefined,
  };
}

/** Past participle of a phrase's verb; of `be born in` born. */
export function participleOf(phrase: VerbPhrase): string {
  const [first, second] = phrase.split(' ') as [string, string?];
  if (first === 'be' && second !== undefined) return second;
  const { PastTense = first, Participle = PastTense } = conjugated(first);
  return participles[first] ?? Participle;
}

/** Base form of a verb in a tense, such as `direct` of `directed`; undefined where the word is no such form of a verb that `isVerb` accepts. */
export function baseOf(
  word: string,
  tense: 'PastTense' | 'PresentTense' | 'Gerund' | 'Participle',
  isVerb: (word: string) => boolean,
): string | undefined {
  const ending = { PastTense: /[a-z]$/, Participle: /(ed|en|n|t|d)$/, PresentTense: /s$/, Gerund: /ing$/ }[tense];
  if (!ending.test(word)) return undefined;
  const base = word === 'born' ? 'bear' : english().verb.toInfinitive(word, english().model, tense);
  return base !== word && isVerb(base) ? base : undefined;
}

/** Words that are plural and singular alike, or end as plurals do. */
const singulars = new Set([
  'series',
  'species',
  'news',
  'bus',
  'gas',
  'lens',
  'status',
  'genus',
  'virus',
  'campus',
  'corpus',
  'address',
  'class',
  'process',
  'access',
]);

/** The last word of a phrase in its plural: `release dates`, `people in need` by the word before a preposition. */
export const plural = (phrase: string): string =>
  inflected(phrase, (word) =>
    singulars.has(word) && word.endsWith('ies') ? word : english().noun.toPlural(word, english().model),
  );

/** The last word of a phrase in its singular. */
export const singular = (phrase: string): string =>
  inflected(phrase, (word) =>
    /(ss|us|is)$/.test(word) || singulars.has(word) ? word : english().noun.toSingular(word, english().model),
  );

function inflected(phrase: string, form: (word: string) => string): string {
  const words = phrase.split(' ');
  const behind = words.findIndex((word, i) => i > 0 && isPreposition(word));
  const at = (behind < 0 ? words.length : behind) - 1;
  return words.map((word, i) => (i === at ? form(word) : word)).join(' ');
}

/** Words of a name such as `has_tags`, `releaseYear` or `film.film.directed_by`, of which the last part counts; lower case. */
export function wordsOfName(name: string): string[] {
  const last =
    name
      .split(/[./#:]/)
      .filter(Boolean)
      .at(-1) ?? name;
  const apart = last.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').toLowerCase();
  return apart.split(/[^\p{L}\p{N}-]+|(?<!^co)-/u).filter(Boolean);
}

/** Words for the relations of a graph: from their names, and from general vocabulary; an owner corrects and adds to them in a file. */
import type { Graph } from '../../src/kg/graph.js';
import { inversePrefix } from '../../src/kg/graph.js';
import { dot, type StateEncoder, type TextVectors, textVectors } from '../../src/encoder/state-encoder.js';
import { baseOf, isPreposition, singular, wordsOfName } from './english.js';
import type { Vocabulary } from './vocabulary.js';

/** Sources of words: the relation's name, general vocabulary, a language model (kinds, or wordings), or the owner of the graph. */
export const wordSources = ['name', 'vocabulary', 'model', 'paraphrase', 'owner'] as const;
export type WordSource = (typeof wordSources)[number];

/** Words with their sources: nouns in the singular, verbs as phrases in their base form. */
export type Words = Record<string, WordSource>;

/** Words that people use for a relation; of `directed_by`, whose head is a film: */
export interface RelationWords {
  /** Director: the tail is the … of the head. */
  tailIs: Words;
  /** The head is the … of the tail; of `capital_of` it is the capital. */
  headIs: Words;
  /** Direct: the tail …s the head. */
  tailDoes: Words;
  /** The head …s the tail; of `born_in` it is `be born in`. */
  headDoes: Words;
  /** Film: kinds of things that stand at the head. */
  head: Words;
  /** Person: kinds of things that stand at the tail. */
  tail: Words;
}

/** Names for being of a kind, which are no words of English. */
const kindNames = new Set(['isa', 'is a', 'is an', 'instance of', 'subclass of', 'type of', 'a']);

const emptyWords = (): RelationWords => ({ tailIs: {}, headIs: {}, tailDoes: {}, headDoes: {}, head: {}, tail: {} });

/** Words that the name of a relation gives by its form: `directed_by`, `born_in`, `plays_sport`, `part_of`, `has_genre`, `teacher_teaches_course`. */
export function wordsOfRelation(name: string, vocabulary: Vocabulary): RelationWords {
  const words = emptyWords();
  const add = (to: keyof RelationWords, ...all: readonly (string | undefined)[]) => {
    for (const word of all) if (word) words[to][word] ??= 'name';
  };
  const whole = wordsOfName(name);
  if (kindNames.has(whole.join(' '))) {
    add('tailIs', 'kind', 'type', 'class');
    add('headIs', 'example', 'kind', 'instance');
    add('headDoes', 'be a kind of');
    return words;
  }
  const rest = whole.slice(
    whole.findIndex((word, i) => i === whole.length - 1 || !/^(has|have|had|is|was|are|be)$/.test(word)),
  );
  if (rest.length === 0) return words;
  const { isNoun, isVerb } = vocabulary;
  const isNamed =
    rest.length < whole.length ||
    (rest.length === 1 && isNoun(singular(rest[0]!)) && !vocabulary.isRatherVerb(singular(rest[0]!)));
  const past = (word: string | undefined) =>
    word && (baseOf(word, 'Participle', isVerb) ?? baseOf(word, 'PastTense', isVerb));
  const present = (word: string | undefined) => word && baseOf(word, 'PresentTense', isVerb);
  const gerund = (word: string | undefined) => word && baseOf(word, 'Gerund', isVerb);
  const [first, ...others] = rest as [string, ...string[]];
  const last = rest.at(-1)!;
  const nouns = (some: readonly string[]) => singular(some.join(' '));
  const acting = rest.findIndex((word, i) => i > 0 && i < rest.length - 1 && present(word) !== undefined);

  if (rest.length > 1 && last === 'by' && past(first)) {
    add('tailDoes', [past(first), ...rest.slice(1, -1)].join(' '));
    add('tailIs', vocabulary.personsOf(past(first)!)[0] ?? `${past(first)!.replace(/e$/, '')}er`);
  } else if (rest.length > 1 && isPreposition(last)) {
    const stem = rest.slice(0, -1);
    const verb = present(first) ?? gerund(first);
    if (past(first)) add('headDoes', `be ${[first, ...others].join(' ')}`);
    else if (verb && !(last === 'of' && vocabulary.isNoun(first) && !present(first)))
      add('headDoes', [verb, ...others].join(' '));
    else if (last !== 'of' && isVerb(first) && vocabulary.isRatherVerb(first)) add('headDoes', rest.join(' '));
    else if (last === 'of') add('headIs', nouns(stem));
    else {
      add('headIs', nouns(stem));
      add('headDoes', `be ${stem.length > 1 || vocabulary.isNoun(first) ? 'a ' : ''}${rest.join(' ')}`);
    }
  } else if (acting > 0 && vocabulary.isNoun(rest[acting - 1]!)) {
    add('head', nouns(rest.slice(0, acting)));
    add('headDoes', present(rest[acting])!);
    add('tailIs', nouns(rest.slice(acting + 1)));
    add('tail', nouns(rest.slice(acting + 1)));
  } else if (present(first) && !isNamed) {
    add(
      'headDoes',
      rest.length > 1 && isPreposition(others[0]!) ? [present(first), others[0]].join(' ') : present(first),
    );
    if (rest.length > 1) add('tailIs', nouns(others.filter((word) => !isPreposition(word))));
  } else if (rest.length > 1 && past(first)) {
    add('tailDoes', past(first));
    add('headDoes', past(first));
    add('tailIs', nouns(others), nouns(rest));
  } else if (rest.length === 1 && gerund(first)) {
    add('tailDoes', gerund(first));
    add('headDoes', gerund(first));
    add('tailIs', vocabulary.personsOf(gerund(first)!)[0] ?? first);
  } else if (rest.length > 1 && isPreposition(first)) add('tailIs', nouns(others), singular(last));
  else if (rest.indexOf('of') > 0) {
    const at = rest.indexOf('of');
    const [before, behind] = [rest.slice(0, at), rest.slice(at + 1)];
    add(
      'tailIs',
      `${nouns(before)} of ${behind.join(' ')}`,
      nouns([...behind, ...before]),
      nouns([...behind, ...before].slice(-1)),
    );
    // Dictionaries lead from birth to no verb that people use of it.
    add('headDoes', behind[0] === 'birth' ? 'be born' : vocabulary.verbsOf(behind[0] ?? '')[0]);
  } else {
    add('tailIs', nouns(rest), singular(last));
    // Of `release year`: when it was released.
    if (rest.length === 2 && isVerb(first) && vocabulary.classOf(singular(last)) !== 'other') add('headDoes', first);
  }
  return words;
}

/** Head of a noun phrase: its last word before a preposition. */
const headOfPhrase = (phrase: string): string =>
  phrase.split(' ').reduce((found, word, i, all) => (all.slice(0, i + 1).some(isPreposition) ? found : word), '');

/** Most narrower nouns that are looked at for a noun and for all relations, and most words that vocabulary adds to a list. */
const mostNarrower = 400;
const mostOfAll = 20_000;
const mostAdded = 8;

/** Least cosine of a word to one of the same relation, and margin by which it must be nearer to that than to any other's. */
const [least, margin] = [0.35, 0.03];

/** Nouns and verbs for a relation. */
export const ownWords = ({ tailIs, headIs, tailDoes, headDoes }: RelationWords): string[] =>
  Object.keys({ ...tailIs, ...headIs, ...tailDoes, ...headDoes });

/**
 * Cosine of a word to the nearest one of the same relation; undefined where that is far, or another relation has one about as near.
 * @param own index of that relation among `all`
 */
export function nearness(
  vector: Float32Array,
  all: readonly (readonly Float32Array[])[],
  own: number,
): number | undefined {
  const near = (of: readonly Float32Array[]) => Math.max(-1, ...of.map((other) => dot(vector, other)));
  const similarity = near(all[own]!);
  const isOwn = all.every((other, o) => o === own || near(other) + margin < similarity);
  return isOwn && similarity > least ? similarity : undefined;
}

/** Worth of a word's use in texts, beside its cosine: common words are what people say. */
const commonness = 0.07;

export interface RelationWordsOptions {
  vocabulary: Vocabulary;
  /** Encoder of words: finds those of general vocabulary that are nearer to another relation. Without one they are left out. */
  encoder?: StateEncoder | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Words of all relations of a graph by the name of the relation, inverses left out. Vocabulary adds synonyms, verbs and persons of the same root,
 * narrower and wider nouns; a noun that is nearer to another relation's own, or that several relations would take, is dropped.
 */
export async function relationWordsOf(
  { relationNames }: Pick<Graph, 'relationNames'>,
  { vocabulary, encoder, signal }: RelationWordsOptions,
): Promise<Map<string, RelationWords>> {
  const names = relationNames.filter((name) => !name.startsWith(inversePrefix));
  const all = new Map(names.map((name) => [name, wordsOfRelation(name, vocabulary)]));
  for (const words of all.values()) addVerbs(words, vocabulary);
  if (!encoder) return all;
  const vectors = textVectors(encoder);
  const own = [...all.values()].map(({ tailIs, headIs }) => Object.keys({ ...tailIs, ...headIs }));
  const taken = new Set(own.flat());
  const ownVectors = await Promise.all(own.map((words) => vectors.of(words, signal)));
  const offered = own.map((some) => [
    ...new Set(
      some
        .flatMap((phrase) => {
          const noun = headOfPhrase(phrase);
          const narrower = vocabulary.narrower(noun).slice(0, Math.min(mostNarrower, Math.ceil(mostOfAll / all.size)));
          return [...vocabulary.synonyms(noun, 'noun'), ...narrower].map(singular);
        })
        .filter((word) => !taken.has(word)),
    ),
  ]);
  const wider = own.map((some) =>
    some.flatMap((phrase) => vocabulary.wider(headOfPhrase(phrase)).filter((word) => !taken.has(word))),
  );
  for (const [i, words] of [...all.values()].entries()) {
    const found = await vectors.of(offered[i]!, signal);
    const kept = offered[i]!.flatMap((word, w) => {
      const similarity = nearness(found[w]!, ownVectors, i);
      return similarity === undefined
        ? []
        : [{ word, rank: similarity + commonness * Math.log1p(vocabulary.usesOf(word)) }];
    });
    const best = kept.sort((a, b) => b.rank - a.rank).slice(0, mostAdded);
    await dropUnlike(words, vectors, signal);
    const to = Object.keys(words.tailIs).length > 0 ? words.tailIs : words.headIs;
    for (const { word } of best) to[word] ??= 'vocabulary';
    // A wider word names this relation alone unless it is wider than another one's, too.
    for (const word of wider[i]!)
      if (wider.every((other, o) => o === i || !other.includes(word))) to[word] ??= 'vocabulary';
  }
  return all;
}

/** Verbs of the same root as persons (director: direct), and synonyms of verbs. */
function addVerbs({ tailIs, tailDoes, headDoes }: RelationWords, vocabulary: Vocabulary): void {
  for (const noun of Object.keys(tailIs)) {
    const head = headOfPhrase(noun);
    if (vocabulary.classOf(head) !== 'person' || Object.keys(tailDoes).length > 1) continue;
    for (const verb of vocabulary.verbsOf(head).slice(0, 1)) tailDoes[verb] ??= 'vocabulary';
  }
  for (const words of [tailDoes, headDoes]) {
    for (const phrase of Object.keys(words)) {
      if (phrase.includes(' ') || words[phrase] !== 'name') continue;
      for (const verb of vocabulary.synonyms(phrase, 'verb').slice(0, 3)) words[verb] ??= 'vocabulary';
    }
  }
}

/** Drops verbs of general vocabulary that mean something else than the relation's name, such as relinquish for `release_year`. */
async function dropUnlike(
  { tailIs, headIs, tailDoes, headDoes }: RelationWords,
  vectors: TextVectors,
  signal?: AbortSignal,
): Promise<void> {
  const all = { ...tailIs, ...headIs, ...tailDoes, ...headDoes };
  const named = await vectors.of(
    Object.keys(all).filter((word) => all[word] === 'name'),
    signal,
  );
  for (const verbs of [tailDoes, headDoes]) {
    const added = Object.keys(verbs).filter((one) => verbs[one] === 'vocabulary');
    for (const [i, vector] of (await vectors.of(added, signal)).entries()) {
      if (named.every((own) => dot(own, vector) < 0.5)) delete verbs[added[i]!];
    }
  }
}

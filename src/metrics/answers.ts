/**
 * Which right answers a prediction names. One matcher for every agent, so that numbers can be compared: ids where the
 * agent grounded its answer, normalised names where it only wrote one.
 */
import { normalizeName } from '../kg/name-index.js';

/** A right answer, or a topic: a name with its entity id, negative where the graph lacks it. */
export interface NamedEntity {
  name: string;
  entity: number;
  aliases?: readonly string[];
}

/** What an agent said. */
export interface Prediction {
  /** Ids, best first. */
  entities: readonly number[];
  /** Names that no entity stands behind, best first; they come after the entities. */
  literals: readonly string[];
  /** The reply in words. */
  text?: string;
}

/** What it is held against. */
export interface MatchContext {
  golds: readonly NamedEntity[];
  /** Entities the question is about: they match only where they are gold. */
  topics: readonly NamedEntity[];
  /** Entities of a name; grounds literals that an agent left as text, so that one answer given both ways counts once. */
  lookup?: (name: string) => readonly number[];
}

/** Which golds were given, as indices into `golds`, ascending. */
export interface Matches {
  /** Of each distinct predicted item, in order, the golds it is; empty: wrong. */
  items: number[][];
  /** Golds that some item is. */
  strict: number[];
  /** `strict`, and golds whose name stands in the reply. */
  lenient: number[];
}

/** A reply of fewer characters names nothing. */
const shortestReply = 2;

/** Matches a prediction against the golds. An item may be several golds where they share a name (two films, one title). */
export function matchAnswers(prediction: Prediction, { golds, topics, lookup }: MatchContext): Matches {
  const others = topics.filter((topic) => !golds.some((gold) => isSame(gold, topic)));
  const items = distinctItems(prediction, others, lookup).map((item) =>
    indicesOf(golds, (gold) => (typeof item === 'number' ? gold.entity === item : namesOf(gold).includes(item))),
  );
  const strict = new Set(items.flat());
  const reply = tokensOf((prediction.text ?? '').trim().length < shortestReply ? '' : prediction.text!);
  const topicSpans = others.flatMap((topic) => namesOf(topic).flatMap((name) => findTokens(reply, tokensOf(name))));
  const isInTopic = ([begin, end]: readonly [number, number]) =>
    topicSpans.some(([topicBegin, topicEnd]) => topicBegin <= begin && end <= topicEnd);
  const stands = (name: string) => findTokens(reply, tokensOf(name)).some((span) => !isInTopic(span));
  return {
    items,
    strict: [...strict].sort((a, b) => a - b),
    lenient: indicesOf(golds, (gold, i) => strict.has(i) || namesOf(gold).some(stands)),
  };
}

/** Distinct answers: ids, and normalised names that are none of these ids. A name that is a topic's is no answer. */
function distinctItems(
  { entities, literals }: Prediction,
  topics: readonly NamedEntity[],
  lookup: MatchContext['lookup'] = () => [],
): (number | string)[] {
  const given = new Set<number>(entities);
  const names = new Set<string>();
  for (const literal of literals) {
    const name = normalizeName(literal);
    if (name !== '' && !lookup(literal).some((entity) => given.has(entity))) names.add(name);
  }
  // The topic's name stays an item, a wrong one that no gold of the same name redeems.
  const topicNames = new Set(topics.flatMap(namesOf));
  return [...given, ...[...names].map((name) => (topicNames.has(name) ? noAnswer : name))];
}

/** An item that no gold is: no normalised name holds it. */
const noAnswer = '\u0000';

function isSame(gold: NamedEntity, topic: NamedEntity): boolean {
  if (gold.entity >= 0 && topic.entity >= 0) return gold.entity === topic.entity;
  return normalizeName(gold.name) === normalizeName(topic.name);
}

/** Normalised names, without empty ones. */
function namesOf({ name, aliases = [] }: NamedEntity): string[] {
  return [name, ...aliases].map(normalizeName).filter((text) => text !== '');
}

function indicesOf<T>(values: readonly T[], test: (value: T, index: number) => boolean): number[] {
  return values.flatMap((value, i) => (test(value, i) ? [i] : []));
}

/** Scripts that are written without spaces: every character is a word of its own. */
const words =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu;

/** Words of a normalised text. */
export function tokensOf(text: string): string[] {
  return normalizeName(text).match(words) ?? [];
}

/** Every place [begin, end) where `wanted` stands in `tokens` as a whole; none for an empty `wanted`. O(tokens · wanted). */
export function findTokens(tokens: readonly string[], wanted: readonly string[]): [begin: number, end: number][] {
  if (wanted.length === 0) return [];
  const places: [number, number][] = [];
  for (let begin = 0; begin + wanted.length <= tokens.length; begin++) {
    if (wanted.every((word, i) => tokens[begin + i] === word)) places.push([begin, begin + wanted.length]);
  }
  return places;
}

/** Of a question that asks for entities; each in [0, 1], a higher one is better. */
export interface AnswerMetrics {
  /** The first item is gold. */
  'hit@1': number;
  /** Some item is. */
  'hit-any': number;
  /** Share of the distinct items that are gold; 0 where nothing was predicted. */
  precision: number;
  /** Share of the golds that were given. */
  recall: number;
  f1: number;
  /** The items are the golds, no more and no fewer. */
  exact: number;
  /** Some gold was given, or stands in the reply. */
  partial: number;
  /** Every gold was given, or stands in the reply. */
  complete: number;
}

/**
 * Figures of a question with golds; one without is left out by the caller and counted.
 * @param numGolds at least 1
 * @throws RangeError without golds: a score of 1 for saying nothing, or 0 for it, would both be made up
 */
export function answerMetrics({ items, strict, lenient }: Matches, numGolds: number): AnswerMetrics {
  if (numGolds < 1) throw new RangeError(`expected at least one gold answer, got ${numGolds}`);
  const right = items.filter((golds) => golds.length > 0).length;
  const precision = items.length === 0 ? 0 : right / items.length;
  const recall = strict.length / numGolds;
  return {
    'hit@1': Number((items[0]?.length ?? 0) > 0),
    'hit-any': Number(right > 0),
    precision,
    recall,
    f1: right === 0 ? 0 : (2 * precision * recall) / (precision + recall),
    exact: Number(precision === 1 && recall === 1),
    ...lenientMetrics(lenient, numGolds),
  };
}

/** Partial and complete match of a set of matched golds: FiSKE's two figures. */
export function lenientMetrics(
  lenient: readonly number[],
  numGolds: number,
): Pick<AnswerMetrics, 'partial' | 'complete'> {
  return { partial: Number(lenient.length > 0), complete: Number(lenient.length === numGolds) };
}

/** Partial and complete match of what two agents found together: the `X + IO` rows of FiSKE's table. */
export function unionMetrics(
  a: readonly number[],
  b: readonly number[],
  numGolds: number,
): Pick<AnswerMetrics, 'partial' | 'complete'> {
  return lenientMetrics([...new Set([...a, ...b])], numGolds);
}

/** Whether a truth question was answered right; saying nothing is wrong. */
export function truthAccuracy(said: boolean | undefined, truth: boolean): number {
  return Number(said === truth);
}

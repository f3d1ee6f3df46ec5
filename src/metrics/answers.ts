/** Matching of predicted and gold answers, the same for all agents: by id for grounded answers, else by normalised name. */
import { normalizeName } from '../kg/name-index.js';

/** Gold answer or topic: a name with its entity id, negative if the graph lacks it. */
export type NamedEntity = { name: string; entity: number; aliases?: readonly string[] };

/** Prediction of an agent. */
export interface Prediction {
  /** Ids, best first. */
  entities: readonly number[];
  /** Names without an entity, best first; ranked after the entities. */
  literals: readonly string[];
  text?: string;
}

/** Reference data for matching. */
export interface MatchContext {
  golds: readonly NamedEntity[];
  /** Topic entities: these match only if they are gold. */
  topics: readonly NamedEntity[];
  /** Entities of a name; grounds literal answers, so that an answer given both ways counts once. */
  lookup?: (name: string) => readonly number[];
}

/** Matched golds, as ascending indices into `golds`. */
export interface Matches {
  /** Golds matched by each distinct predicted item, in order; empty: wrong. */
  items: number[][];
  /** Golds matched by some item. */
  strict: number[];
  /** `strict` plus golds whose name occurs in the reply. */
  lenient: number[];
}

/** Shorter replies match nothing. */
const shortestReply = 2;

/** Matches a prediction against the golds. An item may match several golds of the same name (two films, one title). */
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

/** Distinct answers: ids, and normalised names that ground to none of these ids. Topic names do not count as answers. */
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
  // A topic's name stays as a wrong item, even if a gold has the same name.
  const topicNames = new Set(topics.flatMap(namesOf));
  return [...given, ...[...names].map((name) => (topicNames.has(name) ? noAnswer : name))];
}

/** Item that matches no gold: no normalised name contains it. */
const noAnswer = '\u0000';

function isSame(gold: NamedEntity, topic: NamedEntity): boolean {
  if (gold.entity >= 0 && topic.entity >= 0) return gold.entity === topic.entity;
  return normalizeName(gold.name) === normalizeName(topic.name);
}

function namesOf({ name, aliases = [] }: NamedEntity): string[] {
  return [name, ...aliases].map(normalizeName).filter((text) => text !== '');
}

function indicesOf<T>(values: readonly T[], test: (value: T, index: number) => boolean): number[] {
  return values.flatMap((value, i) => (test(value, i) ? [i] : []));
}

/** Scripts without spaces: every character is a word. */
const words =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu;

/** Words of a normalised text. */
export const tokensOf = (text: string): string[] => normalizeName(text).match(words) ?? [];

/** All ranges [begin, end) where `wanted` occurs in `tokens` as a whole; none for an empty `wanted`. O(tokens · wanted). */
export function findTokens(tokens: readonly string[], wanted: readonly string[]): [begin: number, end: number][] {
  if (wanted.length === 0) return [];
  const places: [number, number][] = [];
  for (let begin = 0; begin + wanted.length <= tokens.length; begin++) {
    if (wanted.every((word, i) => tokens[begin + i] === word)) places.push([begin, begin + wanted.length]);
  }
  return places;
}

/** Metrics of an entity question; each in [0, 1], higher is better. */
export interface AnswerMetrics {
  /** The first item is gold. */
  'hit@1': number;
  /** Some item is gold. */
  'hit-any': number;
  /** Share of distinct items that are gold; 0 without predictions. */
  precision: number;
  /** Share of golds that were predicted. */
  recall: number;
  f1: number;
  /** The items are exactly the golds. */
  exact: number;
  /** Some gold was predicted or occurs in the reply. */
  partial: number;
  /** Every gold was predicted or occurs in the reply. */
  complete: number;
}

/** Metrics of a question with golds. @throws RangeError for 0 golds: callers exclude and count such questions */
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

/** Partial and complete match of a set of matched golds (the two metrics of FiSKE). */
export function lenientMetrics(lenient: readonly number[], numGolds: number) {
  return { partial: Number(lenient.length > 0), complete: Number(lenient.length === numGolds) };
}

/** Partial and complete match of the union of two agents: rows `X + IO` of FiSKE's table. */
export function unionMetrics(a: readonly number[], b: readonly number[], numGolds: number) {
  return lenientMetrics([...new Set([...a, ...b])], numGolds);
}

/** Accuracy of a truth question; no answer is wrong. */
export const truthAccuracy = (said: boolean | undefined, truth: boolean): number => Number(said === truth);

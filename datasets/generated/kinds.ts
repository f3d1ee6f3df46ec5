/** Kinds of things at the ends of relations: what a language model calls some of them, and what other relations' ends share. */
import { type Graph, inversePrefix } from '../../src/kg/graph.js';
import { dot, type StateEncoder, textVectors } from '../../src/encoder/state-encoder.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import type { Progress } from '../../src/run/progress.js';
import { Rng } from '../../src/run/seeds.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { wordsOfName } from './english.js';
import type { RelationWords } from './relation-words.js';
import type { Vocabulary } from './vocabulary.js';

/** Things of one end that the model is asked about, and the facts of each that it reads. */
const asked = 8;
const factsShown = 4;

/** Mean share of the model's choice that a word must have. */
const leastShare = 1 / 6;

/** Common nouns that are looked at, and those nearest to a kind of thing, which the model chooses from. */
const mostNouns = 3000;
const choices = 40;

/** Kinds that the model may always choose. */
const usualKinds = ['person', 'place', 'company', 'group', 'event'];

/** Things of other domains, so that no word of an answer is suggested. */
const solved = `Each line describes one thing and ends with the kind of thing it is.
Bella (coat: long; owner: Tom Reed; born: 2019) is a dog
Porto (river: Douro; country: Portugal; harbour: Leixoes) is a city
Ibuprofen (relieves: fever; form: tablet; maker: Boots) is a drug
Ada Lovelace (father: Lord Byron; field: mathematics) is a person
`;

/** Entities at an end of a relation, ascending: its heads, or its tails. */
export function endOf(graph: Graph, relation: string, end: 'head' | 'tail'): number[] {
  const [own, inverse] = [graph.relationId(relation), graph.relationId(`${inversePrefix}${relation}`)];
  const wanted = end === 'head' ? own : inverse;
  const found: number[] = [];
  for (let entity = 0; entity < graph.numEntities; entity++) {
    for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
      if (graph.relations[edge] !== wanted) continue;
      found.push(entity);
      break;
    }
  }
  return found;
}

/**
 * Adds words for kinds of things to the ends of relations: at a head what a language model says of a sample, at either what other relations
 * call the things that they share.
 * @param model scores plain text, with an encoder for the nouns that it chooses from; without either, only what relations share is added
 */
export async function addKinds(
  graph: Graph,
  all: ReadonlyMap<string, RelationWords>,
  {
    model,
    encoder,
    vocabulary,
    progress,
    signal,
  }: {
    encoder?: StateEncoder | undefined;
    model?: LanguageModel | undefined;
    vocabulary: Vocabulary;
    progress?: Progress;
    signal?: AbortSignal | undefined;
  },
): Promise<void> {
  const ends = new Map(
    [...all.keys()].flatMap((name) =>
      (['head', 'tail'] as const).map((end) => [`${end} ${name}`, endOf(graph, name, end)] as const),
    ),
  );
  const share = (one: readonly number[], other: ReadonlySet<number>) => {
    const some = one.filter((_, i) => i % Math.ceil(one.length / 300) === 0);
    return some.filter((entity) => other.has(entity)).length / some.length;
  };
  // What stands at the tail of `directed_by` is a director; where such things are heads of another relation, it is one there, too.
  const tails = [...all.keys()].map((name) => ({ name, entities: new Set(ends.get(`tail ${name}`)) }));
  for (const [name, words] of all) {
    for (const { name: other, entities } of tails) {
      const [noun] = Object.keys(all.get(other)!.tailIs);
      if (noun && other !== name && share(ends.get(`head ${name}`)!, entities) >= 0.3) words.head[noun] ??= 'name';
    }
    if (Object.keys(words.tailIs).some((noun) => vocabulary.classOf(noun) === 'person'))
      words.tail.person ??= 'vocabulary';
  }
  if (!model?.scoreTexts || !encoder) return;
  const vectors = textVectors(encoder);
  const rng = Rng.named(0, 'questions/kinds');
  const nouns = vocabulary.commonNouns.slice(0, mostNouns);
  const ofNouns = await vectors.of(nouns, signal);
  const judged: { entities: ReadonlySet<number>; nouns: string[] }[] = [];
  let done = 0;
  for (const [name, words] of all) {
    const entities = ends.get(`head ${name}`)!;
    const same = judged.find((one) => share(entities, one.entities) >= 0.8);
    if (same) {
      for (const noun of same.nouns) words.head[noun] ??= 'model';
      continue;
    }
    const some = Array.from(
      { length: Math.min(asked, entities.length) },
      () => entities[rng.integer(entities.length)]!,
    );
    const described = some.map((entity) => factsOf(graph, entity, rng));
    // The nouns nearest to all that is known of such things are those that the model chooses from.
    const [thing] = await vectors.of(
      [`thing with ${[...new Set(described.flatMap((facts) => [...facts.keys()]))].join(', ')}`],
      signal,
    );
    const similarity = new Map(nouns.map((noun, i) => [noun, dot(ofNouns[i]!, thing!)]));
    const nearest = [...nouns].sort((x, y) => similarity.get(y)! - similarity.get(x)!).slice(0, choices);
    const near = [...new Set([...nearest, ...usualKinds])];
    const shares = new Float64Array(near.length);
    for (const [i, entity] of some.entries()) {
      throwIfStopped(signal);
      const body = `${graph.entityName(entity)!.slice(0, 80)} (${[...described[i]!].map(([key, value]) => `${key}: ${value}`).join('; ')}) is a`;
      const decision = {
        kind: 'extract',
        phase: 'kind',
        questionId: name,
        question: body,
        task: '',
        examples: [],
        evidence: [],
        maxItems: 1,
      } as const;
      const { logProbs } = await model.scoreTexts(
        { head: solved, body, decision, meant: near.map(() => -1), signal },
        near.map((noun) => ` ${noun}`),
      );
      softmax(logProbs).forEach((share, k) => (shares[k]! += share / some.length));
    }
    const found = near.flatMap((noun, k) => (shares[k]! >= leastShare ? [noun] : []));
    for (const noun of found) words.head[noun] ??= 'model';
    judged.push({ entities: new Set(entities), nouns: found });
    progress?.update(++done);
  }
}

/** Some facts of an entity as texts by what they are called; of each relation one. */
function factsOf(graph: Graph, entity: number, rng: Rng): Map<string, string> {
  const facts = new Map<string, string>();
  const [begin, end] = [graph.offsets[entity]!, graph.offsets[entity + 1]!];
  for (let tries = 0; tries < 4 * factsShown && facts.size < factsShown && end > begin; tries++) {
    const edge = begin + rng.integer(end - begin);
    const relation = graph.relationNames[graph.relations[edge]!]!;
    const said = wordsOfName(relation.replace(inversePrefix, '')).join(' ').replace(/^has /, '');
    facts.set(
      relation.startsWith(inversePrefix) ? `${said} of` : said,
      graph.entityName(graph.tails[edge]!)!.slice(0, 60),
    );
  }
  return facts;
}

/** Shares that sum to 1. */
function softmax(logProbs: Float64Array): Float64Array {
  const highest = logProbs.reduce((most, value) => Math.max(most, value), -Infinity);
  const powers = logProbs.map((value) => Math.exp(value - highest));
  const sum = powers.reduce((total, value) => total + value, 0);
  return powers.map((value) => value / sum);
}

/** Kinds of things at the ends of relations: what a language model calls some of them, and what other relations' ends share. */
import { type Graph, inversePrefix } from '../../src/kg/graph.js';
import { softmax } from '../../src/nn/categorical.js';
import { headsByRelation } from '../../src/kg/adjacency.js';
import { dot, type StateEncoder, textVectors } from '../../src/encoder/state-encoder.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import type { Progress } from '../../src/run/progress.js';
import { pick, Rng } from '../../src/run/seeds.js';
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
  const byRelation = headsByRelation(graph, graph.numRelations);
  const headsOf = (relation: string) => byRelation[graph.relationId(relation)] ?? [];
  const ends = [...all].map(([name, words]) => {
    const heads = headsOf(name);
    const some = heads.filter((_, i) => i % Math.ceil(heads.length / 300) === 0);
    return { name, words, heads, some, tails: new Set(headsOf(`${inversePrefix}${name}`)) };
  });
  const share = (some: readonly number[], of: ReadonlySet<number>) =>
    some.filter((entity) => of.has(entity)).length / some.length;
  for (const { words, some } of ends) {
    // What stands at the tail of `directed_by` is a director; where such things are heads of another relation, it is one there, too.
    for (const other of ends) {
      const [noun] = Object.keys(other.words.tailIs);
      if (noun && other.words !== words && share(some, other.tails) >= 0.3) words.head[noun] ??= 'name';
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
  for (const { name, words, heads, some: spread } of ends) {
    const same = judged.find((one) => share(spread, one.entities) >= 0.8);
    if (same) {
      for (const noun of same.nouns) words.head[noun] ??= 'model';
      continue;
    }
    const some = Array.from({ length: Math.min(asked, heads.length) }, () => pick(rng, heads));
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
    judged.push({ entities: new Set(heads), nouns: found });
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

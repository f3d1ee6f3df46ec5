/** Kinds of things at the ends of relations: what a language model calls some of them, and what other relations' ends share. */
import { type Graph, inversePrefix } from '../../src/kg/graph.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import type { Progress } from '../../src/run/progress.js';
import { Rng } from '../../src/run/seeds.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { singular, wordsOfName } from './english.js';
import type { RelationWords } from './relation-words.js';
import type { Vocabulary } from './vocabulary.js';

/** Things of one end that the model is asked about, and the facts of each that it reads. */
const asked = 12;
const factsShown = 4;

/** Share of the asked things that a word must name. */
const leastShare = 1 / 6;

const system = 'You say in one word what kind of thing something is.';

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
 * @param model completes plain text; undefined: only what relations share
 */
export async function addKinds(
  graph: Graph,
  all: ReadonlyMap<string, RelationWords>,
  {
    model,
    vocabulary,
    progress,
    signal,
  }: {
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
  if (!model) return;
  const known = new Map<number, Promise<string | undefined>>();
  const rng = Rng.named(0, 'questions/kinds');
  let done = 0;
  for (const [name, words] of all) {
    const counts = new Map<string, number>();
    const entities = ends.get(`head ${name}`)!;
    for (let i = 0; i < Math.min(asked, entities.length); i++) {
      throwIfStopped(signal);
      const entity = entities[rng.integer(entities.length)]!;
      if (!known.has(entity)) known.set(entity, kindOf(graph, entity, model, vocabulary, rng, signal));
      const word = await known.get(entity);
      if (word) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    for (const [word, count] of counts)
      if (count >= leastShare * Math.min(asked, entities.length)) words.head[word] ??= 'model';
    progress?.update(++done);
  }
}

/** The noun that the model ends a description of an entity with. */
async function kindOf(
  graph: Graph,
  entity: number,
  model: LanguageModel,
  vocabulary: Vocabulary,
  rng: Rng,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const facts = new Map<string, string>();
  const [begin, end] = [graph.offsets[entity]!, graph.offsets[entity + 1]!];
  for (let tries = 0; tries < 4 * factsShown && facts.size < factsShown && end > begin; tries++) {
    const edge = begin + rng.integer(end - begin);
    const relation = graph.relationNames[graph.relations[edge]!]!;
    const said = wordsOfName(relation.replace(inversePrefix, '')).join(' ');
    const key = relation.startsWith(inversePrefix) ? `${said} of` : said;
    facts.set(key, `${key}: ${graph.entityName(graph.tails[edge]!)!.slice(0, 60)}`);
  }
  const body = `${graph.entityName(entity)!.slice(0, 80)} (${[...facts.values()].join('; ')}) is a`;
  const decision = {
    kind: 'extract',
    phase: 'kind',
    questionId: 'kind',
    question: body,
    task: system,
    examples: [],
    evidence: [],
    maxItems: 1,
  } as const;
  const { text } = await model.complete({
    system,
    head: solved,
    body,
    maxTokens: 8,
    temperature: 0,
    seed: 0,
    attempt: 0,
    decision,
    signal,
  });
  const said = text
    .split('\n')[0]!
    .toLowerCase()
    .replace(/^.* is an? /, '');
  const words = said
    .split(/[^a-z]+/)
    .filter((word) => word.length > 2 && word !== 'the')
    .slice(0, 3);
  return words
    .reverse()
    .map(singular)
    .find((word) => vocabulary.isNoun(word));
}

/** Questions about a graph from its triples and words for its relations: chains that lead somewhere, worded. */
import type { Graph } from '../../src/kg/graph.js';
import { headsByRelation } from '../../src/kg/adjacency.js';
import { firstEdge, initialFrontier, relationRange, stepFrontier } from '../../src/kg/frontier.js';
import { pick, pickWeighted, Rng } from '../../src/run/seeds.js';
import { markedTopics, type StoredQuestion } from '../questions/stored-question.js';
import { Phraser } from './phrases.js';
import type { RelationWords } from './relation-words.js';
import type { Vocabulary } from './vocabulary.js';

/** Options of `makeQuestions`. */
export interface MakeOptions {
  /** Questions to make; fewer where the graph has not as many chains. */
  count: number;
  seed: number;
  /** Longest chain; questions of each length come in equal shares. */
  hops: number;
  /** True if chains may return to their topic. */
  topicsReturn: boolean;
}

/** Most entities that a chain may lead to at its end, and on its way. */
const most = { answers: 60, between: 400 };

/** Questions of one chain from which on further ones are thinned. */
const manyOfChain = 20;

const tries = { chain: 60, question: 50 };

/**
 * Makes questions with their answers and chains. Relations are drawn by the root of how many entities have them, so that rare ones are asked
 * for as well; frequent chains are thinned. Equal settings give equal questions.
 */
export function makeQuestions(
  graph: Graph,
  words: ReadonlyMap<string, RelationWords>,
  vocabulary: Vocabulary,
  { count, seed, hops, topicsReturn }: MakeOptions,
): StoredQuestion[] {
  const phraser = new Phraser(words, vocabulary);
  const rng = Rng.named(seed, 'questions/make');
  const starts = startsOf(graph, (relation) => phraser.knows([relation]));
  const weights = new Map(starts.map(({ relation, entities }) => [relation, Math.sqrt(entities.length)]));
  const questions: StoredQuestion[] = [];
  const asked = new Map<string, number>();
  for (let i = 0; i < count * tries.question && questions.length < count && starts.length > 0; i++) {
    const found = drawChain(graph, starts, weights, { hops: 1 + rng.integer(hops), topicsReturn }, rng);
    if (!found) continue;
    const chain = found.relations.map((relation) => graph.relationNames[relation]!);
    const key = chain.join(' ');
    const before = asked.get(key) ?? 0;
    if (before > manyOfChain && rng.uniform() > manyOfChain / before) continue;
    asked.set(key, before + 1);
    const name = graph.entityName(found.topic)!;
    const marked = markedTopics(phraser.question(chain, `[${name}]`, rng));
    questions.push({
      id: `made-${questions.length}`,
      question: marked.question,
      topics: marked.topics,
      answers: Array.from(found.answers, (entity) => ({ name: graph.entityName(entity)! })),
      chains: [chain],
      type: `${chain.length}-hop`,
    });
  }
  return questions;
}

interface Start {
  relation: number;
  /** Entities with an edge of it whose names can stand in brackets. */
  entities: readonly number[];
}

/** By relation, inverses included: where chains may begin. */
function startsOf(graph: Graph, isWorded: (relation: string) => boolean): Start[] {
  const isMarkable = (entity: number) => {
    const name = graph.entityName(entity)!;
    return name.length <= 120 && !/[[\]|\n]/.test(name);
  };
  const heads = headsByRelation(graph, graph.numRelations, (relation) => isWorded(graph.relationNames[relation]!));
  return heads
    .map((all, relation) => ({ relation, entities: all.filter(isMarkable) }))
    .filter(({ entities }) => entities.length > 0);
}

/** A chain of some length with its topic and answers; undefined where none was found in a few tries. */
function drawChain(
  graph: Graph,
  starts: readonly Start[],
  weights: ReadonlyMap<number, number>,
  { hops, topicsReturn }: { hops: number; topicsReturn: boolean },
  rng: Rng,
): { topic: number; relations: number[]; answers: Int32Array } | undefined {
  for (let attempt = 0; attempt < tries.chain; attempt++) {
    const first = pickWeighted(rng, starts, ({ relation }) => weights.get(relation)!);
    const topic = pick(rng, first.entities);
    let front = initialFrontier([topic]);
    const relations: number[] = [];
    while (relations.length < hops) {
      let options =
        relations.length === 0
          ? [first.relation]
          : relationsOf(graph, front.entities).filter((relation) => weights.has(relation));
      const limit = relations.length === hops - 1 ? most.answers : most.between;
      let next: number | undefined;
      while (options.length > 0 && next === undefined) {
        const option = pickWeighted(rng, options, (relation) => weights.get(relation)!);
        options = options.filter((other) => other !== option);
        // One of them alone leads too far: found without collecting where to, which for a hub takes long. The topic may drop out.
        const isFar = (entity: number) => {
          const [begin, end] = relationRange(graph, entity, option);
          return end - begin > limit + 1;
        };
        if (front.entities.some(isFar)) continue;
        const reached = stepFrontier(graph, front, option, topicsReturn ? [] : [topic]);
        if (reached.entities.length === 0 || reached.entities.length > limit) continue;
        [next, front] = [option, reached];
      }
      if (next === undefined) break;
      relations.push(next);
    }
    if (relations.length === hops) return { topic, relations, answers: front.entities };
  }
  return undefined;
}

/** Relations that leave the first entities of a set. */
function relationsOf(graph: Graph, entities: Int32Array): number[] {
  const found = new Set<number>();
  for (const entity of entities.subarray(0, 30)) {
    let edge = graph.offsets[entity]!;
    while (edge < graph.offsets[entity + 1]!) {
      const relation = graph.relations[edge]!;
      found.add(relation);
      edge = firstEdge(graph, entity, relation + 1);
    }
  }
  return [...found];
}

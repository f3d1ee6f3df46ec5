/** Generated questions over one to three relations of the demo world, and true or false statements. */
import { entitiesWith, executeChain } from '../../src/kg/frontier.js';
import type { Graph } from '../../src/kg/graph.js';
import { Rng, pick } from '../../src/run/seeds.js';
import { markedTopics, type StoredQuestion } from '../questions/stored-question.js';
import { type SplitName, splitNames } from '../walk-sample.js';
import type { Direction, RelationName } from './schema.js';
import { fill, phrasesOf, relationWords } from './words.js';
import type { DemoWorld } from './world.js';

/** Subsets with their share of questions and number of chain types; rare chains would occur once. */
const subsets = [
  { name: '1-hop', hops: [1], share: 0.25, chains: 40 },
  { name: '2-hop', hops: [2], share: 0.25, chains: 48 },
  { name: '3-hop', hops: [3], share: 0.25, chains: 36 },
  { name: 'truth', hops: [1, 2], share: 0.25, chains: 40 },
] as const;

export type DemoSubset = (typeof subsets)[number]['name'];

/** Question with its split and, for files of the custom format, its topics in brackets. */
export interface DemoQuestion extends StoredQuestion {
  subset: DemoSubset;
  split: SplitName;
  marked: string;
}

/** Questions with more answers are left out. */
const maxAnswers = 20;

/**
 * About `count` questions. Texts are unique, and so are (topic, chain) pairs: no split repeats another's question in other words.
 * Answers: all entities reached by the chain without returning to the topic.
 */
export function demoQuestions(
  world: DemoWorld,
  { seed, questions: count }: { seed: number; questions: number },
): DemoQuestion[] {
  return subsets.flatMap((subset) => {
    const rng = Rng.named(seed, `demo/questions/${subset.name}`);
    const made = questionsOf(world, subset, Math.round(count * subset.share), rng);
    const trainEnd = Math.round(0.7 * made.length);
    const validEnd = Math.round(0.85 * made.length);
    const [train, valid, test] = splitNames;
    return made.map((question, i) => ({ ...question, split: (i < trainEnd ? train : i < validEnd ? valid : test)! }));
  });
}

function questionsOf(
  { graph }: DemoWorld,
  { name: subset, hops, chains: kinds }: (typeof subsets)[number],
  count: number,
  rng: Rng,
): Omit<DemoQuestion, 'split'>[] {
  const chains = usualChains(graph, hops, kinds, rng);
  const made: Omit<DemoQuestion, 'split'>[] = [];
  if (chains.length === 0) return made;
  const texts = new Set<string>();
  const asked = new Set<string>();
  for (let attempt = 0; made.length < count && attempt < 60 * count; attempt++) {
    const chain = pick(rng, chains);
    const topic = pick(rng, subjectsOf(graph, chain[0]!));
    const key = `${topic} ${chain.join(' ')}`;
    if (asked.has(key)) continue;
    const { entities } = executeChain(graph, [topic], chain);
    if (entities.length === 0 || entities.length > maxAnswers) continue;
    const directions = chain.map((relation) => graph.relationNames[relation] as Direction);
    const truth = subset === 'truth' ? made.length % 2 === 0 : undefined;
    const claimed = truth === undefined ? undefined : claimedEnd(graph, topic, chain, entities, truth, rng);
    if (claimed === -1) continue;
    const name = graph.entityNames[topic]!;
    const marked =
      claimed === undefined
        ? query(directions, `[${name}]`, rng)
        : `true or false: ${statement(directions, `[${name}]`, graph.entityNames[claimed]!, rng)}`;
    if (texts.has(marked)) continue;
    texts.add(marked);
    asked.add(key);
    made.push({
      id: `${subset}/${made.length}`,
      subset,
      marked,
      ...markedTopics(marked),
      answers: claimed === undefined ? Array.from(entities, (entity) => ({ name: graph.entityNames[entity]! })) : [],
      chains: [directions],
      type: directions.join(' → '),
      ...(subset !== 'truth' && { hops: chain.length }),
      ...(claimed !== undefined && { form: 'truth' as const, truth: truth!, claimed: graph.entityNames[claimed]! }),
    });
  }
  return made;
}

/** Most frequent chains of random walks of these lengths. */
function usualChains(graph: Graph, hops: readonly number[], kinds: number, rng: Rng): number[][] {
  const counts = new Map<string, number>();
  const known: number[][] = [];
  for (let i = 0; i < 20_000; i++) {
    const chain: number[] = [];
    let entity = rng.integer(graph.numEntities);
    for (let hop = pick(rng, hops); hop > 0; hop--) {
      const begin = graph.offsets[entity]!;
      const edges = graph.relations.subarray(begin, graph.offsets[entity + 1]!);
      const relation = pick(rng, (known[entity] ??= [...new Set(edges)]));
      const first = edges.indexOf(relation);
      const last = edges.lastIndexOf(relation);
      if (last - first + 1 > maxAnswers) break;
      chain.push(relation);
      entity = graph.tails[begin + first + rng.integer(last - first + 1)]!;
      if (hop === 1) counts.set(chain.join(' '), (counts.get(chain.join(' ')) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, kinds)
    .map(([chain]) => chain.split(' ').map(Number));
}

const subjects = new WeakMap<Graph, Map<number, Int32Array>>();

function subjectsOf(graph: Graph, relation: number): Int32Array {
  const known = subjects.get(graph) ?? subjects.set(graph, new Map()).get(graph)!;
  const found = known.get(relation) ?? entitiesWith(graph, relation);
  known.set(relation, found);
  return found;
}

/** A reached entity, or for a false statement another tail of the same relation; -1 if there is none. */
function claimedEnd(
  graph: Graph,
  topic: number,
  chain: readonly number[],
  reached: Int32Array,
  truth: boolean,
  rng: Rng,
): number {
  if (truth) return reached[rng.integer(reached.length)]!;
  const ends = subjectsOf(graph, graph.inverseOf[chain.at(-1)!]!);
  for (let attempt = 0; attempt < 50; attempt++) {
    const end = pick(rng, ends);
    if (end !== topic && !reached.includes(end)) return end;
  }
  return -1;
}

/** The last relation is the question, earlier ones are nested noun phrases. */
function query(directions: readonly Direction[], topic: string, rng: Rng): string {
  const { ask, kinds = '' } = phrasesOf(directions.at(-1)!);
  const x = nounOf(directions.slice(0, -1), topic, rng);
  return fill(pick(rng, ask), { x, s: x, kinds });
}

function nounOf(directions: readonly Direction[], topic: string, rng: Rng): string {
  return directions.reduce((x, direction) => {
    const { noun, kinds = '' } = phrasesOf(direction);
    return fill(pick(rng, noun), { x, s: x, kinds });
  }, topic);
}

function statement(directions: readonly Direction[], topic: string, claimed: string, rng: Rng): string {
  const last = directions.at(-1)!;
  const x = nounOf(directions.slice(0, -1), topic, rng);
  const { tell } = relationWords()[last.replace('~', '') as RelationName];
  return fill(pick(rng, tell), last.startsWith('~') ? { h: claimed, t: x } : { h: x, t: claimed });
}

/** Gold chains of a question, hop by hop: all that the simulated model has. */
import { readableRelation } from '../../agents/prompted/self-veqa/sub-graph.js';
import { excludedTopics, type QuestionSample } from '../../datasets/question.js';
import { chainFrontiers, executeChain } from '../../src/kg/frontier.js';
import { byIds, type Graph } from '../../src/kg/graph.js';
import { normalizeName } from '../../src/kg/name-index.js';

/** A relation sequence that leads from the topics to the answers. */
export interface GoldChain {
  relations: readonly number[];
  /** Entities before the first hop and after each, [hops + 1]; after the last only right answers, where there are any. */
  frontiers: readonly ReadonlySet<number>[];
  /** A clue for each hop; no two alike, and none like a topic. */
  clues: readonly string[];
}

/** A question with its golds, executed and by name. */
export interface QuestionFacts extends QuestionSample {
  /** The data set's; where it gives none, the shortest ones (`shortestChains`). */
  chains: readonly GoldChain[];
  /** Topics as they stand in the question. */
  mentions: readonly string[];
  /** Ids of the answers that the graph has. */
  answers: ReadonlySet<number>;
  /** Index into `gold.answers` by normalised name and alias. */
  answerNames: ReadonlyMap<string, number>;
}

/** Executes the gold of one question. */
export function questionFacts(graph: Graph, { task, gold }: QuestionSample): QuestionFacts {
  const topics = task.topics.map(({ entity }) => entity);
  const excluded = excludedTopics(task);
  const mentions = task.topics.map(({ name, span }) => (span ? task.question.slice(...span) : name));
  const answers = new Set(gold.answers.flatMap(({ entity }) => (entity >= 0 ? [entity] : [])));
  const answerNames = new Map<string, number>();
  gold.answers.forEach(({ name, aliases = [] }, i) => {
    for (const one of [name, ...aliases]) answerNames.set(normalizeName(one), i);
  });
  const goal = task.form === 'truth' && gold.truth && gold.claimed !== undefined ? new Set([gold.claimed]) : answers;
  const sequences = gold.chains.length > 0 ? gold.chains : shortestChains(graph, topics, goal, excluded);
  const chains = sequences.map((relations) => ({
    relations,
    frontiers: frontiersOf(graph, topics, excluded, relations, answers),
    clues: cluesOf(graph, relations, mentions),
  }));
  return { task, gold, chains, mentions, answers, answerNames };
}

function frontiersOf(
  graph: Graph,
  topics: readonly number[],
  excluded: readonly number[],
  relations: readonly number[],
  answers: ReadonlySet<number>,
): ReadonlySet<number>[] {
  const frontiers = chainFrontiers(graph, topics, relations, excluded).map(({ entities }) => new Set(entities));
  if (answers.size > 0) frontiers.push(new Set([...frontiers.pop()!].filter((entity) => answers.has(entity))));
  return frontiers;
}

/** One phrase a hop: the relation's readable name, numbered from its second use on. */
function cluesOf(graph: Graph, relations: readonly number[], mentions: readonly string[]): string[] {
  const taken = new Set(mentions.map(normalizeName));
  return relations.map((relation) => {
    const name = graph.relationNames[relation]!;
    const phrase = readableRelation(name) || name;
    let clue = phrase;
    for (let number = 2; taken.has(normalizeName(clue)); number++) clue = `${phrase} (${number})`;
    taken.add(normalizeName(clue));
    return clue;
  });
}

/** Sequences that are executed to be ranked, and kept at most. */
const mostRanked = 64;
const mostKept = 3;

/**
 * The relation sequences of the shortest paths from the topics to the answers nearest to them, best first: by F1 of where
 * they lead against the answers, then by relation ids. At most three; empty where no answer is within reach.
 * @param excluded topics that leave every frontier when a sequence is followed
 * @param maxHops longest path
 */
export function shortestChains(
  graph: Graph,
  topics: readonly number[],
  answers: ReadonlySet<number>,
  excluded: readonly number[],
  maxHops = 3,
): number[][] {
  const chains = nearestChains(graph, topics, answers, maxHops);
  const ranked = chains.slice(0, mostRanked).map((chain) => {
    const { entities } = executeChain(graph, topics, chain, excluded);
    const hits = entities.reduce((sum, entity) => sum + (answers.has(entity) ? 1 : 0), 0);
    return { chain, f1: (2 * hits) / (entities.length + answers.size) };
  });
  // Stable: equal ones stay in the order of their ids.
  ranked.sort((a, b) => b.f1 - a.f1);
  return ranked.slice(0, mostKept).map(({ chain }) => chain);
}

/** Distinct sequences in ascending order of ids. Breadth first: each entity keeps the sequences of its distance. */
function nearestChains(
  graph: Graph,
  topics: readonly number[],
  answers: ReadonlySet<number>,
  maxHops: number,
): number[][] {
  const seen = new Set(topics.filter((topic) => topic >= 0));
  let level = new Map<number, Map<string, number[]>>([...seen].map((topic) => [topic, new Map([['', []]])]));
  for (let hop = 0; hop < maxHops && level.size > 0; hop++) {
    const next = new Map<number, Map<string, number[]>>();
    for (const [entity, chains] of level) {
      for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
        const tail = graph.tails[edge]!;
        if (seen.has(tail)) continue;
        const reached = next.get(tail) ?? new Map<string, number[]>();
        next.set(tail, reached);
        for (const chain of chains.values()) {
          if (reached.size >= mostRanked) break;
          const longer = [...chain, graph.relations[edge]!];
          reached.set(longer.join(), longer);
        }
      }
    }
    const found = [...next].filter(([entity]) => answers.has(entity)).flatMap(([, chains]) => [...chains]);
    if (found.length > 0) return [...new Map(found).values()].sort(byIds);
    for (const entity of next.keys()) seen.add(entity);
    level = next;
  }
  return [];
}

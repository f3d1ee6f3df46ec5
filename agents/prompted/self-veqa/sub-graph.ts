/** Facts around the topics that read most like the question: what the verifier may rest on. */
import { dot, type StateEncoder, unitVectors } from '../../../src/encoder/state-encoder.js';
import { type Graph, inversePrefix, type Triple } from '../../../src/kg/graph.js';
import type { NamedTriple } from '../../../src/llm/decision.js';
import { distinctFacts, factOf } from '../facts.js';

/** Entities of one distance whose edges are read: hubs must not cost seconds. */
const mostEntities = 2000;

interface SubGraphQuery {
  question: string;
  topics: readonly number[];
  hops: number;
  /** Facts that are compared with the question; a distance gives at most its share. */
  candidates: number;
  triples: number;
  /** Relevance of a relation to the question: selects the candidates. */
  likeness: (relation: number) => number;
  /** Counts reads of the graph. */
  read: (edges: number) => void;
  signal?: AbortSignal | undefined;
}

/** At most `triples` facts within `hops` of the topics, most like the question first, by the cosine of "head relation tail". */
export async function similarFacts(graph: Graph, encoder: StateEncoder, query: SubGraphQuery): Promise<NamedTriple[]> {
  const facts = distinctFacts((await nearbyTriples(graph, query)).map((triple) => factOf(graph, triple)));
  if (facts.length === 0) return [];
  const texts = facts.map(([head, relation, tail]) => `${head} ${readableRelation(relation)} ${tail}`);
  const [question, ...rows] = await unitVectors(encoder, [query.question, ...texts], query.signal);
  return facts
    .map((fact, i) => ({ fact, likeness: dot(question!, rows[i]!) }))
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, query.triples)
    .map(({ fact }) => fact);
}

/** Breadth first; of each distance the edges whose relations suit the question best. */
async function nearbyTriples(
  graph: Graph,
  { topics, hops, candidates, likeness, read, signal }: SubGraphQuery,
): Promise<Triple[]> {
  const nearby: Triple[] = [];
  const seen = new Set(topics.filter((topic) => topic >= 0));
  let level = [...seen];
  for (let hop = 0; hop < hops && level.length > 0; hop++) {
    const edges: { triple: Triple; likeness: number }[] = [];
    const next = new Set<number>();
    const heads = level.slice(0, mostEntities);
    await graph.ensure(heads, signal);
    for (const head of heads) {
      read(graph.degree(head));
      for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
        const relation = graph.relations[edge]!;
        const tail = graph.tails[edge]!;
        if (seen.has(tail)) continue;
        next.add(tail);
        edges.push({ triple: [head, relation, tail], likeness: likeness(relation) });
      }
    }
    edges.sort((a, b) => b.likeness - a.likeness);
    nearby.push(...edges.slice(0, Math.ceil(candidates / hops)).map(({ triple }) => triple));
    for (const tail of next) seen.add(tail);
    level = [...next];
  }
  return nearby;
}

/** `~people.person.place_of_birth` → `place of birth`: what a sentence encoder can compare with a question. */
export function readableRelation(name: string): string {
  const plain = name.startsWith(inversePrefix) ? name.slice(inversePrefix.length) : name;
  const last = plain.split('.').findLast((part) => part !== '') ?? plain;
  return last.replace(/[_/\s]+/gu, ' ').trim();
}

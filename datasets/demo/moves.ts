/** Next move of a conversation: a path through the world, and hints that single out its end. */
import { relationRange } from '../../src/kg/frontier.js';
import type { Graph, Path, Triple } from '../../src/kg/graph.js';
import { pick, pickWeighted, type Rng } from '../../src/run/seeds.js';
import type { Direction } from './schema.js';
import { chance, talk } from './words.js';
import type { DemoWorld } from './world.js';

export interface Move {
  path: Path;
  /** Direction of each edge of the path. */
  directions: Direction[];
  /** Edge of the path's end that few rivals share. */
  wish?: { direction: Direction; value: number };
  /** Rival to exclude explicitly. */
  excluded?: number;
  /** Open question: any fact is acceptable. */
  vague: boolean;
  /** True if the end itself is guessed. */
  guessed: boolean;
}

export interface Memory {
  /** Entities in order of mention, latest last. */
  topics: readonly number[];
  visited: ReadonlySet<number>;
}

/** Weight of each relation in questions; default 1. */
const appeal: Partial<Record<Direction, number>> = {
  starring: 1.5,
  '~starring': 1.5,
  directed_by: 1.2,
  '~directed_by': 1.4,
  written_by: 1.4,
  '~written_by': 1.4,
  has_genre: 1.1,
  '~has_genre': 0.9,
  released_in: 0.8,
  '~released_in': 0.5,
  '~born_in': 0.5,
  '~in_language': 0.5,
};

/** Hubs are mentioned, but seldom a topic. */
const largeDegree = 60;
/** Maximum number of rivals left. */
const mostOpen = 5;

/** Chooses a start among the topics and a path from it; undefined if none fits. @param asked true if the user asks */
export function chooseMove(world: DemoWorld, rng: Rng, memory: Memory, asked: boolean): Move | undefined {
  for (let attempt = 0; attempt < 30; attempt++) {
    const start = chooseStart(world.graph, rng, memory);
    const move = moveFrom(world, rng, memory, start, asked);
    if (move) return move;
  }
  return undefined;
}

/** The last topic, the one before, or any: conversations drift. */
function chooseStart(graph: Graph, rng: Rng, { topics }: Memory): number {
  const where = rng.uniform();
  const start = where < 0.55 ? topics.at(-1)! : where < 0.8 ? (topics.at(-2) ?? topics.at(-1)!) : pick(rng, topics);
  return graph.degree(start) > largeDegree && chance(rng, 0.6) ? topics[0]! : start;
}

function moveFrom({ graph }: DemoWorld, rng: Rng, memory: Memory, start: number, asked: boolean): Move | undefined {
  const first = chooseRelation(graph, rng, start);
  if (first === undefined) return undefined;
  const edges = edgesOf(graph, start, first);
  const hops = chance(rng, asked ? 0.36 : 0.2) ? 2 : 1;
  let paths: Path[];
  if (hops === 1) paths = edges.map((edge) => [edge]);
  else {
    const middle = pick(rng, edges)[2];
    if (graph.degree(middle) > 2.5 * largeDegree) return undefined;
    const back = graph.inverseOf[first]!;
    const like = talk().sameness[graph.relationNames[first] as Direction] !== undefined;
    const second = like && chance(rng, 0.55) ? back : chooseRelation(graph, rng, middle);
    if (second === undefined || (second === back && !like)) return undefined;
    paths = edges.flatMap((edge) =>
      edgesOf(graph, edge[2], second)
        .filter(([, , tail]) => tail !== start)
        .map((next): Path => [edge, next]),
    );
  }
  const fresh = paths.filter((path) => !memory.visited.has(endOf(path)));
  if (fresh.length === 0 || fresh.length > 400) return undefined;
  const path = pickWeighted(rng, fresh, (candidate) => Math.sqrt(graph.degree(endOf(candidate))));
  const directions = path.map(([, relation]) => graph.relationNames[relation] as Direction);
  const rivals = [...new Set(fresh.map(endOf))];
  const move: Move = { path, directions, vague: false, guessed: false };
  if (hops === 1 && asked && chance(rng, 0.08)) return rivals.length > 8 ? undefined : { ...move, vague: true };
  if (hops === 1 && chance(rng, 0.08)) return { ...move, guessed: true };
  if (rivals.length === 1) return move;
  const found = chance(rng, 0.88) ? wishFor(graph, rng, path, rivals) : undefined;
  if (!found) return rivals.length > mostOpen || chance(rng, 0.4) ? undefined : excluding(rng, move, rivals);
  if (found.left > mostOpen) return undefined;
  return excluding(rng, { ...move, wish: found.wish }, rivals);
}

function excluding(rng: Rng, move: Move, rivals: readonly number[]): Move {
  const others = rivals.filter((rival) => rival !== endOf(move.path));
  return chance(rng, 0.12) ? { ...move, excluded: pick(rng, others) } : move;
}

function chooseRelation(graph: Graph, rng: Rng, entity: number): number | undefined {
  const begin = graph.offsets[entity]!;
  const relations = [...new Set(graph.relations.subarray(begin, graph.offsets[entity + 1]!))];
  if (relations.length === 0) return undefined;
  return pickWeighted(rng, relations, (relation) => appeal[graph.relationNames[relation] as Direction] ?? 1);
}

function edgesOf(graph: Graph, head: number, relation: number): Triple[] {
  const [begin, end] = relationRange(graph, head, relation);
  return Array.from(graph.tails.subarray(begin, end), (tail): Triple => [head, relation, tail]);
}

const endOf = (path: Path): number => path.at(-1)![2];

/** One of the two edges of the path's end that leave the fewest rivals, with the number left. */
function wishFor(graph: Graph, rng: Rng, path: Path, rivals: readonly number[]) {
  const end = endOf(path);
  const named = new Set(path.flatMap(([head, , tail]) => [head, tail]));
  const found: { wish: { direction: Direction; value: number }; left: number }[] = [];
  for (let edge = graph.offsets[end]!; edge < graph.offsets[end + 1]!; edge++) {
    const relation = graph.relations[edge]!;
    const value = graph.tails[edge]!;
    const direction = graph.relationNames[relation] as Direction;
    if (!talk().wishes[direction] || named.has(value)) continue;
    const left = rivals.filter((rival) => graph.edgeIndex(rival, relation, value) >= 0).length;
    if (left < rivals.length) found.push({ wish: { direction, value }, left });
  }
  const least = Math.min(...found.map(({ left }) => left));
  const best = found.filter(({ left }) => left === least);
  return best.length === 0 ? undefined : pick(rng, best);
}

/** The walks of a beam, step by step. */
import type { EdgeLists } from '../../envs/link-query/world.js';
import type { BoundedHeap } from '../bounded-heap.js';

/** What is walked; every action is legal. */
export interface LinkLists extends EdgeLists {
  /** Relations with inverses: the id that staying has in paths. */
  readonly numRelations: number;
}

/** The walks of one step of a query, in columns, best first. */
export interface BeamLevel {
  /** int32: place among the walks one step shorter; -1 at the start. */
  parents: Int32Array;
  /** int32: relation of the last step; -1 at the start. */
  relations: Int32Array;
  /** int32: entity where the walk stands. */
  entities: Int32Array;
  /** float64: log-probability of the walk. */
  logProbs: Float64Array;
}

/** The one walk that has taken no step. */
export function firstLevel(head: number): BeamLevel {
  const start = Int32Array.of(-1);
  return { parents: start, relations: start, entities: Int32Array.of(head), logProbs: Float64Array.of(0) };
}

/** Empties the heap of walks that are a step longer: `a` is the walk before, `b` the place of its last action. */
export function nextLevel(graph: LinkLists, before: BeamLevel, heap: BoundedHeap): BeamLevel {
  const best = heap.drain();
  const level: BeamLevel = {
    parents: Int32Array.from(best, ({ a }) => a),
    relations: new Int32Array(best.length),
    entities: new Int32Array(best.length),
    logProbs: Float64Array.from(best, ({ value }) => value),
  };
  best.forEach(({ a: parent, b: action }, i) => {
    const current = before.entities[parent]!;
    const edge = graph.offsets[current]! + action;
    const stays = edge === graph.offsets[current + 1]!;
    level.relations[i] = stays ? graph.numRelations : graph.relations[edge]!;
    level.entities[i] = stays ? current : graph.tails[edge]!;
  });
  return level;
}

/** int32 [2 · hop]: relation and entity of each step of a walk. */
export function stepsOf(levels: readonly BeamLevel[], hop: number, walk: number): Int32Array {
  const path = new Int32Array(2 * hop);
  for (let depth = hop, at = walk; depth > 0; depth--) {
    const { parents, relations, entities } = levels[depth]!;
    path[2 * depth - 2] = relations[at]!;
    path[2 * depth - 1] = entities[at]!;
    at = parents[at]!;
  }
  return path;
}

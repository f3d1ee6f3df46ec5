/**
 * How often the train split's gold walks used an edge, a pair of edges or a pair of ends. No count of a single entity
 * is kept: on a graph cut to the entities of dialogues, an entity nobody used in train is one that only an evaluation
 * dialogue needs, and a count of zero gives the answer away.
 */
import { madeFromSamples } from '../../../datasets/sample-source.js';
import type { WalkSample } from '../../../datasets/walk-sample.js';
import type { Graph, Path } from '../../../src/kg/graph.js';

/** What is counted, in the words of `evaluation/leaks/count-shares`, which asks whether a count marks the answer. */
const walkCountNames = ['edge', 'first edge', 'head and relation', 'start and end', 'pair of edges'];

/** Counts of pairs, with each dialogue’s own left out on request. */
export class WalkCounts {
  /** int32 [numEdges]: gold walks that used the edge at any hop. */
  readonly edge: Int32Array;
  /** int32 [numEdges]: gold walks that began with the edge. */
  readonly firstEdge: Int32Array;
  /** int32 [numEdges]: gold walks that ended after this first edge. */
  readonly stopped: Int32Array;
  /** int32 [numEdges]: gold walks that went on after this first edge. */
  readonly continued: Int32Array;
  readonly #headRelation = new Map<number, number>();
  readonly #endsFrom = new Map<number, Map<number, number>>();
  readonly #edgesAfter = new Map<number, Map<number, number>>();
  readonly #byDialogue = new Map<string, Path[]>();

  /** @param samples the train split's samples, and no others */
  constructor(
    readonly graph: Graph,
    samples: readonly WalkSample[],
  ) {
    this.edge = new Int32Array(graph.numEdges);
    this.firstEdge = new Int32Array(graph.numEdges);
    this.stopped = new Int32Array(graph.numEdges);
    this.continued = new Int32Array(graph.numEdges);
    const note = madeFromSamples('frequency table', 'walk counts', { counts: walkCountNames });
    for (const sample of samples) {
      const { task, gold } = sample;
      // Questions tell where a walk may end, and no way there. A graph cut to lists of edges may lack what samples walk.
      if (!gold.inGraph || gold.path.length === 0 || !graph.holds(gold.path)) continue;
      note(sample);
      this.#add(gold.path, 1);
      const paths = this.#byDialogue.get(task.dialogueId);
      if (paths) paths.push(gold.path);
      else this.#byDialogue.set(task.dialogueId, [gold.path]);
    }
  }

  /** Walks whose edge left `head` by `relation`. */
  headRelation(head: number, relation: number): number {
    return this.#headRelation.get(head * (this.graph.numRelations + 1) + relation) ?? 0;
  }

  /** Walks from `start` by where they ended; absent where there were none. */
  endsFrom(start: number): ReadonlyMap<number, number> | undefined {
    return this.#endsFrom.get(start);
  }

  /** Walks that began with an edge by the edge they took next; absent where there were none. */
  edgesAfter(first: number): ReadonlyMap<number, number> | undefined {
    return this.#edgesAfter.get(first);
  }

  /**
   * Runs `body` with the counts of one dialogue left out, so that a training row never sees its own answer.
   * A dialogue that is not in train changes nothing.
   */
  without<T>(dialogueId: string, body: () => T): T {
    const own = this.#byDialogue.get(dialogueId) ?? [];
    for (const path of own) this.#add(path, -1);
    try {
      return body();
    } finally {
      for (const path of own) this.#add(path, 1);
    }
  }

  #add(path: Path, amount: number): void {
    const edges = path.map(([head, relation, tail]) => this.graph.edgeIndex(head, relation, tail));
    path.forEach(([head, relation], i) => {
      this.edge[edges[i]!]! += amount;
      bump(this.#headRelation, head * (this.graph.numRelations + 1) + relation, amount);
    });
    const first = edges[0]!;
    this.firstEdge[first]! += amount;
    if (edges.length === 1) this.stopped[first]! += amount;
    else {
      this.continued[first]! += amount;
      bump(inner(this.#edgesAfter, first), edges[1]!, amount);
    }
    bump(inner(this.#endsFrom, path[0]![0]), path.at(-1)![2], amount);
  }
}

function bump(counts: Map<number, number>, key: number, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}

function inner(counts: Map<number, Map<number, number>>, key: number): Map<number, number> {
  let found = counts.get(key);
  if (!found) counts.set(key, (found = new Map()));
  return found;
}

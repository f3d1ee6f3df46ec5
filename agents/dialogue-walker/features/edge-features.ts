/** The features of one legal action: what dialogue, graph and train walks say of this edge. */
import { madeFromSamples } from '../../../datasets/sample-source.js';
import type { WalkSample, WalkTask } from '../../../datasets/walk-sample.js';
import type { WalkState } from '../../../envs/dialogue-walk/rules.js';
import { type Graph, type Path, unknownId } from '../../../src/kg/graph.js';
import {
  type DialogueScratch,
  flagMentionedEarlier,
  flagMentionedLast,
  flagVisited,
  flagVisitedLast,
} from './dialogue-scratch.js';

/** Names of the features, in order; all lie roughly in [0, 1]. The last seven need train counts. */
export const edgeFeatureNames = [
  'tail named in the last message',
  'tail named earlier',
  'name overlap with the last message',
  'name overlap with earlier messages',
  'tail on an earlier path',
  'tail on the last path',
  'tail is the start',
  'tail is the node before',
  'log degree of the tail',
  'log fan-out of head and relation',
  'log parallel edges',
  'log fan-out of the first hop',
  'cosine of last message and relation',
  'cosine of last message and tail',
  'cosine of last messages and tail',
  'stay',
  'tail is near entities of the last message',
  'tail is near entities named earlier or visited',
  'same relation as the last path',
  'count of the edge',
  'count of the edge as first hop',
  'count of head and relation',
  'count of start and tail as ends',
  'count of this edge after the first',
  'count of stopping after the first edge',
  'count of going on after the first edge',
] as const;

export interface EdgeFeatureSources {
  graph: Graph;
  statistics: EdgeStatistics;
  scratch: DialogueScratch;
  /** Absent where counts are switched off; their features are then 0. */
  counts: WalkCounts | undefined;
}

/**
 * Writes the features of the listed actions of one state, row by row.
 * @param actions indices of legal actions, ascending
 * @param out float32, written from `at` on: `edgeFeatureNames.length` values an action, `stride` from one to the next
 */
export function writeEdgeFeatures(
  { graph, statistics, scratch, counts }: EdgeFeatureSources,
  task: WalkTask,
  state: WalkState,
  actions: Int32Array,
  out: Float32Array,
  at: number,
  stride: number = edgeFeatureNames.length,
): void {
  const { start, current, hop, path } = state;
  if (current === unknownId) {
    // A start that the graph lacks: nothing is known of it, and staying is all it can do.
    out[at + 15] = 1;
    return;
  }
  const degree = graph.degree(current);
  const base = graph.offsets[current]!;
  const firstEdge = path[0] ? graph.edgeIndex(...path[0]) : -1;
  const before = path.at(-1)?.[0] ?? -1;
  const lastPath = task.earlierPaths.at(-1);
  const sameRelation = lastPath?.[Math.min(hop, lastPath.length - 1)]?.[1] ?? -1;
  const firstFanOut = firstEdge < 0 ? 0 : statistics.logFanOut[firstEdge]! / 8;
  const ends = counts?.endsFrom(start);
  const after = firstEdge < 0 ? undefined : counts?.edgesAfter(firstEdge);
  const stopped = counts && firstEdge >= 0 ? logCount(counts.stopped[firstEdge]!) : 0;
  const continued = counts && firstEdge >= 0 ? logCount(counts.continued[firstEdge]!) : 0;
  scratch.prepareCosines(actions.map((action) => (action >= degree ? current : graph.tails[base + action]!)));
  // Edges of one relation stand side by side, so what hangs on the relation alone is looked up once a run of them.
  let relation = -1;
  let relationCosine = 0;
  let relationCount = 0;
  for (const action of actions) {
    const stay = action >= degree;
    const edge = base + action;
    const tail = stay ? current : graph.tails[edge]!;
    const flags = scratch.flags[tail]!;
    if (!stay && graph.relations[edge] !== relation) {
      relation = graph.relations[edge]!;
      relationCosine = scratch.cosineLastRelation(relation);
      relationCount = counts ? logCount(counts.headRelation(current, relation)) : 0;
    }
    out[at] = flags & flagMentionedLast ? 1 : 0;
    out[at + 1] = flags & flagMentionedEarlier ? 1 : 0;
    out[at + 2] = scratch.overlapLast(tail);
    out[at + 3] = scratch.overlapEarlier(tail);
    out[at + 4] = flags & flagVisited ? 1 : 0;
    out[at + 5] = flags & flagVisitedLast ? 1 : 0;
    out[at + 6] = tail === start ? 1 : 0;
    out[at + 7] = tail === before ? 1 : 0;
    out[at + 8] = statistics.logDegree[tail]! / 8;
    out[at + 11] = firstFanOut;
    out[at + 13] = scratch.cosineLastEntity(tail);
    out[at + 14] = scratch.cosineWindowEntity(tail);
    out[at + 15] = stay ? 1 : 0;
    out[at + 16] = scratch.nearLast[tail]!;
    out[at + 17] = scratch.nearEarlier[tail]!;
    out[at + 22] = logCount(ends?.get(tail) ?? 0);
    out[at + 25] = continued;
    if (stay) out[at + 24] = stopped;
    else {
      out[at + 9] = statistics.logFanOut[edge]! / 8;
      out[at + 10] = statistics.logParallel[edge]!;
      out[at + 12] = relationCosine;
      out[at + 18] = relation === sameRelation ? 1 : 0;
      if (counts) {
        out[at + 19] = logCount(counts.edge[edge]!);
        out[at + 20] = firstEdge < 0 ? logCount(counts.firstEdge[edge]!) : 0;
        out[at + 21] = relationCount;
        out[at + 23] = logCount(after?.get(edge) ?? 0);
      }
    }
    at += stride;
  }
}

/** Feature value of a count. */
export const logCount = (count: number): number => (count === 0 ? 0 : Math.log1p(count) / 3);

interface EdgeStatistics {
  /** float32 [numEntities]: ln(1 + degree). */
  logDegree: Float32Array;
  /** float32 [numEdges]: ln of the number of edges of the same head and relation. */
  logFanOut: Float32Array;
  /** float32 [numEdges]: ln of the number of edges from the same head to the same tail. */
  logParallel: Float32Array;
}

/** Computes them in O(edges). */
export function edgeStatistics(graph: Graph): EdgeStatistics {
  const logDegree = Float32Array.from({ length: graph.numEntities }, (_, entity) => Math.log(1 + graph.degree(entity)));
  const logParallel = new Float32Array(graph.numEdges);
  const toTail = new Int32Array(graph.numEntities);
  for (let head = 0; head < graph.numEntities; head++) {
    const begin = graph.offsets[head]!;
    const end = graph.offsets[head + 1]!;
    for (let edge = begin; edge < end; edge++) toTail[graph.tails[edge]!]!++;
    for (let edge = begin; edge < end; edge++) logParallel[edge] = Math.log(toTail[graph.tails[edge]!]!);
    for (let edge = begin; edge < end; edge++) toTail[graph.tails[edge]!] = 0;
  }
  return { logDegree, logFanOut: logFanOut(graph), logParallel };
}

/** float32 [edges]: ln of the number of edges of the same head and relation. */
export function logFanOut({ offsets, relations }: Pick<Graph, 'offsets' | 'relations'>): Float32Array {
  const logs = new Float32Array(relations.length);
  for (let head = 0; head + 1 < offsets.length; head++) {
    for (let begin = offsets[head]!, end = begin; begin < offsets[head + 1]!; begin = end) {
      while (end < offsets[head + 1]! && relations[end] === relations[begin]) end++;
      logs.fill(Math.log(end - begin), begin, end);
    }
  }
  return logs;
}

/** Names of the counts as in `evaluation/leaks/count-shares`, which checks whether a count reveals the answer. */
const walkCountNames = ['edge', 'first edge', 'head and relation', 'start and end', 'pair of edges'];

/** Gold walks that are counted, by dialogue. */
export class CountedWalks {
  readonly #byDialogue = new Map<string, WalkSample[]>();
  readonly #add: (sample: WalkSample, amount: number) => void;

  /** Counts all. @param samples of train alone @param add changes the counts by those of a sample, times an amount */
  constructor(
    graph: Graph,
    samples: readonly WalkSample[],
    note: (sample: WalkSample) => void,
    add: (sample: WalkSample, amount: number) => void,
  ) {
    this.#add = add;
    for (const sample of samples) {
      const { task, gold } = sample;
      // Questions have answers but no path. A graph cut to lists of edges may lack the edges of a gold path.
      if (!gold.inGraph || gold.path.length === 0 || !graph.holds(gold.path)) continue;
      note(sample);
      add(sample, 1);
      const own = this.#byDialogue.get(task.dialogueId);
      if (own) own.push(sample);
      else this.#byDialogue.set(task.dialogueId, [sample]);
    }
  }

  /**
   * Runs `body` with the counts of one dialogue left out, so that a training row never sees its own answer.
   * A dialogue that is not in train changes nothing.
   */
  without<T>(dialogueId: string, body: () => T): T {
    const own = this.#byDialogue.get(dialogueId) ?? [];
    for (const sample of own) this.#add(sample, -1);
    try {
      return body();
    } finally {
      for (const sample of own) this.#add(sample, 1);
    }
  }
}

/** Counts of pairs, with each dialogue’s own left out on request. */
export class WalkCounts {
  /** int32 [numEdges]: gold walks that used the edge at any hop. */
  readonly edge: Int32Array;
  /** int32 [numEdges]: gold walks that began with the edge. */
  readonly firstEdge: Int32Array;
  /** int32 [numEdges]: gold walks that ended after this first edge. */
  readonly stopped: Int32Array;
  /** int32 [numEdges]: gold walks that continued after this first edge. */
  readonly continued: Int32Array;
  readonly #headRelation = new Map<number, number>();
  readonly #endsFrom = new Map<number, Map<number, number>>();
  readonly #edgesAfter = new Map<number, Map<number, number>>();
  readonly #walks: CountedWalks;

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
    this.#walks = new CountedWalks(graph, samples, note, ({ gold }, amount) => this.#add(gold.path, amount));
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

  /** See `CountedWalks`. */
  without<T>(dialogueId: string, body: () => T): T {
    return this.#walks.without(dialogueId, body);
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

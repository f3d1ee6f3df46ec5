/** The features of one legal action: what dialogue, graph and train walks say of this edge. */
import type { WalkTask } from '../../../datasets/walk-sample.js';
import type { WalkState } from '../../../envs/dialogue-walk/rules.js';
import { unknownId, type Graph } from '../../../src/kg/graph.js';
import {
  type DialogueScratch,
  flagMentionedEarlier,
  flagMentionedLast,
  flagVisited,
  flagVisitedLast,
} from './dialogue-scratch.js';
import type { EdgeStatistics } from './edge-statistics.js';
import type { WalkCounts } from './walk-counts.js';

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

/** What the features of edges are read from. */
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
 * @param out float32, written from `at` on, `edgeFeatureNames.length` values an action
 */
export function writeEdgeFeatures(
  { graph, statistics, scratch, counts }: EdgeFeatureSources,
  task: WalkTask,
  state: WalkState,
  actions: Int32Array,
  out: Float32Array,
  at: number,
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
    at += edgeFeatureNames.length;
  }
}

function logCount(count: number): number {
  return count === 0 ? 0 : Math.log1p(count) / 3;
}

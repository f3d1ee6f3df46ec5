/** The features of one legal action: what dialogue, graph and train walks say of this edge. */
import type { WalkTask } from '../../../datasets/walk-sample.js';
import type { WalkState } from '../../../envs/rules.js';
import type { Graph } from '../../../src/kg/graph.js';
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

export interface EdgeFeatureSources {
  graph: Graph;
  statistics: EdgeStatistics;
  scratch: DialogueScratch;
  /** Absent where counts are switched off; their features are then 0. */
  counts: WalkCounts | undefined;
}

/**
 * Writes the features of one action.
 * @param firstEdge index of the walk's first edge, or -1 at the first hop
 * @param edge index of the action's edge, or -1 for staying
 * @param out float32, written at `at .. at + edgeFeatureNames.length - 1`
 */
export function writeEdgeFeatures(
  sources: EdgeFeatureSources,
  task: WalkTask,
  state: WalkState,
  firstEdge: number,
  edge: number,
  out: Float32Array,
  at: number,
): void {
  const { graph, statistics, scratch, counts } = sources;
  const stay = edge < 0;
  const tail = stay ? state.current : graph.tails[edge]!;
  const relation = stay ? graph.equalRelation : graph.relations[edge]!;
  const flags = scratch.flags[tail]!;
  const lastPath = task.earlierPaths.at(-1);
  out[at] = Number((flags & flagMentionedLast) !== 0);
  out[at + 1] = Number((flags & flagMentionedEarlier) !== 0);
  out[at + 2] = scratch.overlapLast(tail);
  out[at + 3] = scratch.overlapEarlier(tail);
  out[at + 4] = Number((flags & flagVisited) !== 0);
  out[at + 5] = Number((flags & flagVisitedLast) !== 0);
  out[at + 6] = Number(tail === state.start);
  out[at + 7] = Number(state.path.at(-1)?.[0] === tail);
  out[at + 8] = statistics.logDegree[tail]! / 8;
  out[at + 9] = stay ? 0 : statistics.logFanOut[edge]! / 8;
  out[at + 10] = stay ? 0 : statistics.logParallel[edge]!;
  out[at + 11] = firstEdge < 0 ? 0 : statistics.logFanOut[firstEdge]! / 8;
  out[at + 12] = scratch.cosineLastRelation(relation);
  out[at + 13] = scratch.cosineLastEntity(tail);
  out[at + 14] = scratch.cosineWindowEntity(tail);
  out[at + 15] = Number(stay);
  out[at + 16] = scratch.nearLast[tail]!;
  out[at + 17] = scratch.nearEarlier[tail]!;
  out[at + 18] = Number(lastPath !== undefined && lastPath[Math.min(state.hop, lastPath.length - 1)]?.[1] === relation);
  if (!counts) return;
  out[at + 19] = stay ? 0 : Math.log1p(counts.edge[edge]!) / 3;
  out[at + 20] = stay || firstEdge >= 0 ? 0 : Math.log1p(counts.firstEdge[edge]!) / 3;
  out[at + 21] = stay ? 0 : Math.log1p(counts.headRelation(state.current, relation)) / 3;
  out[at + 22] = Math.log1p(counts.ends(state.start, tail)) / 3;
  out[at + 23] = stay || firstEdge < 0 ? 0 : Math.log1p(counts.edgePair(firstEdge, edge)) / 3;
  out[at + 24] = stay && firstEdge >= 0 ? Math.log1p(counts.stopped[firstEdge]!) / 3 : 0;
  out[at + 25] = firstEdge >= 0 ? Math.log1p(counts.continued[firstEdge]!) / 3 : 0;
}

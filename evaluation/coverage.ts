/** How much of a split can be answered at all, whoever answers. */
import type { WalkSample } from '../datasets/walk-sample.js';
import type { WalkGraph } from '../envs/dialogue-walk/walk-graph.js';
import type { Coverage } from '../src/run/records.js';

/**
 * @param samples at least one
 * @param walks the edges that may be walked
 * @param horizon most edges of a walk. Default 2
 */
export function coverageOf(samples: readonly WalkSample[], walks: WalkGraph, horizon = 2): Coverage {
  const { graph, selection } = walks;
  const share = (test: (sample: WalkSample) => boolean) => samples.filter(test).length / samples.length;
  return {
    goldInGraph: share(({ gold }) => gold.inGraph),
    startHasEdges: share(({ task }) => graph.degree(task.start) > 0),
    ...(selection && { goldWalkable: share(({ gold }) => graph.holds(gold.path)) }),
    reachable: share(({ gold }) => gold.inGraph && graph.holds(gold.path) && gold.path.length <= horizon),
    meanActions: samples.reduce((sum, { task }) => sum + graph.degree(task.start), 0) / samples.length,
  };
}

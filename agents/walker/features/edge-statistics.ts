/** Facts about each edge that depend on the graph alone, as logarithms, computed once. */
import type { Graph } from '../../../src/kg/graph.js';

/** Logarithms of counts around entities and edges. */
export interface EdgeStatistics {
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
  const logFanOut = new Float32Array(graph.numEdges);
  const logParallel = new Float32Array(graph.numEdges);
  const toTail = new Int32Array(graph.numEntities);
  for (let head = 0; head < graph.numEntities; head++) {
    const begin = graph.offsets[head]!;
    const end = graph.offsets[head + 1]!;
    for (let edge = begin; edge < end; edge++) toTail[graph.tails[edge]!]!++;
    for (let edge = begin, runEnd = begin; edge < end; edge++) {
      if (edge === runEnd) {
        while (runEnd < end && graph.relations[runEnd] === graph.relations[edge]) runEnd++;
        logFanOut.fill(Math.log(runEnd - edge), edge, runEnd);
      }
      logParallel[edge] = Math.log(toTail[graph.tails[edge]!]!);
    }
    for (let edge = begin; edge < end; edge++) toTail[graph.tails[edge]!] = 0;
  }
  return { logDegree, logFanOut, logParallel };
}

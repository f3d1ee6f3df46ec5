/** `topk-degree`: a choice among the edges of a hub that the graph alone decides. */
import type { Graph } from '../../src/kg/graph.js';
import type { ChooseEdges } from '../../src/kg/keep-edges.js';

/**
 * Every relation gives its edges in turn, so that none crowds the others out: of each relation the edge whose tail has the
 * most edges, then of each the second, and so on. In the turn that does not fit as a whole, tails of more edges go first.
 * Equal degrees go by the ids of relation and tail. No dialogue is read.
 */
export function topDegree(graph: Graph): ChooseEdges {
  const byDegree = (a: number, b: number) => graph.degree(graph.tails[b]!) - graph.degree(graph.tails[a]!) || a - b;
  return (begin, end, most) => {
    const edges = Int32Array.from({ length: end - begin }, (_, i) => begin + i);
    const turn = new Int32Array(end - begin);
    for (let first = begin, last = begin; first < end; first = last) {
      while (last < end && graph.relations[last] === graph.relations[first]) last++;
      edges
        .subarray(first - begin, last - begin)
        .sort(byDegree)
        .forEach((edge, place) => (turn[edge - begin] = place));
    }
    return edges.sort((a, b) => turn[a - begin]! - turn[b - begin]! || byDegree(a, b)).subarray(0, most);
  };
}

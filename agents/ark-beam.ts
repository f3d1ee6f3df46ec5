/** The beam of LLM-ARK's published code, over any agent's probabilities of two steps. Its counts are `src/metrics/ark`. */
import type { WalkTask } from '../datasets/walk-sample.js';
import type { Graph, Path } from '../src/kg/graph.js';
import { arkBeamWidth, padEntity, type ArkBeam } from '../src/metrics/ranks.js';
import { boundedHeap } from './bounded-heap.js';
import { edgeTriple, mix, saltOf, type WalkScores } from './top-paths.js';

/**
 * Keeps the best walks that begin with the given first steps. Equal log-probabilities are ordered by a hash of the task and
 * the walk.
 * @param firsts edge indices of the best first steps, best first; those beyond `arkBeamWidth` are dropped
 * @param seconds offers each second step after `firsts[slot]`: an edge index, or -1 for staying, and the log-probability of
 *   both steps
 */
export function arkBeam(
  graph: Graph,
  task: Pick<WalkTask, 'id' | 'start'>,
  firsts: readonly number[],
  seconds: (slot: number, offer: (edge: number, logProb: number) => void) => void,
): ArkBeam {
  const kept = firsts.slice(0, arkBeamWidth);
  const salt = saltOf(0, task.id);
  const best = boundedHeap(arkBeamWidth);
  kept.forEach((first, slot) => {
    seconds(slot, (edge, logProb) => best.offer(logProb, mix(mix(salt, first), edge), slot, edge, logProb));
  });
  const walks = best.drain().map(({ a: slot, b: edge }): Path => {
    const step = edgeTriple(graph, task.start, kept[slot]!);
    const middle = step[2];
    return [step, edge < 0 ? [middle, graph.equalRelation, middle] : edgeTriple(graph, middle, edge)];
  });
  const slots = Array.from({ length: arkBeamWidth }, (_, slot) => slot);
  return {
    start: task.start,
    afterFirst: slots.map((slot) => (slot < kept.length ? graph.tails[kept[slot]!]! : padEntity)),
    walks: slots.map((slot) => walks[slot]),
  };
}

/**
 * The beam of an agent that scores whole walks: the probability of a first step is the sum over the walks that take it, staying
 * after it included. O(two-hop walks).
 */
export function arkBeamOfScores(graph: Graph, task: Pick<WalkTask, 'id' | 'start'>, scores: WalkScores): ArkBeam {
  const salt = saltOf(0, task.id);
  const best = boundedHeap(arkBeamWidth);
  const begin = task.start < 0 ? 0 : graph.offsets[task.start]!;
  for (let first = begin; first < begin + graph.degree(task.start); first++) {
    // Rounded, since the order of summing must not order what is equally likely.
    const logProb = Math.fround(logSumOf((offer) => eachWalk(graph, scores, first, offer)));
    best.offer(logProb, mix(salt, first), first, 0, 0);
  }
  const firsts = best.drain().map(({ a }) => a);
  return arkBeam(graph, task, firsts, (slot, offer) => eachWalk(graph, scores, firsts[slot]!, offer));
}

/** Offers the walks that begin with `first`: the one that stays after it, as -1, then those of two edges. */
function eachWalk(
  graph: Graph,
  scores: WalkScores,
  first: number,
  offer: (edge: number, logProb: number) => void,
): void {
  offer(-1, scores.oneHop(first));
  const middle = graph.tails[first]!;
  const scoreOf = scores.twoHops(first);
  for (let edge = graph.offsets[middle]!; edge < graph.offsets[middle + 1]!; edge++) offer(edge, scoreOf(edge));
}

function logSumOf(each: (offer: (edge: number, logProb: number) => void) => void): number {
  let max = -Infinity;
  let mass = 0;
  each((_, logProb) => {
    if (logProb === -Infinity) return;
    if (logProb > max) {
      mass = mass * Math.exp(max - logProb) + 1;
      max = logProb;
    } else mass += Math.exp(logProb - max);
  });
  return max + Math.log(mass);
}

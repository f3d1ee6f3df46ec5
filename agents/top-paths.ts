/**
 * Keeps the best walks of one task, and every final entity's best and summed probability, while walks stream by:
 * two hops from a hub are a million walks, of which some thirty are shown. Shared by the trained walker and the baselines.
 */
import { createHash } from 'node:crypto';
import type { WalkTask } from '../datasets/walk-sample.js';
import type { Graph, Path, Triple } from '../src/kg/graph.js';
import type { Answer, RankedAnswer, RankedPath } from './agent.js';
import { boundedHeap } from './bounded-heap.js';

// Looked up once: they run for every walk, a million times a task.
const { exp, fround, imul } = Math;

/** Number of walks kept, and their order. */
export interface RankingSettings {
  /** Walks to keep; at least the largest k that is evaluated. */
  beamWidth: number;
  /** Added to the score of walks of two or more hops when ranking; their `logProb` stays what it was. Default 0. */
  twoHopBonus?: number;
  /** Orders equal scores, independently of ids. Default 0. */
  seed?: number;
  /** Adds the beam of LLM-ARK's reference to answers, for its metrics. Default false. */
  arkBeam?: boolean;
}

/** The ranked part of an `Answer`. */
export type Ranking = Required<Pick<Answer, 'paths' | 'answers' | 'confidence'>> & Pick<Answer, 'arkBeam'>;

/** Collects the walks of one task after another; `begin` empties it. */
export interface WalkCollector {
  begin(task: Pick<WalkTask, 'id' | 'start'>): void;
  /**
   * Offers a complete walk; each canonical walk once.
   * @param prefix -1 for a walk of one edge, else any number ≥ 0 by which `finish` asks for the steps before `last`
   * @param last edge index of the last step; -1 for staying at the start
   * @param logProb natural log; -Infinity is ignored
   */
  add(prefix: number, last: number, logProb: number): void;
  /**
   * Best walks first. Entities cover all walks that were offered, not only those kept: the `beamWidth` best by their
   * best walk and the `beamWidth` best by sum. Confidence is the first entity's share of the probability offered.
   * @param resolve the steps before the last of a walk; default: the prefix is the edge index of the first step
   */
  finish(resolve?: (prefix: number) => Path): Ranking;
}

/** The triple of an edge that leaves `head`. */
export function edgeTriple(graph: Graph, head: number, edge: number): Triple {
  return [head, graph.relations[edge]!, graph.tails[edge]!];
}

/**
 * Opens a collector; make one for an agent, not one for a task: it holds 24 bytes an entity. Equal scores (to float32) are ordered by a
 * hash of seed, task and walk, so that no order of ids, which may follow the order of the data, decides.
 */
export function walkCollector(graph: Graph, { beamWidth, twoHopBonus = 0, seed = 0 }: RankingSettings): WalkCollector {
  const walks = boundedHeap(beamWidth);
  const bestFinals = boundedHeap(beamWidth);
  const likelyFinals = boundedHeap(beamWidth);
  // Entity numEntities stands for a start that the graph lacks.
  const bestScore = new Float32Array(graph.numEntities + 1).fill(-Infinity);
  const bestTie = new Uint32Array(graph.numEntities + 1);
  const bestLogProb = new Float64Array(graph.numEntities + 1);
  /** Sum of exp(logProb − bestLogProb). */
  const mass = new Float64Array(graph.numEntities + 1);
  let touched: number[] = [];
  let start = -1;
  let salt = 0;

  return {
    begin(task) {
      for (const entity of touched) {
        bestScore[entity] = -Infinity;
        mass[entity] = 0;
      }
      touched = [];
      walks.clear();
      start = task.start;
      salt = saltOf(seed, task.id);
    },
    add(prefix, last, logProb) {
      if (logProb === -Infinity) return;
      const score = fround(prefix < 0 ? logProb : logProb + twoHopBonus);
      const tie = mix(mix(salt, prefix), last);
      walks.offer(score, tie, prefix, last, logProb);
      const entity = last >= 0 ? graph.tails[last]! : start >= 0 ? start : graph.numEntities;
      if (mass[entity] === 0) {
        touched.push(entity);
        bestLogProb[entity] = logProb;
        mass[entity] = 1;
      } else if (logProb > bestLogProb[entity]!) {
        mass[entity] = mass[entity]! * exp(bestLogProb[entity]! - logProb) + 1;
        bestLogProb[entity] = logProb;
      } else mass[entity]! += exp(logProb - bestLogProb[entity]!);
      if (score > bestScore[entity]! || (score === bestScore[entity] && tie < bestTie[entity]!)) {
        bestScore[entity] = score;
        bestTie[entity] = tie;
      }
    },
    finish(resolve = (edge) => [edgeTriple(graph, start, edge)]) {
      const paths: RankedPath[] = walks.drain().map(({ a: prefix, b: last, value: logProb }) => {
        const before = prefix < 0 ? [] : resolve(prefix);
        const head = before.at(-1)?.[2] ?? start;
        return { path: last < 0 ? before : [...before, edgeTriple(graph, head, last)], logProb };
      });
      bestFinals.clear();
      likelyFinals.clear();
      let total = 0;
      const offset = touched.reduce((max, entity) => Math.max(max, bestLogProb[entity]!), -Infinity);
      for (const entity of touched) {
        const summed = bestLogProb[entity]! + Math.log(mass[entity]!);
        total += exp(summed - offset);
        bestFinals.offer(bestScore[entity]!, bestTie[entity]!, entity, 0, summed);
        likelyFinals.offer(summed, bestTie[entity]!, entity, 0, summed);
      }
      const best = bestFinals.drain();
      const shown = new Set(best.map(({ a }) => a));
      // What only the sum lifts into sight ranks below by its best walk.
      const lifted = likelyFinals.drain().filter(({ a }) => !shown.has(a));
      lifted.sort((x, y) => bestScore[y.a]! - bestScore[x.a]! || bestTie[x.a]! - bestTie[y.a]!);
      const answers: RankedAnswer[] = [...best, ...lifted].map(({ a: entity, value: summedLogProb }) => {
        return { entity: entity < graph.numEntities ? entity : start, logProb: bestLogProb[entity]!, summedLogProb };
      });
      const confidence = answers.length === 0 ? 0 : Math.min(1, exp(answers[0]!.summedLogProb - offset) / total);
      return { paths, answers, confidence };
    },
  };
}

/** Scores the walks of one task; both ways to end are asked for, so their sum over a start's walks is usually 1. */
export interface WalkScores {
  oneHop(edge: number): number;
  /** For walks that continue after edge `first`: log-probability of the whole walk, by its second edge. */
  twoHops(first: number): (second: number) => number;
}

/** Scores every walk of one or two hops from the task's start, and ranks them: exact, O(two-hop walks). */
export function rankAllWalks(graph: Graph, task: WalkTask, scores: WalkScores, collector: WalkCollector): Ranking {
  collector.begin(task);
  const begin = task.start < 0 ? 0 : graph.offsets[task.start]!;
  const end = begin + graph.degree(task.start);
  for (let first = begin; first < end; first++) {
    collector.add(-1, first, scores.oneHop(first));
    const middle = graph.tails[first]!;
    const secondEnd = graph.offsets[middle + 1]!;
    const scoreOf = scores.twoHops(first);
    for (let second = graph.offsets[middle]!; second < secondEnd; second++) {
      collector.add(first, second, scoreOf(second));
    }
  }
  return collector.finish();
}

/** Int32 that `mix` begins with for the walks of a task. */
export function saltOf(seed: number, taskId: string): number {
  return createHash('sha256').update(`${seed}/${taskId}`).digest().readInt32LE(0);
}

/** Mixes 32 bits (MurmurHash3's finaliser); the order of its values follows no order of its arguments. */
export function mix(hash: number, value: number): number {
  let h = imul(hash ^ value, 0x9e3779b1);
  h = imul(h ^ (h >>> 16), 0x85ebca6b);
  h = imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Walks at random: what a score means when nothing is known. */
import type { Graph } from '../../src/kg/graph.js';
import type { Agent } from '../agent.js';
import type { WalkScores } from '../top-paths.js';
import { rankingAgent } from './baseline.js';
import type { BaselineContext } from './baseline.js';

/** Uniform over the edges of the start, then uniform over staying and the edges of the middle. */
export function randomBaseline(context: BaselineContext): Agent {
  return rankingAgent({ name: 'random' }, context, (task) => uniformScores(context.graph, task.start));
}

/** The walks from `start` as `random` scores them. */
export function uniformScores(graph: Graph, start: number): WalkScores {
  const first = -Math.log(graph.degree(start));
  const second = (edge: number) => first - Math.log(graph.degree(graph.tails[edge]!) + 1);
  return {
    oneHop: second,
    twoHops: (edge) => {
      const score = second(edge);
      return () => score;
    },
  };
}

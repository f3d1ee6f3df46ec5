/** Shared parts of dialogue baselines, which score all walks of one or two hops; and the two uninformed baselines. */
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkSample, WalkTask } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import type { Agent } from '../agent.js';
import { arkBeamOfScores } from '../ark-beam.js';
import { rankAllWalks, type RankingSettings, walkCollector, type WalkScores } from '../top-paths.js';

/** Inputs shared by all baselines. */
export interface BaselineContext {
  graph: Graph;
  /** The only samples a baseline may learn from; ids are those of `graph`. */
  train: readonly WalkSample[];
  ranking: RankingSettings;
}

/** Agent that ranks all walks from a task's start by the scores of `scoresOf`. */
export function rankingAgent(
  identity: Pick<Agent, 'name' | 'note'>,
  { graph, ranking }: BaselineContext,
  scoresOf: (task: WalkTask) => WalkScores,
): Agent {
  const collector = walkCollector(graph, ranking);
  return {
    ...identity,
    async answer(tasks, onProgress) {
      return tasks.map((task, i) => {
        const scores = scoresOf(task);
        const answer = {
          ...rankAllWalks(graph, task, scores, collector),
          ...(ranking.arkBeam && { arkBeam: arkBeamOfScores(graph, task, scores) }),
          cost: {},
        };
        onProgress?.(i + 1);
        return answer;
      });
    },
  };
}

/** Share of one-hop golds in train, among those in the graph, with add-one smoothing. */
export function oneHopShare(train: readonly WalkSample[]): number {
  const golds = train.filter(({ gold }) => gold.inGraph);
  golds.forEach(madeFromSamples('frequency table', 'share of one-hop walks'));
  return (golds.filter(({ gold }) => gold.path.length === 1).length + 1) / (golds.length + 2);
}

/**
 * Scores from one distribution over edges: first edge, then stop with a fixed probability or take a second edge. Without edges at the
 * middle the walk always stops.
 * @param edgeLogProbs float32 [numEdges], normalised per head
 */
export function stopPriorScores(graph: Graph, edgeLogProbs: Float32Array, stopShare: number): WalkScores {
  const stop = Math.log(stopShare);
  const goOn = Math.log(1 - stopShare);
  return {
    oneHop: (edge) => edgeLogProbs[edge]! + (graph.degree(graph.tails[edge]!) > 0 ? stop : 0),
    twoHops: (first) => {
      const before = edgeLogProbs[first]! + goOn;
      return (second) => before + edgeLogProbs[second]!;
    },
  };
}

/** Uniform over edges at both hops; stops after the first with train's share of one-hop golds. */
export function stopPriorBaseline(context: BaselineContext): Agent {
  const { graph, train } = context;
  const uniform = new Float32Array(graph.numEdges);
  for (let head = 0; head < graph.numEntities; head++) {
    uniform.fill(-Math.log(graph.degree(head)), graph.offsets[head]!, graph.offsets[head + 1]!);
  }
  const scores = stopPriorScores(graph, uniform, oneHopShare(train));
  return rankingAgent({ name: 'stop-prior' }, context, () => scores);
}

/** Uniform over the start's edges, then uniform over stop and the middle's edges. */
export function randomBaseline(context: BaselineContext): Agent {
  return rankingAgent({ name: 'random' }, context, (task) => uniformScores(context.graph, task.start));
}

/** Scores of `random` for walks from `start`. */
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

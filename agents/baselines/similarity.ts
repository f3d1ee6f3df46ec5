/** Similarity baselines: by text vectors to the last message, by TransE to the current entity. */
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkSample, WalkTask } from '../../datasets/walk-sample.js';
import type { EmbeddingTable } from '../../src/embedding/transe.js';
import { dot, type StateEncoder, unitRows } from '../../src/encoder/state-encoder.js';
import type { Graph } from '../../src/kg/graph.js';
import type { Agent } from '../agent.js';
import { entityTexts, lastMessageText, relationTexts } from '../dialogue-walker/vectors.js';
import { type BaselineContext, oneHopShare, rankingAgent, stopPriorScores } from './baseline.js';

/** Scale in nats per unit cosine, as cosines differ only by tenths. */
const sharpness = 20;

/** Token limits of the encoder. */
export type TextLimits = { lastMessageTokens: number; nameTokens: number };

/**
 * Edge probability: softmax over its head's edges of 20 · cos(last message, edge); an edge's vector is the sum of the unit vectors of its
 * relation and tail names, so only names are encoded. Stops after the first edge with train's share of one-hop golds.
 */
export async function textSimilarityBaseline(
  context: BaselineContext,
  encoder: StateEncoder,
  limits: TextLimits,
): Promise<Agent> {
  const { graph } = context;
  const relations = unitRows(await encoder.encode(relationTexts(graph), { maxTokens: limits.nameTokens }));
  const entities = unitRows(await encoder.encode(entityTexts(graph), { maxTokens: limits.nameTokens }));
  const edgeNorms = Float32Array.from(graph.tails, (tail, edge) =>
    Math.sqrt(Math.max(1e-6, 2 + 2 * dot(relations[graph.relations[edge]!]!, entities[tail]!))),
  );
  const messages = new Map<string, Float32Array>();
  const edgeLogProbs = new Float32Array(graph.numEdges);
  const scores = stopPriorScores(graph, edgeLogProbs, oneHopShare(context.train));
  /** Computes the edge distributions needed for walks from a start. */
  const prepare = (message: Float32Array, start: number) => {
    const relationDots = Float32Array.from(graph.relationNames, (_, relation) => dot(message, relations[relation]!));
    const entityDots = new Map<number, number>();
    const starts = graph.tails.subarray(graph.offsets[start]!, graph.offsets[start + 1]!);
    for (const head of new Set([start, ...starts])) {
      for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
        const tail = graph.tails[edge]!;
        let entityDot = entityDots.get(tail);
        if (entityDot === undefined) entityDots.set(tail, (entityDot = dot(message, entities[tail]!)));
        edgeLogProbs[edge] = (relationDots[graph.relations[edge]!]! + entityDot) / edgeNorms[edge]!;
      }
      headLogSoftmax(graph, edgeLogProbs, sharpness, head, edgeLogProbs);
    }
  };
  const ranker = rankingAgent({ name: 'text-similarity' }, context, (task) => {
    if (task.start >= 0) prepare(messages.get(task.id)!, task.start);
    return scores;
  });
  return {
    ...ranker,
    async answer(tasks: readonly WalkTask[], onProgress) {
      const vectors = unitRows(
        await encoder.encode(tasks.map(lastMessageText), { maxTokens: limits.lastMessageTokens }),
      );
      messages.clear();
      tasks.forEach((task, i) => messages.set(task.id, vectors[i]!));
      const answers = await ranker.answer(tasks, onProgress);
      return answers.map((answer) => ({ ...answer, cost: { encodes: 1 } }));
    },
  };
}

/**
 * Edge probability: softmax over the head's edges of the negative distance |head − tail|, sharpness fitted to train's first edges; stops
 * after the first edge with train's share of one-hop golds. The triple score |head + relation − tail| would only say if an edge is true:
 * all candidates are, and it ranks no better than chance.
 * @param table of the graph in `context`
 */
export function transeBaseline(context: BaselineContext, table: EmbeddingTable): Agent {
  const { graph, train } = context;
  const similarity = new Float32Array(graph.numEdges);
  for (let head = 0; head < graph.numEntities; head++) {
    for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
      similarity[edge] = -entityDistance(table, head, graph.tails[edge]!);
    }
  }
  const sharpness = fittedSharpness(graph, similarity, train);
  const edgeLogProbs = new Float32Array(graph.numEdges);
  for (let head = 0; head < graph.numEntities; head++) headLogSoftmax(graph, similarity, sharpness, head, edgeLogProbs);
  const walkScores = stopPriorScores(graph, edgeLogProbs, oneHopShare(train));
  return rankingAgent({ name: 'transe' }, context, () => walkScores);
}

function entityDistance({ entities, dim, norm }: EmbeddingTable, a: number, b: number): number {
  let sum = 0;
  for (let k = 0; k < dim; k++) {
    const difference = entities[a * dim + k]! - entities[b * dim + k]!;
    sum += norm === 1 ? Math.abs(difference) : difference * difference;
  }
  return norm === 1 ? sum : Math.sqrt(sum);
}

/** Candidate sharpnesses; 0 is uniform. */
const sharpnesses = [0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64];

/** Log-softmax of a head's edge scores, higher is likelier, written to `logProbs` [numEdges], which may be `scores`. */
function headLogSoftmax(
  graph: Graph,
  scores: Float32Array,
  sharpness: number,
  head: number,
  logProbs: Float32Array,
): void {
  const logSum = headLogSum(graph, scores, sharpness, head);
  for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
    logProbs[edge] = sharpness * scores[edge]! - logSum;
  }
}

/** Sharpness that maximises the likelihood of the first edges of train golds. */
function fittedSharpness(graph: Graph, scores: Float32Array, train: readonly WalkSample[]): number {
  const known = train.filter(({ gold }) => gold.inGraph);
  known.forEach(madeFromSamples('training', 'sharpness of edge scores'));
  const golds = known.map(({ gold }) => gold.path[0]!);
  const logLikelihood = (sharpness: number) => {
    const logSums = new Map<number, number>();
    let sum = 0;
    for (const [head, relation, tail] of golds) {
      let logSum = logSums.get(head);
      if (logSum === undefined) logSums.set(head, (logSum = headLogSum(graph, scores, sharpness, head)));
      sum += sharpness * scores[graph.edgeIndex(head, relation, tail)]! - logSum;
    }
    return sum;
  };
  const likelihoods = sharpnesses.map(logLikelihood);
  return sharpnesses[likelihoods.indexOf(Math.max(...likelihoods))]!;
}

function headLogSum(graph: Graph, scores: Float32Array, sharpness: number, head: number): number {
  const begin = graph.offsets[head]!;
  const end = graph.offsets[head + 1]!;
  let max = -Infinity;
  for (let edge = begin; edge < end; edge++) max = Math.max(max, sharpness * scores[edge]!);
  let sum = 0;
  for (let edge = begin; edge < end; edge++) sum += Math.exp(sharpness * scores[edge]! - max);
  return max + Math.log(sum);
}

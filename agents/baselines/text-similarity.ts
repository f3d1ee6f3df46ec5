/** Walks to what sounds most like the last message: what the text vectors know before anything is learned. */
import type { WalkTask } from '../../datasets/walk-sample.js';
import { dot, type StateEncoder, unitRows } from '../../src/encoder/state-encoder.js';
import type { Agent } from '../agent.js';
import { entityTexts, lastMessageText, relationTexts } from '../walker/features/dialogue-texts.js';
import { type BaselineContext, oneHopShare, rankingAgent, stopPriorScores } from './baseline.js';
import { headLogSoftmax } from './edge-softmax.js';

/** Cosines differ by tenths; this many nats a unit makes them a distribution. */
const sharpness = 20;

/** Most tokens that the encoder reads of a message and of a name. */
export interface TextLimits {
  /** Longest last message in tokens. */
  lastMessageTokens: number;
  /** Longest name in tokens. */
  nameTokens: number;
}

/**
 * An edge's probability is the softmax over its head's edges of 20 · cos(last message, edge); the vector of an edge is the
 * sum of the unit vectors of its relation's and its tail's text, so that only names are encoded, not every edge. Stops
 * after the first edge with train's share of one-hop golds.
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
  /** Writes the distributions that walks from a start meet. */
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
  const ranker = rankingAgent({ name: 'text-similarity', note: `vectors of ${encoder.name}` }, context, (task) => {
    if (task.start >= 0) prepare(messages.get(task.id)!, task.start);
    return scores;
  });
  return {
    ...ranker,
    async answer(tasks: readonly WalkTask[], onProgress) {
      const before = encoder.counters.encodes;
      const vectors = unitRows(
        await encoder.encode(tasks.map(lastMessageText), { maxTokens: limits.lastMessageTokens }),
      );
      messages.clear();
      tasks.forEach((task, i) => messages.set(task.id, vectors[i]!));
      const answers = await ranker.answer(tasks, onProgress);
      // A batch shares its encodes; they are booked on its first answer.
      const encodes = encoder.counters.encodes - before;
      return answers.map((answer, i) => (i === 0 ? { ...answer, cost: { encodes } } : answer));
    },
  };
}

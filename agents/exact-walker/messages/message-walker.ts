/**
 * Exact walkers with a state: message passing over all walks of three hops, trained to tell the answer of a train query from some other
 * entities. Its walks are no probabilities, so nothing speaks for an answer but its score; beside chains (`RUN+RUN`) those speak for both.
 */
import { optimizerPrefix } from '../../../checkpoints/checkpoint.js';
import { numTails, type RelationRows, relationRows, rowOf } from '../../../src/kg/relation-rows.js';
import { Rng } from '../../../src/run/seeds.js';
import { explainedLater } from '../../../src/tensor/diverged.js';
import { HostAdamW } from '../../../src/tensor/host/host-adamw.js';
import { scorerRanker } from '../../link-agents.js';
import type { ExactCourse, ExactFacts, ExactLearner, ExactWalker, ExactWalkerKind } from '../exact-walker.js';
import type { MessageSettings } from '../settings.js';
import { MessageNetwork } from './message-network.js';

/** The kind `messages`. */
export const messageWalker: ExactWalkerKind = {
  title: 'messages',
  create: createMessageWalker,
  plan: ({ settings: { messages } }) => `${messages.steps} steps of ${messages.batchSize} train queries`,
};

function createMessageWalker(facts: ExactFacts): ExactWalker {
  const { graph, settings, seed } = facts;
  const network = new MessageNetwork(graph, seed);
  const { parameters } = network;
  const optimizer = new HostAdamW(parameters, { maxGradNorm: settings.messages.maxGradNorm });
  const rows = relationRows(graph);
  return {
    ranker: (name) => messageRanker(name, facts, network, rows),
    learner: (course) => messageLearner(facts, course, network, optimizer, rows),
    async state() {
      const { steps, tensors } = await optimizer.exportState(optimizerPrefix);
      return { steps, tensors: { ...(await parameters.export()), ...tensors } };
    },
    restore(tensors, steps) {
      parameters.import(tensors);
      if (steps !== undefined) optimizer.importState(optimizerPrefix, steps, tensors);
    },
  };
}

function messageRanker(name: string, { graph }: ExactFacts, network: MessageNetwork, rows: RelationRows) {
  const { numEntities } = graph;
  const known = Int32Array.from({ length: numEntities }, (_, entity) => entity).filter(
    (entity) => graph.degree(entity) > 0,
  );
  const scores = new Float64Array(known.length);
  return scorerRanker(
    {
      ...{ name, numEntities },
      scoreTails(head, relation, out) {
        const inverse = graph.inverseOf[relation]!;
        network.score(head, relation, undefined, known, (entity) => numTails(rows, inverse, entity), scores);
        network.clear(known);
        known.forEach((entity, i) => (out[entity] = scores[i]!));
      },
    },
    graph,
  );
}

function messageLearner(
  { graph, settings, seed }: ExactFacts,
  { queries, pairs }: ExactCourse,
  network: MessageNetwork,
  optimizer: HostAdamW,
  rows: RelationRows,
): ExactLearner {
  const { messages } = settings;
  const { steps, batchSize } = messages;
  const candidatesOf = candidateDrawer(graph, rows, messages);
  const train = (place: number, rng: Rng): number => {
    const [head, relation, tail] = [queries.heads[place]!, queries.relations[place]!, queries.tails[place]!];
    const inverse = graph.inverseOf[relation]!;
    const entities = candidatesOf(head, relation, tail, rng);
    const scores = new Float64Array(entities.length);
    const frequency = (entity: number) => numTails(rows, inverse, entity) - Number(entity === tail);
    network.score(head, relation, { tail, relation, inverse, pairs }, entities, frequency, scores);
    const loss = softmaxLoss(scores, batchSize);
    network.back(entities, scores);
    network.clear(entities);
    return loss;
  };
  return {
    ...{ steps, unit: 'steps', close: () => Promise.resolve() },
    async step(at) {
      const rng = Rng.named(seed, 'messages/batch', at);
      const learningRate = learningRateAt(at, messages);
      let loss = 0;
      const gradNorm = await explainedLater(
        () => ({ place: { step: at + 1 }, loss }),
        () =>
          optimizer.step(() => {
            for (let i = 0; i < batchSize; i++) loss += train(rng.integer(queries.heads.length), rng) / batchSize;
            return Promise.resolve();
          }, learningRate),
      );
      return { loss, figures: { 'train/grad_norm': gradNorm, 'train/learning_rate': learningRate } };
    },
  };
}

function learningRateAt(step: number, { steps, warmupSteps, learningRate }: MessageSettings): number {
  if (step < warmupSteps) return (learningRate * (step + 1)) / warmupSteps;
  return (learningRate * (steps - step)) / Math.max(1, steps - warmupSteps);
}

/** Cross-entropy of the first among all. @param scores become its slopes, over the batch */
function softmaxLoss(scores: Float64Array, batchSize: number): number {
  const most = scores.reduce((all, one) => Math.max(all, one), -Infinity);
  const sum = scores.reduce((all, one) => all + Math.exp(one - most), 0);
  const loss = most + Math.log(sum) - scores[0]!;
  for (let i = 0; i < scores.length; i++) {
    scores[i] = (Math.exp(scores[i]! - most) / sum - Number(i === 0)) / batchSize;
  }
  return loss;
}

/** The answer, then whom it is told from: each once, other known answers left out. */
function candidateDrawer(
  { numEntities, numEdges, tails, inverseOf }: ExactFacts['graph'],
  rows: RelationRows,
  settings: MessageSettings,
) {
  const taken = new Uint8Array(numEntities);
  return (head: number, relation: number, tail: number, rng: Rng): Int32Array => {
    const row = rowOf(rows, relation, head);
    const known = row < 0 ? [] : rows.tails.subarray(rows.edges[row], rows.edges[row + 1]);
    for (const entity of known) taken[entity] = 1;
    taken[tail] = 1;
    const chosen = [tail];
    const add = (entity: number) => {
      if (taken[entity] === 1) return;
      taken[entity] = 1;
      chosen.push(entity);
    };
    const inverse = inverseOf[relation]!;
    const [begin, end] = [rows.begins[inverse]!, rows.begins[inverse + 1]!];
    for (let i = 0; i < settings.answers && end > begin; i++) add(rows.heads[begin + rng.integer(end - begin)]!);
    for (let i = 0; i < settings.ends; i++) add(tails[rng.integer(numEdges)]!);
    for (let i = 0; i < settings.others; i++) add(rng.integer(numEntities));
    for (const entity of chosen) taken[entity] = 0;
    for (const entity of known) taken[entity] = 0;
    return Int32Array.from(chosen);
  };
}

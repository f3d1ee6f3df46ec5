/**
 * Message passing (NBFNet) as an exact walker: trained to separate the answer of a train query from sampled negatives. It has no walk
 * probabilities, so it cannot explain answers; in an ensemble with a chain mixture (`RUN+RUN`) the chains explain both.
 */
import { optimizerPrefix } from '../../../checkpoints/checkpoint.js';
import { type RelationRows, relationRows } from '../../../src/kg/relation-rows.js';
import { inSharedMemory, startWorkers } from '../../../src/run/worker-pool.js';
import { eventLoopYielder } from '../../../src/run/stop.js';
import { AdamW } from '../../../src/nn/adamw.js';
import { scorerRanker } from '../../link-ranker.js';
import type { ExactTrainerOptions, ExactFacts, ExactTrainer, ExactWalker, ExactWalkerKind } from '../exact-walker.js';
import type { MessageSettings } from '../settings.js';
import { type BatchPart, type MessageWork, mostParts, partGradients } from './learn-batch.js';
import { MessageNetwork } from './message-network.js';
import { NamedWeights, nameTensors } from './relation-names.js';

/** The kind `messages`. */
export const messageWalker: ExactWalkerKind = {
  title: 'messages',
  mostHops: 8,
  readsNames: ({ messages }) => messages.relations === 'names',
  suitsOthers: ({ messages }) => messages.relations !== 'own',
  create: createMessageWalker,
  plan: ({ settings: { messages } }) => `${messages.steps} steps of ${messages.batchSize} train queries`,
};

function createMessageWalker(facts: ExactFacts): ExactWalker {
  const { graph, settings, hops, seed, names } = facts;
  const sizes = { hops, ...settings.messages };
  const network = new MessageNetwork(graph, sizes, seed);
  const named = names && new NamedWeights(network.parameters, graph.numRelations, sizes, names, seed);
  const { parameters } = named ?? network;
  const optimizer = new AdamW(parameters, { maxGradNorm: settings.messages.maxGradNorm });
  const rows = relationRows(graph);
  return {
    ranker: (name) => messageRanker(name, facts, network, rows),
    trainer: (options) => messageTrainer(facts, options, { network, named, optimizer, rows }),
    async state() {
      const { steps, tensors } = await optimizer.exportState(optimizerPrefix);
      return { steps, tensors: { ...(await parameters.export()), ...tensors, ...(names && nameTensors(names)) } };
    },
    restore(tensors, steps) {
      parameters.import(tensors);
      named?.spread();
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
  /** Count of each entity as an answer of the query relation. */
  const frequencies = new Int32Array(numEntities);
  return scorerRanker(
    {
      name,
      numEntities,
      scoreTails(head, relation, out) {
        const inverse = graph.inverseOf[relation]!;
        frequencies.fill(0);
        for (let row = rows.begins[inverse]!; row < rows.begins[inverse + 1]!; row++) {
          frequencies[rows.heads[row]!] = rows.edges[row + 1]! - rows.edges[row]!;
        }
        network.score(head, relation, undefined, known, (entity) => frequencies[entity]!, scores);
        known.forEach((entity, i) => (out[entity] = scores[i]!));
      },
    },
    graph,
  );
}

/** Trained parameters: with `named`, the network's weights are computed from them. */
type Learned = { network: MessageNetwork; named: NamedWeights | undefined; optimizer: AdamW; rows: RelationRows };

function messageTrainer(
  { graph, settings, hops, seed }: ExactFacts,
  { queries, pairs, threads, signal }: ExactTrainerOptions,
  { network, named, optimizer, rows }: Learned,
): ExactTrainer {
  const { messages } = settings;
  const { steps } = messages;
  const { arena, kernels, values, grads } = network.parameters;
  const parts = Math.min(messages.batchSize, mostParts);
  const work: MessageWork = {
    ...{ graph: graph.shared(), rows, settings: messages, hops, seed, pairs, values },
    queries: inSharedMemory(queries),
    grads: Array.from({ length: parts }, () => arena.float32(grads.length)),
  };
  const pool =
    threads === 1
      ? undefined
      : startWorkers<BatchPart, number>({
          work: 'learning from messages',
          module: new URL('./learn-batch.js', import.meta.url),
          threads: Math.min(threads, parts),
          data: work,
          memoryHint: 'Lower --threads.',
          signal,
        });
  const alone = pool ? undefined : partGradients(work, network);
  const turn = eventLoopYielder(signal);
  const learn = async (step: number): Promise<number[]> => {
    const asked = work.grads.map((_, part): BatchPart => ({ step, part }));
    if (pool) return Promise.all(asked.map((one) => pool.run(one)));
    const losses: number[] = [];
    for (const one of asked) {
      await turn();
      losses.push(alone!(one));
    }
    return losses;
  };
  return {
    steps,
    unit: 'steps',
    async step(at) {
      const learningRate = learningRateAt(at, messages);
      const loss = (await learn(at)).reduce((sum, one) => sum + one, 0);
      optimizer.zeroGrad();
      for (const own of work.grads) kernels.addBias(grads.byteOffset, own.byteOffset, 1, grads.length);
      named?.gather();
      const gradNorm = await optimizer.step(learningRate);
      named?.spread();
      return { loss, figures: { 'train/grad_norm': gradNorm, 'train/learning_rate': learningRate } };
    },
    close: () => pool?.close() ?? Promise.resolve(),
  };
}

function learningRateAt(step: number, { steps, warmupSteps, learningRate }: MessageSettings): number {
  if (step < warmupSteps) return (learningRate * (step + 1)) / warmupSteps;
  return (learningRate * (steps - step)) / Math.max(1, steps - warmupSteps);
}

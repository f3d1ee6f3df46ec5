/**
 * EmbedKGQA: the question becomes the vector of a new relation, and the answer is the entity that ComplEx scores highest as
 * its tail. Nothing is walked; relation matching, where it is switched on, walks from the topic.
 *
 * @source Saxena, Tripathi and Talukdar 2020, "Improving multi-hop question answering over knowledge graphs using knowledge
 * base embeddings", ACL; differences: docs/readers.md
 */
import { optimizerPrefix } from '../../../checkpoints/checkpoint.js';
import { excludedTopics, maskedQuestion, type QuestionSample, type QuestionTask } from '../../../datasets/question.js';
import { madeFromSamples } from '../../../datasets/sample-source.js';
import { Rng } from '../../../src/run/seeds.js';
import { HostAdamW } from '../../../src/tensor/host/host-adamw.js';
import { noAnswer } from '../../question-agent.js';
import type { ReaderBasis, ReaderFacts } from '../facts.js';
import type { Reader, ReaderKind } from '../reader.js';
import { ScaledTexts, scaleOf, sentenceBasis } from '../words/inputs.js';
import { emptyWeights, factsBatch, factsStep, fillTable, fittedTable, memory, tableTensors } from './fitted-table.js';
import { questionSide } from './question-side.js';
import { type AskedBatch, questionStep } from './question-step.js';
import { answerRanking } from './ranking.js';
import { ShortestRelations } from './shortest-relations.js';

const squares = `${optimizerPrefix}squares/`;

/** EmbedKGQA as a reader. */
export const embedKgqa: ReaderKind = {
  title: 'EmbedKGQA, frozen sentence vectors + MLP',
  networkSize: ({ fit, questionWidth }, textDim) => ({
    rows: fit.batchSize,
    inputs: textDim,
    units: questionWidth,
    onHost: true,
  }),
  hopsGiven: () => false,
  problems: ({ hops, reads }) => [
    ...(hops === null
      ? []
      : [`expected reader.hops=null with reader.kind=embed-kgqa, which walks no chain, got ${hops}`]),
    ...(reads === 'sentence'
      ? []
      : [`expected reader.reads=sentence with reader.kind=embed-kgqa, which reads no words, got ${reads}`]),
  ],
  texts: (_facts, tasks) => tasks.map(maskedQuestion),
  async basis(facts, train, signal) {
    const { graph, settings, seed } = facts;
    const { state, tensors } = await sentenceBasis(facts, train, signal);
    const weights = await fittedTable(graph, settings.table, seed, signal);
    return { state, tensors: { ...tensors, ...tableTensors(weights, squares) } };
  },
  create: (facts, basis) => Promise.resolve(embedKgqaReader(facts, basis)),
};

/** The entity that a question is about: its first topic that the graph has. */
const topicOf = ({ topics }: QuestionTask) => topics.find(({ entity }) => entity >= 0)?.entity;

function embedKgqaReader(
  { graph, settings, horizon, maxTokens, encoder, seed }: ReaderFacts,
  basis: ReaderBasis,
): Reader {
  const { matching, negatives, questionWidth: width, table: tableSettings, fit } = settings;
  const { arena, kernels } = memory();
  const weights = arena.hold(emptyWeights(graph, tableSettings.dim));
  fillTable(weights, basis.tensors, squares);
  const texts = new ScaledTexts(encoder, scaleOf(basis, encoder.dim), maxTokens);
  const matched = matching > 0 ? graph.numRelations : 0;
  const { dim } = weights.table;
  const network = questionSide({ inputs: encoder.dim, width, dim, matched }, arena, kernels, seed);
  const optimizer = new HostAdamW(network.parameters, { maxGradNorm: fit.maxGradNorm });
  let steps: ReturnType<typeof training> | undefined;
  let rank: ReturnType<typeof answerRanking> | undefined;
  const note = madeFromSamples('training', 'EmbedKGQA');

  /** Made when it is first needed: who answers only has no use for the memory. */
  function training() {
    const around = new ShortestRelations(graph);
    const known = new Map<string, Float32Array>();
    return {
      facts: factsStep(graph, weights, tableSettings, arena, kernels),
      questions: questionStep(weights, network, optimizer, negatives),
      /** For each relation the share of a question's answers that have it on a shortest path from the topic: no gold chain is read. */
      relationsOf({ task: { id } }: QuestionSample, topic: number, answers: readonly number[]) {
        let shares = known.get(id);
        if (!shares) known.set(id, (shares = around.onPaths(topic, horizon, answers)));
        return shares;
      },
    };
  }

  return {
    prepare: (tasks, signal) => texts.prepare(tasks.map(maskedQuestion), signal),
    async step(samples, { step, learningRate }) {
      steps ??= training();
      const { facts, questions, relationsOf } = steps;
      const batch: AskedBatch = { vectors: new Float32Array(0), topics: [], answers: [], relations: [] };
      const asked: QuestionSample[] = [];
      const topics: number[] = [];
      const answers: number[][] = [];
      for (const sample of samples) {
        note(sample);
        const topic = topicOf(sample.task);
        const some = [...new Set(sample.gold.answers.map(({ entity }) => entity).filter((entity) => entity >= 0))];
        if (topic === undefined || some.length === 0) continue;
        asked.push(sample);
        topics.push(topic);
        answers.push(some);
      }
      if (asked.length === 0) return { loss: 0, gradNorm: 0, figures: { 'train/asked': 0 } };
      const masked = asked.map(({ task }) => maskedQuestion(task));
      await texts.prepare(masked);
      const relations = matched > 0 ? asked.map((sample, i) => relationsOf(sample, topics[i]!, answers[i]!)) : [];
      Object.assign(batch, { vectors: texts.matrix(masked), topics, answers, relations });

      const tableRate = (tableSettings.trainedOn * learningRate) / fit.learningRate;
      const withFacts = tableSettings.factsWeight > 0 && tableRate > 0;
      const rng = Rng.named(seed, 'embed-kgqa/step', step);
      const drawn = Int32Array.from({ length: withFacts ? factsBatch : 0 }, () => rng.integer(facts.count));
      const ofFacts = withFacts ? facts.step.grad(drawn, rng) : 0;
      const figures = await questions.train(batch, { network: learningRate, table: tableRate }, rng);
      if (withFacts) facts.step.move(tableRate, tableSettings.factsWeight);
      return {
        loss: figures.ranking + figures.matching,
        gradNorm: figures.gradNorm,
        figures: {
          'train/asked': asked.length / samples.length,
          ...(withFacts && { 'train/facts_loss': ofFacts }),
          ...(matched > 0 && { 'train/matching_loss': figures.matching }),
        },
      };
    },
    async answer(task, { trace, signal }) {
      if (task.form !== 'entities') return noAnswer('form');
      const topic = topicOf(task);
      if (topic === undefined) return noAnswer('no topic');
      trace({ event: 'start', entities: [topic] });
      const text = maskedQuestion(task);
      await texts.prepare([text], signal);
      const { values } = network.outputs(texts.matrix([text]), 1);
      rank ??= answerRanking(weights.table, graph, settings, horizon, arena, kernels);
      const question = { vector: values.subarray(0, dim), relations: values.subarray(dim, dim + matched) };
      const { entities, confidence, wanted } = rank(question, topic, excludedTopics(task));
      if (entities.length === 0) return noAnswer('no candidate');
      if (wanted.length > 0) {
        trace({ event: 'note', text: `matches ${wanted.map((relation) => graph.relationNames[relation]).join(', ')}` });
      }
      trace({ event: 'stop', reason: 'ranked' });
      return {
        entities,
        literals: [],
        evidence: [],
        degraded: false,
        confidence,
        stop: 'ranked',
        cost: { encodes: 1 },
      };
    },
    async state() {
      const { steps: done, tensors } = await optimizer.exportState(optimizerPrefix);
      return {
        steps: done,
        tensors: { ...(await network.parameters.export()), ...tensors, ...tableTensors(weights, squares) },
      };
    },
    restore(tensors, done) {
      network.parameters.import(tensors);
      fillTable(weights, tensors, done === undefined ? undefined : squares);
      if (done !== undefined) optimizer.importState(optimizerPrefix, done, tensors);
    },
    dispose() {
      // Its memory goes when nothing refers to it any more.
    },
  };
}

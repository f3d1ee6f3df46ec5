import { SimdExecutor } from '../../../src/nn/simd/executor.js';
/**
 * EmbedKGQA: the question becomes the vector of a new relation, and the answer is the entity that ComplEx scores highest as
 * its tail. Nothing is walked; relation matching, where it is switched on, walks from the topic.
 *
 * @source Saxena, Tripathi and Talukdar 2020, "Improving multi-hop question answering over knowledge graphs using knowledge
 * base embeddings", ACL; differences: docs/methods/readers.md
 */
import { optimizerPrefix } from '../../../checkpoints/checkpoint.js';
import { excludedTopics, maskedQuestion, type QuestionSample, type QuestionTask } from '../../../datasets/question.js';
import { Rng } from '../../../src/run/seeds.js';
import type { StoredTensors } from '../../../src/nn/parameters.js';
import type { BilinearWeights } from '../../embeddings/bilinear/step.js';
import { noAnswer, type QuestionSession } from '../../question-agent.js';
import type { ReaderBasis, ReaderFacts } from '../facts.js';
import type { Reader, ScheduledStep, ReaderKind, ReaderStep } from '../reader.js';
import { ScaledTexts } from '../../relation-walker/question-vectors.js';
import { scaleOf, sentenceBasis } from '../words/inputs.js';
import { emptyWeights, factsBatch, factsStep, fillTable, fittedTable, tableTensors } from './fitted-table.js';
import { QuestionSide } from './question-side.js';
import { type AskedBatch, QuestionStep } from './question-step.js';
import { answerRanking } from './ranking.js';
import { ShortestRelations } from './shortest-relations.js';

const squares = `${optimizerPrefix}squares/`;

/** EmbedKGQA as a reader. */
export const embedKgqa: ReaderKind = {
  title: 'EmbedKGQA, frozen sentence vectors + MLP',
  networkSize: ({ fit, questionWidth }, textDim) => ({ rows: fit.batchSize, inputs: textDim, units: questionWidth }),
  hopsGiven: () => false,
  problems: ({ hops, reads }) => [
    hops !== null && `expected reader.hops=null with reader.kind=embed-kgqa, which walks no chain, got ${hops}`,
    reads !== 'sentence' &&
      `expected reader.reads=sentence with reader.kind=embed-kgqa, which reads no words, got ${reads}`,
  ],
  async basis(facts, train, signal) {
    const { graph, settings, seed } = facts;
    const { state, tensors } = await sentenceBasis(facts, train, signal);
    const weights = await fittedTable(graph, settings.table, seed, signal);
    return { state, tensors: { ...tensors, ...tableTensors(weights, squares) } };
  },
  create: (facts, basis) => new EmbedKgqaReader(facts, basis),
};

/** The entity that a question is about: its first topic that the graph has. */
const topicOf = ({ topics }: QuestionTask) => topics.find(({ entity }) => entity >= 0)?.entity;

class EmbedKgqaReader implements Reader {
  readonly #facts: ReaderFacts;
  readonly #weights: BilinearWeights;
  readonly #texts: ScaledTexts;
  readonly #network: QuestionSide;
  readonly #executor = new SimdExecutor();
  /** Made when they are first needed: their memory is of no use to one that only answers, or only trains. */
  #training: ReturnType<EmbedKgqaReader['train']> | undefined;
  #rank: ReturnType<typeof answerRanking> | undefined;

  constructor(facts: ReaderFacts, basis: ReaderBasis) {
    const { graph, settings, maxTokens, encoder, seed } = facts;
    this.#facts = facts;
    this.#weights = this.#executor.arena.hold(emptyWeights(graph, settings.table.dim));
    fillTable(this.#weights, basis.tensors, squares);
    this.#texts = new ScaledTexts(encoder, scaleOf(basis, encoder.dim), maxTokens);
    const { questionWidth: width, fit } = settings;
    const { dim } = this.#weights.table;
    const matched = settings.matching > 0 ? graph.numRelations : 0;
    this.#network = new QuestionSide(
      { inputs: encoder.dim, width, dim, matched },
      seed,
      fit.maxGradNorm,
      this.#executor,
    );
  }

  private train() {
    const { graph, settings, horizon } = this.#facts;
    const around = new ShortestRelations(graph);
    const known = new Map<string, Float32Array>();
    return {
      facts: factsStep(graph, this.#weights, settings.table, this.#executor.arena, this.#executor.kernels),
      questions: new QuestionStep(this.#weights, this.#network, settings.negatives),
      /** For each relation the share of a question's answers that have it on a shortest path from the topic: no gold chain is read. */
      relationsOf({ id, topic, answers }: Asked) {
        let shares = known.get(id);
        if (!shares) known.set(id, (shares = around.onPaths(topic, horizon, answers)));
        return shares;
      },
    };
  }

  prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void> {
    return this.#texts.prepare(tasks.map(maskedQuestion), signal);
  }

  async step(samples: readonly QuestionSample[], { step, learningRate }: ScheduledStep): Promise<ReaderStep> {
    const { facts, questions, relationsOf } = (this.#training ??= this.train());
    const { settings, seed } = this.#facts;
    const { table, fit } = settings;
    const asked = samples.flatMap(askedOf);
    if (asked.length === 0) return { loss: 0, gradNorm: 0, figures: { 'train/asked': 0 } };
    const masked = asked.map(({ text }) => text);
    await this.#texts.prepare(masked);
    const batch: AskedBatch = {
      vectors: this.#texts.matrix(masked),
      topics: asked.map(({ topic }) => topic),
      answers: asked.map(({ answers }) => answers),
      relations: settings.matching > 0 ? asked.map(relationsOf) : [],
    };
    const tableRate = (table.trainedOn * learningRate) / fit.learningRate;
    const withFacts = table.factsWeight > 0 && tableRate > 0;
    const rng = Rng.named(seed, 'embed-kgqa/step', step);
    const drawn = Int32Array.from({ length: withFacts ? factsBatch : 0 }, () => rng.integer(facts.count));
    const ofFacts = withFacts ? facts.step.grad(drawn, rng) : 0;
    const { ranking, matching, gradNorm } = await questions.train(
      batch,
      { network: learningRate, table: tableRate },
      rng,
    );
    if (withFacts) facts.step.move(tableRate, table.factsWeight);
    const figures = {
      'train/asked': asked.length / samples.length,
      ...(withFacts && { 'train/facts_loss': ofFacts }),
      ...(settings.matching > 0 && { 'train/matching_loss': matching }),
    };
    return { loss: ranking + matching, gradNorm, figures };
  }

  async answer(task: QuestionTask, { trace, signal }: Pick<QuestionSession, 'trace' | 'signal'>) {
    if (task.form !== 'entities') return noAnswer('form');
    const topic = topicOf(task);
    if (topic === undefined) return noAnswer('no topic');
    trace({ event: 'start', entities: [topic] });
    const text = maskedQuestion(task);
    await this.#texts.prepare([text], signal);
    const { graph, settings, horizon } = this.#facts;
    const { table } = this.#weights;
    const { values } = this.#network.outputs(this.#texts.matrix([text]));
    this.#rank ??= answerRanking(table, graph, settings, horizon, this.#executor.arena, this.#executor.kernels);
    const [vector, relations] = [values.subarray(0, table.dim), values.subarray(table.dim)];
    const { entities, confidence, wanted } = this.#rank(vector, relations, topic, excludedTopics(task));
    if (entities.length === 0) return noAnswer('no candidate');
    if (wanted.length > 0) {
      trace({ event: 'note', text: `matches ${wanted.map((relation) => graph.relationNames[relation]).join(', ')}` });
    }
    trace({ event: 'stop', reason: 'ranked' });
    return { ...noAnswer('ranked'), entities, confidence, cost: { encodes: 1 } };
  }

  async state() {
    const { steps, tensors } = await this.#network.state();
    return { steps, tensors: { ...tensors, ...tableTensors(this.#weights, squares) } };
  }

  restore(tensors: StoredTensors, steps?: number): void {
    this.#network.restore(tensors, steps);
    fillTable(this.#weights, tensors, steps === undefined ? undefined : squares);
  }

  dispose(): void {
    // Its memory goes when nothing refers to it any more.
  }
}

/** A question with a topic and answers in the graph. */
type Asked = { id: string; text: string; topic: number; answers: number[] };

function askedOf({ task, gold }: QuestionSample): Asked[] {
  const topic = topicOf(task);
  const answers = [...new Set(gold.answers.map(({ entity }) => entity).filter((entity) => entity >= 0))];
  return topic === undefined || answers.length === 0
    ? []
    : [{ id: task.id, text: maskedQuestion(task), topic, answers }];
}

/**
 * Training step of EmbedKGQA on questions: the question's vector replaces a relation of ComplEx, and its answers compete with
 * sampled candidates.
 */
import { type BilinearTable, composeQuery } from '../../../src/embedding/bilinear.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { addQueryGradient, moveRow, softmaxGrad } from '../../embeddings/bilinear/gradients.js';
import { type BilinearWeights, divergedTable, touchList } from '../../embeddings/bilinear/step.js';
import type { QuestionSide } from './question-side.js';

export interface AskedBatch {
  /** float32 [questions, inputs]. */
  vectors: Float32Array;
  /** Entity that each question is about. */
  topics: readonly number[];
  /** Entities that answer each, at least one, each once. */
  answers: readonly (readonly number[])[];
  /** float32 [matched] each, in [0, 1]: what relation matching learns. Read where the network matches relations. */
  relations: readonly Float32Array[];
}

/** Training of question network and table, by one batch after another. */
export class QuestionStep {
  readonly #weights: BilinearWeights;
  readonly #network: QuestionSide;
  readonly #executor: SimdExecutor;
  /** Gradients by the rows of the table, of those that are touched. */
  readonly #ofRows: Float32Array;
  readonly #touched: ReturnType<typeof touchList>;
  /** Index of each entity among the candidates; -1 for the others. */
  readonly #placeOf: Int32Array;

  /**
   * @param weights with arrays in the arena of `network`
   * @param negatives entities sampled for a batch, in addition to all of its answers
   */
  constructor(
    weights: BilinearWeights,
    network: QuestionSide,
    readonly negatives: number,
  ) {
    const { numEntities, entities } = weights.table;
    this.#weights = weights;
    this.#network = network;
    this.#executor = network.parameters.executor;
    this.#ofRows = new Float32Array(entities.length);
    this.#touched = touchList(numEntities);
    this.#placeOf = new Int32Array(numEntities).fill(-1);
  }

  /**
   * Moves the network by its optimizer and the rows of the table by Adagrad.
   * @param rates step size of the network, and that of the table
   * @returns before the move, means over the questions: `ranking` −log softmax of the answers, uniform over them; `matching` the
   *   cross-entropy of the relations, summed over relations; and the norm of the network's gradient
   * @throws Diverged for numbers that are not finite; nothing has moved then
   */
  async train(batch: AskedBatch, rates: { network: number; table: number }, rng: Rng) {
    const { table, entitySquares } = this.#weights;
    const ids = this.#candidatesOf(batch, rng);
    const outputs = this.#network.outputs(batch.vectors);
    const values = await outputs.read();
    const grads = new Float32Array(values.length);
    const asked = { ...table, numRelations: batch.topics.length, relations: values };
    const ranking = this.#ranked(batch, asked, ids, grads);
    const matching = this.#matchedLoss(batch, values, grads);
    if (!Number.isFinite(ranking + matching)) throw divergedTable(table, ranking + matching);
    const { optimizer } = this.#network;
    optimizer.zeroGrad();
    outputs.backward(grads);
    const gradNorm = await optimizer.step(rates.network);
    const moving = { values: table.entities, squares: entitySquares, gradients: this.#ofRows };
    this.#touched.clear((row) => moveRow(moving, row, table.dim, rates.table, 1));
    return { ranking, matching, gradNorm };
  }

  /** All answers of the batch, then entities by chance; each once. */
  #candidatesOf({ answers }: AskedBatch, rng: Rng): Int32Array {
    const placeOf = this.#placeOf.fill(-1);
    const ids: number[] = [];
    const add = (entity: number) => {
      if (placeOf[entity]! < 0) placeOf[entity] = ids.push(entity) - 1;
    };
    for (const some of answers) some.forEach(add);
    for (let draw = 0; draw < this.negatives; draw++) add(rng.integer(placeOf.length));
    return Int32Array.from(ids);
  }

  /**
   * The mean loss; gradients by rows of the table are left in `#ofRows`, by questions in `grads`.
   * @param asked the table, whose relations are what the questions became
   */
  #ranked({ topics, answers }: AskedBatch, asked: BilinearTable, ids: Int32Array, grads: Float32Array): number {
    const { dim, entities } = asked;
    const executor = this.#executor;
    const size = topics.length;
    const count = ids.length;
    const rows = executor.floats('rows', ids.length * dim);
    executor.copyRows(rows, entities, executor.numbers('ids', ids), dim);
    const queries = executor.floats('queries', size * dim);
    topics.forEach((topic, i) => composeQuery(asked, topic, i, queries, i * dim));
    const scores = executor.floats('scores', size * count);
    executor.matMul('abT', queries, rows, scores, size, dim, count);
    let loss = 0;
    answers.forEach((some, i) => {
      const indices = Int32Array.from(some, (entity) => this.#placeOf[entity]!);
      const share = 1 / (indices.length * size);
      loss += share * softmaxGrad(scores, i * count, count, indices);
      for (let c = i * count; c < (i + 1) * count; c++) scores[c]! *= share;
    });
    if (!Number.isFinite(loss)) return loss;
    const ofQueries = executor.floats('of queries', size * dim);
    executor.matMul('ab', scores, rows, ofQueries, size, count, dim);
    const ofCandidates = executor.floats('of candidates', count * dim);
    executor.matMul('aTb', scores, queries, ofCandidates, count, size, dim);
    ids.forEach((entity, c) => {
      this.#touched.touch(entity);
      this.#ofRows.set(ofCandidates.subarray(c * dim, (c + 1) * dim), entity * dim);
    });
    topics.forEach((topic, i) => {
      this.#touched.touch(topic);
      addQueryGradient(asked, { entities: this.#ofRows, relations: grads }, topic, i, ofQueries, i * dim);
    });
    return loss;
  }

  #matchedLoss({ topics, relations }: AskedBatch, values: Float32Array, grads: Float32Array): number {
    const { dim, matched } = this.#network.shape;
    if (matched === 0) return 0;
    const size = topics.length;
    let loss = 0;
    relations.forEach((wanted, i) => {
      const begin = size * dim + i * matched;
      for (let r = 0; r < matched; r++) {
        const logit = values[begin + r]!;
        loss += Math.max(logit, 0) - logit * wanted[r]! + Math.log1p(Math.exp(-Math.abs(logit)));
        grads[begin + r] = (1 / (1 + Math.exp(-logit)) - wanted[r]!) / size;
      }
    });
    return loss / size;
  }
}

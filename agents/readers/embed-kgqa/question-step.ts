/**
 * Training step of EmbedKGQA on questions: the question's vector replaces a relation of ComplEx, and its answers compete with
 * sampled candidates.
 */
import { type BilinearTable, composeQuery } from '../../../src/embedding/bilinear.js';
import type { Rng } from '../../../src/run/seeds.js';
import { HostProducts } from '../../../src/tensor/host/host-products.js';
import type { Optimizer } from '../../../src/tensor/trainable.js';
import { addQueryGradient, moveRow, softmaxGrad } from '../../embeddings/bilinear-gradients.js';
import { type BilinearWeights, divergedTable, touchList } from '../../embeddings/bilinear-step.js';
import type { QuestionSide } from './question-side.js';

/** Some questions as numbers. */
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

/** Figures of a batch before its move: means over the questions. */
export interface AskedFigures {
  /** −log softmax of the answers, uniform over them. */
  ranking: number;
  /** Cross-entropy of the relations, summed over relations; 0 without matching. */
  matching: number;
  /** Norm of the network's gradient. */
  gradNorm: number;
}

/** Training by one batch after another. */
export interface QuestionStep {
  /**
   * Moves the network by its optimizer and the rows of the table by Adagrad.
   * @param rates step size of the network, and that of the table
   * @throws Diverged for numbers that are not finite; nothing has moved then
   */
  train(batch: AskedBatch, rates: { network: number; table: number }, rng: Rng): Promise<AskedFigures>;
}

/**
 * @param weights with arrays in the arena of `network`
 * @param negatives entities sampled for a batch, in addition to all of its answers
 */
export function questionStep(
  weights: BilinearWeights,
  network: QuestionSide,
  optimizer: Optimizer,
  negatives: number,
): QuestionStep {
  const { table } = weights;
  const { dim, numEntities, entities } = table;
  const { arena, kernels } = network.parameters;
  const { matched } = network.shape;
  const products = new HostProducts(arena, kernels);
  const ofRows = new Float32Array(entities.length);
  const moving = { values: entities, squares: weights.entitySquares, gradients: ofRows };
  const touched = touchList(numEntities);
  const placeOf = new Int32Array(numEntities).fill(-1);

  return {
    async train(batch, rates, rng) {
      const size = batch.topics.length;
      const ids = candidatesOf(batch, rng);
      let figures = { ranking: 0, matching: 0 };
      const gradNorm = await optimizer.step(async (record) => {
        const { values, back } = await record(() => network.outputs(batch.vectors, size));
        const grads = new Float32Array(values.length);
        const asked = { ...table, numRelations: size, relations: values };
        figures = { ranking: ranked(batch, asked, ids, grads), matching: matchedLoss(batch, values, grads) };
        const loss = figures.ranking + figures.matching;
        if (!Number.isFinite(loss)) throw divergedTable(table, loss);
        back(grads);
      }, rates.network);
      touched.clear((row) => moveRow(moving, row, dim, rates.table, 1));
      return { ...figures, gradNorm };
    },
  };

  /** All answers of the batch, then entities by chance; each once. `placeOf` says where, until the next call. */
  function candidatesOf({ answers }: AskedBatch, rng: Rng): Int32Array {
    placeOf.fill(-1);
    const ids: number[] = [];
    const add = (entity: number) => {
      if (placeOf[entity]! < 0) placeOf[entity] = ids.push(entity) - 1;
    };
    for (const some of answers) some.forEach(add);
    for (let draw = 0; draw < negatives; draw++) add(rng.integer(numEntities));
    return Int32Array.from(ids);
  }

  /**
   * The mean loss; what it asks of rows of the table is left in `ofRows`, of questions in `grads`.
   * @param asked the table, whose relations are what the questions became
   */
  function ranked({ topics, answers }: AskedBatch, asked: BilinearTable, ids: Int32Array, grads: Float32Array): number {
    const size = topics.length;
    const count = ids.length;
    const rows = products.rows('rows', entities, products.numbers('ids', ids), dim);
    const queries = products.floats('queries', size * dim);
    topics.forEach((topic, i) => composeQuery(asked, topic, i, queries, i * dim));
    const scores = products.floats('scores', size * count);
    products.back(queries, size, dim, rows, count, scores);
    let loss = 0;
    answers.forEach((some, i) => {
      const places = Int32Array.from(some, (entity) => placeOf[entity]!);
      const share = 1 / (places.length * size);
      loss += share * softmaxGrad(scores, i * count, count, places);
      for (let c = i * count; c < (i + 1) * count; c++) scores[c]! *= share;
    });
    if (!Number.isFinite(loss)) return loss;
    const ofQueries = products.floats('of queries', size * dim);
    products.product(scores, size, count, rows, dim, ofQueries);
    const ofCandidates = products.floats('of candidates', count * dim);
    const panel = products.floats('panel', 8 * size + 32).byteOffset;
    kernels.matMul(
      ...([scores.byteOffset, 1, count, queries.byteOffset, dim, 1] as const),
      ...([ofCandidates.byteOffset, count, size, dim, panel, 0] as const),
    );
    ids.forEach((entity, c) => {
      touched.touch(entity);
      ofRows.set(ofCandidates.subarray(c * dim, (c + 1) * dim), entity * dim);
    });
    topics.forEach((topic, i) => {
      touched.touch(topic);
      addQueryGradient(asked, { entities: ofRows, relations: grads }, topic, i, ofQueries, i * dim);
    });
    return loss;
  }

  function matchedLoss({ topics, relations }: AskedBatch, values: Float32Array, grads: Float32Array): number {
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

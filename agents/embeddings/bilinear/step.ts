/** A step of DistMult or ComplEx: a batch of queries against shared candidates, by the kernels. */
import { composeQuery, type BilinearTable } from '../../../src/embedding/bilinear.js';
import { int32Lists } from '../../../src/kg/adjacency.js';
import type { Graph, TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import type { Arena } from '../../../src/nn/simd/arena.js';
import type { Kernels } from '../../../src/nn/simd/kernels.js';
import { Diverged, firstNotFinite } from '../../../src/nn/diverged.js';
import { addCubeGradient, addQueryGradient, moveRow, softmaxGrad } from './gradients.js';

/** A table and Adagrad's sums of squared gradients, one a number. */
export interface BilinearWeights {
  table: BilinearTable;
  /** float32, as the table's entities. */
  entitySquares: Float32Array;
  /** float32, as the table's relations. */
  relationSquares: Float32Array;
}

/** Standard deviation of fresh numbers: scores begin near 0, where every entity is as likely as any other. */
const spread = 0.05;

/** Fresh weights, normal. @param numRelations inverses included */
export function freshBilinear(
  { model, dim }: Pick<BilinearTable, 'model' | 'dim'>,
  { numEntities, numRelations, seed }: { numEntities: number; numRelations: number; seed: number },
): BilinearWeights {
  const rng = Rng.named(seed, 'bilinear/init');
  const normal = (rows: number) => Float32Array.from({ length: rows * dim }, () => rng.normal() * spread);
  return {
    table: { model, dim, numEntities, numRelations, entities: normal(numEntities), relations: normal(numRelations) },
    entitySquares: new Float32Array(numEntities * dim),
    relationSquares: new Float32Array(numRelations * dim),
  };
}

/** Queries with their answers side by side; each answer of a query once. */
interface QueryGroups {
  /** int32 [queries] */
  givens: Int32Array;
  /** int32 [queries]: r asks for tails, `numPlain + r` for heads. */
  relations: Int32Array;
  /** int32 [queries + 1]: the answers of query q are `offsets[q] .. offsets[q + 1] - 1`. */
  offsets: Int32Array;
  answers: Int32Array;
}

/** Groups triples by query, ordered by (given, relation, answer). @param numPlain relations without their inverses */
export function queryGroups({ heads, relations, tails }: TripleColumns, numPlain: number): QueryGroups {
  const count = heads.length;
  const given = (i: number) => (i < count ? heads[i]! : tails[i - count]!);
  const relation = (i: number) => (i < count ? relations[i]! : relations[i - count]! + numPlain);
  const answer = (i: number) => (i < count ? tails[i]! : heads[i - count]!);
  const order = Int32Array.from({ length: 2 * count }, (_, i) => i).sort(
    (a, b) => given(a) - given(b) || relation(a) - relation(b) || answer(a) - answer(b),
  );
  const groups = {
    givens: [] as number[],
    relations: [] as number[],
    offsets: [] as number[],
    answers: [] as number[],
  };
  for (let at = 0, before = -1; at < order.length; before = order[at++]!) {
    const i = order[at]!;
    const same = before >= 0 && given(i) === given(before) && relation(i) === relation(before);
    if (same && answer(i) === answer(before)) continue;
    if (!same) {
      groups.givens.push(given(i));
      groups.relations.push(relation(i));
      groups.offsets.push(groups.answers.length);
    }
    groups.answers.push(answer(i));
  }
  groups.offsets.push(groups.answers.length);
  return int32Lists(groups);
}

/** Every (head, relation) that the graph has edges for, with its tails; inverses are relations like others. */
export function graphQueries({
  offsets,
  relations,
  tails,
}: Pick<Graph, 'offsets' | 'relations' | 'tails'>): QueryGroups {
  const groups = { givens: [] as number[], relations: [] as number[], offsets: [] as number[] };
  for (let head = 0; head + 1 < offsets.length; head++) {
    for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) {
      if (edge > offsets[head]! && relations[edge] === relations[edge - 1]) continue;
      groups.givens.push(head);
      groups.relations.push(relations[edge]!);
      groups.offsets.push(edge);
    }
  }
  groups.offsets.push(tails.length);
  return { ...int32Lists(groups), answers: tails };
}

/** Entities that the queries of a batch are compared with. */
export interface Candidates {
  /** int32 [count]: entities, each once. */
  readonly ids: Int32Array;
  readonly count: number;
  /** The most that a batch has. */
  readonly most: number;
  /** Draws those of a batch: all answers of its queries, then entities by chance. */
  draw(queries: Int32Array, rng: Rng): void;
  /** Indexes of a query's answers in `ids`: int32, overwritten by the next call. */
  placesOf(query: number): Int32Array;
}

/** Room for the candidates of any batch. @param allocate makes the array of ids, in the memory of kernels */
export function createCandidates(
  groups: Pick<QueryGroups, 'offsets' | 'answers'>,
  { numEntities, negatives, batchSize }: { numEntities: number; negatives: number; batchSize: number },
  allocate: (length: number) => Int32Array,
): Candidates {
  const { offsets, answers } = groups;
  const sizes = Int32Array.from({ length: offsets.length - 1 }, (_, q) => offsets[q + 1]! - offsets[q]!).sort();
  const all = negatives >= numEntities;
  const mostAnswers = sizes.subarray(-batchSize).reduce((sum, size) => sum + size, 0);
  const most = all ? numEntities : Math.min(numEntities, negatives + mostAnswers);
  const ids = allocate(most);
  const indices = new Int32Array(sizes.at(-1) ?? 0);
  const placeOf = new Int32Array(numEntities).fill(-1);
  let count = 0;
  const add = (entity: number) => {
    if (placeOf[entity]! >= 0) return;
    placeOf[entity] = count;
    ids[count++] = entity;
  };
  if (all) for (let entity = 0; entity < numEntities; entity++) add(entity);
  return {
    ids,
    most,
    get count() {
      return count;
    },
    draw(queries, rng) {
      if (all) return;
      for (let c = 0; c < count; c++) placeOf[ids[c]!] = -1;
      count = 0;
      for (const q of queries) for (let a = offsets[q]!; a < offsets[q + 1]!; a++) add(answers[a]!);
      for (let draw = 0; draw < negatives; draw++) add(rng.integer(numEntities));
    },
    placesOf(q) {
      const size = offsets[q + 1]! - offsets[q]!;
      for (let a = 0; a < size; a++) indices[a] = placeOf[answers[offsets[q]! + a]!]!;
      return indices.subarray(0, size);
    },
  };
}

/** Training by one batch after another. */
export interface BilinearStep {
  /**
   * Moves the weights by the gradient of a batch.
   * @param queries int32: numbers of queries, at most `batchSize`
   * @param rng draws the candidates, where they are not all entities
   * @returns the mean loss of a true triple before the move, regularisation apart
   * @throws Diverged where that is not finite, before anything is moved
   */
  train(queries: Int32Array, learningRate: number, rng: Rng): number;
  /** First half of `train`, which changes no weight: for a loss among others, weighted in `move`. Returns and throws as `train`. */
  grad(queries: Int32Array, rng: Rng): number;
  /** Second half. @param weight of this loss among others, default 1 */
  move(learningRate: number, weight?: number): void;
}

interface BilinearStepOptions {
  arena: Arena;
  kernels: Kernels;
  /** With arrays in the arena. */
  state: BilinearWeights;
  groups: QueryGroups;
  settings: { batchSize: number; negatives: number; regularization: number };
}

/** Prepares the memory; a step allocates nothing. */
export function createBilinearStep({ arena, kernels, state, groups, settings }: BilinearStepOptions): BilinearStep {
  const { table } = state;
  const { dim, numEntities, entities, relations } = table;
  const { batchSize, negatives, regularization } = settings;
  const { givens, offsets, answers } = groups;
  const candidates = createCandidates(groups, { numEntities, negatives, batchSize }, (length) => arena.int32(length));
  const { most, ids } = candidates;
  const whole = most === numEntities && negatives >= numEntities;
  const rows = whole ? entities : arena.float32(most * dim);
  const rowGradients = arena.float32(most * dim);
  const queryRows = arena.float32(batchSize * dim);
  const queryGradients = arena.float32(batchSize * dim);
  const scores = arena.float32(batchSize * most);
  const panel = arena.float32(8 * Math.max(dim, most, batchSize) + 32);
  const gradients = { entities: new Float32Array(entities.length), relations: new Float32Array(relations.length) };
  const ofEntities = { values: entities, squares: state.entitySquares, gradients: gradients.entities };
  const ofRelations = { values: relations, squares: state.relationSquares, gradients: gradients.relations };
  const movedEntities = touchList(numEntities);
  const movedRelations = touchList(table.numRelations);
  const at = (array: ArrayBufferView) => array.byteOffset;
  let triples = 0;

  return {
    train(queries, learningRate, rng) {
      const loss = grad(queries, rng);
      move(learningRate);
      return loss;
    },
    grad,
    move,
  };

  function grad(queries: Int32Array, rng: Rng): number {
    candidates.draw(queries, rng);
    const size = queries.length;
    const { count } = candidates;
    if (!whole) kernels.copyRows(at(rows), at(entities), at(ids), count, dim);
    for (let i = 0; i < size; i++) {
      composeQuery(table, givens[queries[i]!]!, groups.relations[queries[i]!]!, queryRows, i * dim);
    }
    kernels.matMul(at(queryRows), dim, 1, at(rows), 1, dim, at(scores), size, dim, count, at(panel), 0);
    let loss = 0;
    triples = 0;
    for (let i = 0; i < size; i++) {
      const indices = candidates.placesOf(queries[i]!);
      loss += softmaxGrad(scores, i * count, count, indices);
      triples += indices.length;
    }
    if (!Number.isFinite(loss)) throw divergedTable(table, loss);
    kernels.matMul(at(scores), count, 1, at(rows), dim, 1, at(queryGradients), size, count, dim, at(panel), 0);
    kernels.matMul(at(scores), 1, count, at(queryRows), dim, 1, at(rowGradients), count, size, dim, at(panel), 0);
    for (let c = 0; c < count; c++) {
      movedEntities.touch(ids[c]!);
      gradients.entities.set(rowGradients.subarray(c * dim, (c + 1) * dim), ids[c]! * dim);
    }
    for (let i = 0; i < size; i++) addQuery(queries[i]!, i);
    return loss / triples;
  }

  function move(learningRate: number, weight = 1): void {
    movedEntities.clear((row) => moveRow(ofEntities, row, dim, learningRate, weight / triples));
    movedRelations.clear((row) => moveRow(ofRelations, row, dim, learningRate, weight / triples));
  }

  /** Gradients of a query of the batch for its own rows, and of the regularisation for each of its triples. */
  function addQuery(q: number, place: number): void {
    const [head, relation] = [givens[q]!, groups.relations[q]!];
    const [begin, end] = [offsets[q]!, offsets[q + 1]!];
    movedEntities.touch(head);
    movedRelations.touch(relation);
    addQueryGradient(table, gradients, head, relation, queryGradients, place * dim);
    if (regularization === 0) return;
    addCubeGradient(table, entities, gradients.entities, head, regularization * (end - begin));
    addCubeGradient(table, relations, gradients.relations, relation, regularization * (end - begin));
    for (let a = begin; a < end; a++) addCubeGradient(table, entities, gradients.entities, answers[a]!, regularization);
  }
}

/** Error of a loss that is not finite: the first number of the table that is not either, else the loss. */
export function divergedTable({ entities, relations }: BilinearTable, loss: number): Diverged {
  const first = firstNotFinite('entities', entities) ?? firstNotFinite('relations', relations);
  return new Diverged(first ?? { tensor: 'loss', index: 0, value: loss });
}

/** Rows that a batch moves, each once, in the order in which they were first named. */
export function touchList(length: number) {
  const touched = new Uint8Array(length);
  const rows = new Int32Array(length);
  let count = 0;
  return {
    touch(row: number): void {
      if (touched[row]) return;
      touched[row] = 1;
      rows[count++] = row;
    },
    clear(visit: (row: number) => void): void {
      for (let i = 0; i < count; i++) {
        touched[rows[i]!] = 0;
        visit(rows[i]!);
      }
      count = 0;
    },
  };
}

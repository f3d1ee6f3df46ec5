/** A step of DistMult or ComplEx: a batch of queries against shared candidates, by the kernels. */
import { composeQuery, type BilinearTable } from '../../src/embedding/bilinear.js';
import type { Rng } from '../../src/run/seeds.js';
import type { Arena } from '../../src/simd/arena.js';
import type { Kernels } from '../../src/simd/kernels.js';
import { Diverged, firstNotFinite } from '../../src/tensor/diverged.js';
import { addCubeGradient, addQueryGradient, moveRow } from './bilinear-gradients.js';
import type { BilinearState } from './bilinear-state.js';
import { createCandidates } from './candidates.js';
import type { QueryGroups } from './query-groups.js';
import type { BilinearSettings } from './settings.js';
import { softmaxSlope } from './softmax-slope.js';

/** Trains batches. */
export interface BilinearStep {
  /**
   * Moves the weights by the gradient of a batch.
   * @param queries int32: numbers of queries, at most `batchSize`
   * @param rng draws the candidates, where they are not all entities
   * @returns the mean loss of a true triple before the move, regularisation apart
   * @throws Diverged where that is not finite, before anything is moved
   */
  train(queries: Int32Array, learningRate: number, rng: Rng): number;
}

/** What a step works on. */
export interface BilinearStepOptions {
  /** The memory of the kernels, which grows by the batch's. */
  arena: Arena;
  kernels: Kernels;
  /** With arrays in the arena. */
  state: Pick<BilinearState, 'table' | 'entitySquares' | 'relationSquares'>;
  groups: QueryGroups;
  settings: Pick<BilinearSettings, 'batchSize' | 'negatives' | 'regularization'>;
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
  const gradients = {
    entities: new Float32Array(entities.length),
    relations: new Float32Array(relations.length),
  };
  const ofEntities = { values: entities, squares: state.entitySquares, gradients: gradients.entities };
  const ofRelations = { values: relations, squares: state.relationSquares, gradients: gradients.relations };
  const movedEntities = touchList(numEntities);
  const movedRelations = touchList(table.numRelations);
  const at = (array: ArrayBufferView) => array.byteOffset;

  return {
    train(queries, learningRate, rng) {
      candidates.draw(queries, rng);
      const size = queries.length;
      const { count } = candidates;
      if (!whole) kernels.copyRows(at(rows), at(entities), at(ids), count, dim);
      for (let i = 0; i < size; i++) {
        composeQuery(table, givens[queries[i]!]!, groups.relations[queries[i]!]!, queryRows, i * dim);
      }
      kernels.matMul(at(queryRows), dim, 1, at(rows), 1, dim, at(scores), size, dim, count, at(panel), 0);
      let loss = 0;
      let triples = 0;
      for (let i = 0; i < size; i++) {
        const places = candidates.placesOf(queries[i]!);
        loss += softmaxSlope(scores, i * count, count, places);
        triples += places.length;
      }
      if (!Number.isFinite(loss)) throw diverged(table, loss);
      kernels.matMul(at(scores), count, 1, at(rows), dim, 1, at(queryGradients), size, count, dim, at(panel), 0);
      kernels.matMul(at(scores), 1, count, at(queryRows), dim, 1, at(rowGradients), count, size, dim, at(panel), 0);
      for (let c = 0; c < count; c++) {
        movedEntities.touch(ids[c]!);
        gradients.entities.set(rowGradients.subarray(c * dim, (c + 1) * dim), ids[c]! * dim);
      }
      for (let i = 0; i < size; i++) addQuery(queries[i]!, i);
      movedEntities.clear((row) => moveRow(ofEntities, row, dim, learningRate, 1 / triples));
      movedRelations.clear((row) => moveRow(ofRelations, row, dim, learningRate, 1 / triples));
      return loss / triples;
    },
  };

  /** What a query, at a place of the batch, gives to its own rows, and each of its triples to the regularisation. */
  function addQuery(q: number, place: number): void {
    const [head, relation] = [givens[q]!, groups.relations[q]!];
    const [begin, end] = [offsets[q]!, offsets[q + 1]!];
    movedEntities.touch(head);
    movedRelations.touch(relation);
    addQueryGradient(table, gradients, head, relation, queryGradients, place * dim);
    if (regularization === 0) return;
    addCubeGradient(table, entities, gradients.entities, head, regularization * (end - begin));
    addCubeGradient(table, relations, gradients.relations, relation, regularization * (end - begin));
    for (let a = begin; a < end; a++) {
      addCubeGradient(table, entities, gradients.entities, answers[a]!, regularization);
    }
  }
}

function diverged({ entities, relations }: BilinearTable, loss: number): Diverged {
  const first = firstNotFinite('entities', entities) ?? firstNotFinite('relations', relations);
  return new Diverged({ first: first ?? { tensor: 'loss', index: 0, value: loss }, loss });
}

/** Rows that a batch moves, each once, in the order in which they were first named. */
function touchList(length: number) {
  const touched = new Uint8Array(length);
  const rows = new Int32Array(length);
  let count = 0;
  return {
    touch(row: number): void {
      if (touched[row]) return;
      touched[row] = 1;
      rows[count++] = row;
    },
    /** Calls `visit` with each row and forgets it. */
    clear(visit: (row: number) => void): void {
      for (let i = 0; i < count; i++) {
        touched[rows[i]!] = 0;
        visit(rows[i]!);
      }
      count = 0;
    },
  };
}

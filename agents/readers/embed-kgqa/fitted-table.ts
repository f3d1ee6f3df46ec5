/** ComplEx over the whole graph: fitted before the first question, saved with the run, trained further with the questions. */
import { setImmediate } from 'node:timers/promises';
import type { Tensor } from '../../../checkpoints/safetensors.js';
import type { Graph } from '../../../src/kg/graph.js';
import { madeFrom } from '../../../src/run/provenance.js';
import { Rng } from '../../../src/run/seeds.js';
import { throwIfStopped } from '../../../src/run/stop.js';
import type { Arena } from '../../../src/nn/simd/arena.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import type { Kernels } from '../../../src/nn/simd/kernels.js';
import { storedFloats, type StoredTensors } from '../../../src/nn/parameters.js';
import {
  type BilinearStep,
  type BilinearWeights,
  createBilinearStep,
  freshBilinear,
  graphQueries,
} from '../../embeddings/bilinear/step.js';
import type { ReaderSettings } from '../settings.js';

type TableSettings = ReaderSettings['table'];

/** Graph queries per batch of questions. */
export const factsBatch = 64;

/** Weights of zeros, for those that are loaded. */
export function emptyWeights({ numEntities, numRelations }: Graph, dim: number): BilinearWeights {
  const [entities, relations] = [numEntities * dim, numRelations * dim];
  return {
    table: {
      model: 'complex',
      dim,
      numEntities,
      numRelations,
      entities: new Float32Array(entities),
      relations: new Float32Array(relations),
    },
    entitySquares: new Float32Array(entities),
    relationSquares: new Float32Array(relations),
  };
}

/** @throws WorkbenchError `stopped` once the signal is aborted: what was fitted is then lost */
export async function fittedTable(
  graph: Graph,
  settings: TableSettings,
  seed: number,
  signal?: AbortSignal,
): Promise<BilinearWeights> {
  const { numEntities, numRelations } = graph;
  madeFrom('embedding', 'complex', { graph: graph.hash, facts: graph.numEdges });
  const { arena, kernels } = new SimdExecutor();
  const { dim, epochs, batchSize, learningRate } = settings;
  const weights = arena.hold(freshBilinear({ model: 'complex', dim }, { numEntities, numRelations, seed }));
  const { step, count } = factsStep(graph, weights, settings, arena, kernels);
  const order = new Int32Array(count);
  for (let epoch = 0; epoch < epochs; epoch++) {
    order.forEach((_, i) => (order[i] = i));
    Rng.named(seed, 'embed-kgqa/facts', epoch).shuffle(order);
    const rng = Rng.named(seed, 'embed-kgqa/negatives of facts', epoch);
    for (let begin = 0; begin < count; begin += batchSize) {
      step.train(order.subarray(begin, begin + batchSize), learningRate * (1 - epoch / epochs), rng);
      // Lets signals and other work of the process through.
      await setImmediate();
      throwIfStopped(signal);
    }
  }
  return weights;
}

/** Training of a table on the facts of its graph. @returns the step, and how many queries there are to draw from */
export function factsStep(
  graph: Graph,
  weights: BilinearWeights,
  { batchSize, negatives, regularization }: TableSettings,
  arena: Arena,
  kernels: Kernels,
): { step: BilinearStep; count: number } {
  const groups = graphQueries(graph);
  const settings = { batchSize: Math.max(batchSize, factsBatch), negatives, regularization };
  return {
    step: createBilinearStep({ arena, kernels, state: weights, groups, settings }),
    count: groups.givens.length,
  };
}

/** A table by the names that files have for it. @param squares what goes before the names of Adagrad's sums */
export function tableTensors({ table, ...sums }: BilinearWeights, squares: string): Record<string, Tensor> {
  const rows = (data: Float32Array): Tensor => ({ shape: [data.length / table.dim, table.dim], data: data.slice() });
  return {
    'table/entities': rows(table.entities),
    'table/relations': rows(table.relations),
    [`${squares}table/entities`]: rows(sums.entitySquares),
    [`${squares}table/relations`]: rows(sums.relationSquares),
  };
}

/**
 * Fills a table with what `tableTensors` gave.
 * @param squares undefined where none are needed
 * @throws WorkbenchError `data` for a tensor that is missing or of another shape
 */
export function fillTable({ table, ...sums }: BilinearWeights, tensors: StoredTensors, squares?: string): void {
  const { dim, numEntities, numRelations } = table;
  const stored = (prefix: string) => ({
    entities: storedFloats(tensors, `${prefix}table/entities`, [numEntities, dim]),
    relations: storedFloats(tensors, `${prefix}table/relations`, [numRelations, dim]),
  });
  const [rows, squared] = [stored(''), squares === undefined ? undefined : stored(squares)];
  table.entities.set(rows.entities);
  table.relations.set(rows.relations);
  if (!squared) return;
  sums.entitySquares.set(squared.entities);
  sums.relationSquares.set(squared.relations);
}

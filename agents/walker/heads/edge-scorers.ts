/**
 * What turns the plain head's last layer into logits of edges: by their vectors, logit(r, t) = g · [R[r] ; E[t]], frozen or
 * trained, or by their place alone.
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { WorkbenchError } from '../../../src/run/errors.js';
import { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { hostValues, roundedToBfloat16, roundingOf, type TensorOutputs } from '../../../src/tensor/ops.js';
import { frozenDots, hostDots, lastTrainedDots } from '../../../src/tensor/table-dots.js';
import { type ParameterSet, xavierUniform } from '../../../src/tensor/parameters.js';
import type { FrozenTables, HeadShape, StateBatch } from './head.js';
import type { WalkerSettings } from '../settings.js';

/** Edges, and the state that each is scored for. */
export type Edges = Pick<StateBatch, 'numStates' | 'stateOf' | 'actions' | 'relations' | 'tails'>;

interface EdgeScorer {
  readonly layer: { name: string; width: number };
  /** @param outputs [S, width] @returns [N], differentiable */
  logits(outputs: tfTypes.Tensor2D, edges: Edges): TensorOutputs<tfTypes.Tensor1D>;
  /** The same on the host, float32 [N]; absent where a backend alone computes. @param outputs float32 [S, stride] */
  rank?(outputs: { values: Float32Array; stride: number }, edges: Edges): Promise<Float32Array>;
  weightsChanged(): void;
}

/** Makes a scorer, whose weights are added to a network's. @param seed what they start from; zeros without it */
export type MakeEdgeScorer = (parameters: ParameterSet, seed?: number) => EdgeScorer;

/** @throws WorkbenchError `failure` for slots without their number */
export function edgeScorerOf(tf: Tf, settings: WalkerSettings, shape: HeadShape): MakeEdgeScorer {
  const { numEntities, numRelations, tables, maxActions } = shape;
  if (!settings.pathAware) {
    if (maxActions !== undefined) return slots({ count: maxActions, equalRelation: numRelations });
    throw new WorkbenchError('failure', 'expected the number of slots with pathAware=false, got none, at edgeScorerOf');
  }
  const { entityInit, precision } = settings;
  if (entityInit === 'frozen') return frozenVectors(precision === 'bf16' ? roundedTables(tables) : tables);
  // Staying is a separate relation here, as in the reference.
  return trainedVectors(tf, { numEntities, numRelations: numRelations + 1, dim: settings.componentDim, precision });
}

function roundedTables({ entities, relations, ...dims }: FrozenTables): FrozenTables {
  return { ...dims, entities: roundedToBfloat16(entities), relations: roundedToBfloat16(relations) };
}

type Tensor2D = tfTypes.Tensor2D;

/** @param tables with a row for every relation that edges have; read in place */
export function frozenVectors(tables: FrozenTables): MakeEdgeScorer {
  const { entities, entityDim, relations, relationDim } = tables;
  const both = [
    { values: relations, width: relationDim },
    { values: entities, width: entityDim },
  ];
  const dots = frozenDots(both);
  return () => ({
    layer: { name: 'pa.out', width: relationDim + entityDim },
    logits: (outputs, edges) => dots(outputs, { left: edges.stateOf, right: [edges.relations, edges.tails] }),
    rank: (outputs, edges) => Promise.resolve(hostDots(outputs, both, pairsOf(edges))),
    weightsChanged: () => {},
  });
}

interface TrainedVectorsOptions extends Partial<Pick<WalkerSettings, 'precision'>> {
  numEntities: number;
  numRelations: number;
  dim: number;
}

/**
 * Tables that are parameters. A step's time and memory grow with both tables, since Adam moves every row at every step by
 * the momentum it has.
 * @source LLM-ARK (Huang 2024), section 4.6, the ablation without TransE
 */
export function trainedVectors(
  tf: Tf,
  { numEntities, numRelations, dim, precision = 'f32' }: TrainedVectorsOptions,
): MakeEdgeScorer {
  const round = roundingOf(tf, precision);
  return (parameters, seed) => {
    const table = (name: string, rows: number) => {
      const values =
        seed === undefined ? new Float32Array(rows * dim) : xavierUniform(Rng.named(seed, `walker/${name}`), rows, dim);
      return parameters.add(name, [rows, dim], values) as unknown as Tensor2D;
    };
    const relations = table('pa.relations', numRelations);
    const entities = table('pa.entities', numEntities);
    const read = () =>
      Promise.all([relations, entities].map(async (table) => ({ values: await hostValues(tf, table), width: dim })));
    let onHost: ReturnType<typeof read> | undefined;
    return {
      layer: { name: 'pa.out', width: 2 * dim },
      logits: (outputs, edges) => lastTrainedDots(tf, outputs, [round(relations), round(entities)], pairsOf(edges)),
      rank: async (outputs, edges) => hostDots(outputs, await (onHost ??= read()), pairsOf(edges)),
      weightsChanged: () => (onHost = undefined),
    };
  };
}

/** Entities missing from the graph (-1) are read as its first: a walk can only stay there. */
const pairsOf = ({ stateOf, relations, tails }: Edges) => ({
  left: stateOf,
  right: [relations, tails.map((tail) => Math.max(0, tail))],
});

/**
 * @param count slots, staying counted
 * @param equalRelation relation id of staying
 * @returns a scorer that throws a WorkbenchError `config` for an action list longer than the slots
 * @source LLM-ARK (Huang 2024), section 4.6, the ablation without path awareness
 */
export function slots({ count, equalRelation }: { count: number; equalRelation: number }): MakeEdgeScorer {
  /** int32 [N]: place of each edge in a table [S, stride]. */
  const indices = ({ stateOf, actions, relations }: Edges, stride: number) =>
    stateOf.map((state, i) => {
      const slot = relations[i] === equalRelation ? 0 : actions[i]! + 1;
      if (slot >= count) throw longerThanSlots(slot + 1, count);
      return state * stride + slot;
    });
  return () => ({
    layer: { name: 'pa.slots', width: count },
    logits: (outputs, edges) => {
      const which = indices(edges, count);
      return {
        device: outputs,
        end: (read) => ({
          values: at(read, which),
          back: (grad) => {
            const gradient = new Float32Array(read.length);
            which.forEach((index, i) => (gradient[index]! += grad[i]!));
            return gradient;
          },
        }),
      };
    },
    rank: ({ values, stride }, edges) => Promise.resolve(at(values, indices(edges, stride))),
    weightsChanged: () => {},
  });
}

const at = (values: Float32Array, indices: Int32Array) => Float32Array.from(indices, (index) => values[index]!);

/** @param needed slots of an action list, staying counted */
function longerThanSlots(needed: number, count: number): WorkbenchError {
  return new WorkbenchError(
    'config',
    `expected action lists of at most ${count} places, staying counted, with walker.pathAware=false, got one of ${needed}`,
    { hint: 'Cut the lists by env.edgePolicy=ark or topk-degree, which keep env.maxOut places.' },
  );
}

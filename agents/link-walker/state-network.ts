/** States of walks as vectors: what was walked (its mean, a GRU or an LSTM), where the walk stands, and what is asked. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { gatherRows } from '../../src/tensor/ops.js';
import type { ParameterSet } from '../../src/tensor/parameters.js';
import { type CellState, createRecurrentLayer } from '../../src/tensor/recurrent.js';
import type { LinkRequest } from './request.js';
import type { LinkWalkerSettings } from './settings.js';
import type { VectorTables } from './vectors.js';

type Tensor2D = tfTypes.Tensor2D;

/** Adds the path encoder's weights to the parameters. @param seed of their start; zeros without it */
export function createStateNetwork(
  tf: Tf,
  parameters: ParameterSet,
  parts: { settings: LinkWalkerSettings; vectors: VectorTables; numEntities: number; numRelations: number },
  seed?: number,
) {
  const { settings, vectors, numEntities, numRelations } = parts;
  const encoder = createPathEncoder(tf, parameters, { ...settings, stepDim: vectors.edgeDim }, seed);
  const sizes = { numEntities, noStep: numRelations + 1 };
  const sideBySide = (parts: Tensor2D[]) => (parts.length === 1 ? parts[0]! : tf.concat(parts, 1));
  return {
    dim: encoder.dim + vectors.edgeDim,
    /** float32 [requests, dim] = [path ; query relation ; current entity, where entities have vectors], differentiable. */
    states(requests: readonly LinkRequest[]): Tensor2D {
      const { levels, nodes } = prefixesOf(requests, sizes);
      const both = (relations: Int32Array, entities: Int32Array) =>
        vectors.entities ? [vectors.relations(relations), vectors.entities(entities)] : [vectors.relations(relations)];
      const steps = levels.map(({ relations, entities }) => sideBySide(both(relations, entities)));
      const asked = Int32Array.from(requests, ({ relation }) => relation);
      const current = Int32Array.from(requests, (request) => request.current);
      return sideBySide([gatherRows(tf, encoder.encode(steps, levels), nodes), ...both(asked, current)]);
    },
  };
}

/** The nodes of one depth, which stand one after another in the order of first use. */
interface PrefixLevel {
  /** int32 [nodes]: place of the walk without its last step among the nodes of the level above; empty at the first level. */
  parents: Int32Array;
  /** int32 [nodes]: relation of the last step; at the first level the row of "no step yet". */
  relations: Int32Array;
  /** int32 [nodes]: entity that it leads to; at the first level the head. */
  entities: Int32Array;
}

interface Prefixes {
  /** By steps taken; one more than the longest walk has. */
  levels: PrefixLevel[];
  /** int32 [states]: the node of each state's walk, counted over all levels in their order. */
  nodes: Int32Array;
}

interface OpenLevel {
  nodeOf: Map<number, number>;
  parents: number[];
  relations: number[];
  entities: number[];
}

/** @param sizes of the tables: `noStep` is the row of relations that stands at the first level */
export function prefixesOf(
  requests: readonly Pick<LinkRequest, 'head' | 'hop' | 'path'>[],
  sizes: { numEntities: number; noStep: number },
): Prefixes {
  const { numEntities, noStep } = sizes;
  const levels: OpenLevel[] = [];
  const nodeAt = (depth: number, parent: number, relation: number, entity: number) => {
    const level = (levels[depth] ??= { nodeOf: new Map(), parents: [], relations: [], entities: [] });
    // Below 2^53: a million parents, relations of thousands and entities of millions.
    const key = (parent * (noStep + 1) + relation) * numEntities + entity;
    let node = level.nodeOf.get(key);
    if (node === undefined) {
      level.nodeOf.set(key, (node = level.nodeOf.size));
      level.parents.push(parent);
      level.relations.push(relation);
      level.entities.push(entity);
    }
    return node;
  };
  const indices = Int32Array.from(requests, ({ head, hop, path }) => {
    let node = nodeAt(0, 0, noStep, head);
    for (let step = 0; step < hop; step++) node = nodeAt(step + 1, node, path[2 * step]!, path[2 * step + 1]!);
    return node;
  });
  const begins: number[] = [];
  let count = 0;
  for (const { entities } of levels) {
    begins.push(count);
    count += entities.length;
  }
  return {
    levels: levels.map(({ parents, relations, entities }, depth) => ({
      parents: Int32Array.from(depth === 0 ? [] : parents),
      relations: Int32Array.from(relations),
      entities: Int32Array.from(entities),
    })),
    nodes: indices.map((index, i) => begins[requests[i]!.hop]! + index),
  };
}

interface PathEncoder {
  readonly dim: number;
  /**
   * @param steps for each level float32 [nodes, stepDim]: vectors of relation and entity side by side
   * @returns float32 [nodes of all levels, dim], differentiable
   */
  encode(steps: readonly Tensor2D[], levels: Prefixes['levels']): Tensor2D;
}

/** Adds the encoder's weights, if it has any. @param seed what they start from; zeros without it */
function createPathEncoder(
  tf: Tf,
  parameters: ParameterSet,
  { pathEncoder, pathDim, stepDim }: Pick<LinkWalkerSettings, 'pathEncoder' | 'pathDim'> & { stepDim: number },
  seed?: number,
): PathEncoder {
  if (pathEncoder === 'mean') return { dim: stepDim, encode: (steps, levels) => means(tf, steps, levels) };
  const recurrent = createRecurrentLayer(
    tf,
    parameters,
    { cell: pathEncoder, name: 'path', inputs: stepDim, dim: pathDim },
    seed === undefined ? undefined : (weights) => Rng.named(seed, `link-walker/${weights}`),
  );
  return {
    dim: pathDim,
    encode(steps, levels) {
      const outputs: Tensor2D[] = [];
      let state: CellState | undefined;
      levels.forEach(({ parents }, depth) => {
        // Zeros before the first step, not nothing: every weight takes part in every batch.
        const before = state
          ? state.map((rows) => gatherRows(tf, rows, parents))
          : recurrent.start(steps[depth]!.shape[0]);
        state = recurrent.step(recurrent.given(steps[depth]!), before);
        outputs.push(state[0]!);
      });
      return outputs.length === 1 ? outputs[0]! : tf.concat(outputs, 0);
    },
  };
}

function means(tf: Tf, steps: readonly Tensor2D[], levels: Prefixes['levels']): Tensor2D {
  const outputs: Tensor2D[] = [];
  let sum: Tensor2D | undefined;
  levels.forEach(({ parents }, depth) => {
    sum = sum ? (tf.add(gatherRows(tf, sum, parents), steps[depth]!) as Tensor2D) : steps[depth]!;
    outputs.push(depth === 0 ? sum : (tf.mul(sum, 1 / (depth + 1)) as Tensor2D));
  });
  return outputs.length === 1 ? outputs[0]! : tf.concat(outputs, 0);
}

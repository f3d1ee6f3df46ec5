/** States of walks as vectors: what was walked (its mean, a GRU or an LSTM), where the walk stands, and what is asked. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { gatherRows, matMul } from '../../src/tensor/ops.js';
import { orthogonalValues, type ParameterSet } from '../../src/tensor/parameters.js';
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
  const places = Int32Array.from(requests, ({ head, hop, path }) => {
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
    nodes: places.map((place, i) => begins[requests[i]!.hop]! + place),
  };
}

interface PathEncoder {
  /** Numbers of a walk's vector. */
  readonly dim: number;
  /**
   * @param steps for each level float32 [nodes, stepDim]: vectors of relation and entity side by side
   * @returns float32 [nodes of all levels, dim], differentiable
   */
  encode(steps: readonly Tensor2D[], levels: Prefixes['levels']): Tensor2D;
}

/**
 * Adds the encoder's weights, if it has any, to the parameters of a network.
 * @param seed what they start from; zeros without it, for weights to be imported
 */
function createPathEncoder(
  tf: Tf,
  parameters: ParameterSet,
  { pathEncoder, pathDim, stepDim }: Pick<LinkWalkerSettings, 'pathEncoder' | 'pathDim'> & { stepDim: number },
  seed?: number,
): PathEncoder {
  if (pathEncoder === 'mean') return { dim: stepDim, encode: (steps, levels) => means(tf, steps, levels) };
  const gates = pathEncoder === 'lstm' ? 4 : 3;
  const layer = (name: string, rows: number) => {
    // Each gate starts orthogonal by itself.
    const values = new Float32Array(rows * gates * pathDim);
    for (let gate = 0; seed !== undefined && gate < gates; gate++) {
      const own = orthogonalValues(Rng.named(seed, `link-walker/${name}/${gate}`), rows, pathDim, 1);
      for (let row = 0; row < rows; row++) {
        values.set(own.subarray(row * pathDim, (row + 1) * pathDim), (row * gates + gate) * pathDim);
      }
    }
    return parameters.add(name, [rows, gates * pathDim], values) as unknown as Tensor2D;
  };
  const input = layer('path.input', stepDim);
  const recurrent = layer('path.recurrent', pathDim);
  const bias = new Float32Array(gates * pathDim);
  // An LSTM that forgets nothing at first learns sooner (Jozefowicz et al. 2015, section 2.2).
  if (pathEncoder === 'lstm') bias.fill(1, pathDim, 2 * pathDim);
  const biases = parameters.add('path.bias', [gates * pathDim], bias) as unknown as tfTypes.Tensor1D;
  const cell = pathEncoder === 'lstm' ? lstmCell : gruCell;
  const none = (rows: number): CellState => [tf.zeros([rows, pathDim]), tf.zeros([rows, pathDim])];
  return {
    dim: pathDim,
    encode(steps, levels) {
      const outputs: Tensor2D[] = [];
      let state: CellState | undefined;
      levels.forEach(({ parents }, depth) => {
        // Zeros before the first step, not nothing: every weight takes part in every batch.
        const before = state ? state.map((rows) => gatherRows(tf, rows, parents)) : none(steps[depth]!.shape[0]);
        const given = tf.add(matMul(tf, steps[depth]!, input), biases) as Tensor2D;
        state = cell(tf, given, before, recurrent, pathDim);
        outputs.push(state[0]!);
      });
      return outputs.length === 1 ? outputs[0]! : tf.concat(outputs, 0);
    },
  };
}

/** Rows of the nodes of a level: the hidden ones first, then what else the cell hands on. */
type CellState = Tensor2D[];

/** Gates in the order input, forget, output, candidate. @source Hochreiter and Schmidhuber 1997, with forget gates */
function lstmCell(tf: Tf, given: Tensor2D, before: CellState, recurrent: Tensor2D, dim: number): CellState {
  const all = tf.add(given, matMul(tf, before[0]!, recurrent));
  const gates = tf.sigmoid(columns(tf, all, 0, 3 * dim));
  const candidate = tf.tanh(columns(tf, all, 3 * dim, dim));
  const kept = tf.mul(columns(tf, gates, dim, dim), before[1]!);
  const memory = tf.add(kept, tf.mul(columns(tf, gates, 0, dim), candidate)) as Tensor2D;
  return [tf.mul(columns(tf, gates, 2 * dim, dim), tf.tanh(memory)) as Tensor2D, memory];
}

/** Gates in the order update, reset, candidate. @source Cho et al. 2014, arXiv:1406.1078, appendix A.1.1 */
function gruCell(tf: Tf, given: Tensor2D, before: CellState, recurrent: Tensor2D, dim: number): CellState {
  const hidden = before[0]!;
  // The reset gate is applied behind the product, as in the kernels of the field: one product serves all gates.
  const own = matMul(tf, hidden, recurrent);
  const gates = tf.sigmoid(tf.add(columns(tf, given, 0, 2 * dim), columns(tf, own, 0, 2 * dim)));
  const update = columns(tf, gates, 0, dim);
  const reset = columns(tf, gates, dim, dim);
  const candidate = tf.tanh(tf.add(columns(tf, given, 2 * dim, dim), tf.mul(reset, columns(tf, own, 2 * dim, dim))));
  return [tf.add(tf.mul(update, hidden), tf.mul(tf.sub(1, update), candidate)) as Tensor2D];
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

function columns(tf: Tf, rows: tfTypes.Tensor, from: number, count: number): Tensor2D {
  return tf.slice(rows as Tensor2D, [0, from], [-1, count]);
}

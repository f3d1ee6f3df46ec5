/** In-flow: rows of entities made of those of the entities that have edges into them, for a batch or for the whole graph in chunks. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { type AdjacencyRows, int32Lists, reversedRows } from '../../../src/kg/adjacency.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { readTensor } from '../../../src/tensor/ops.js';
import { hostRows, renumbering } from './batch-rows.js';

type Tensor2D = tfTypes.Tensor2D;

/** Edges into some entities, those of each side by side. */
interface InEdges {
  /** int32 [entities + 1]: edges into entity `i` are `offsets[i] .. offsets[i + 1] - 1`; each has one at least. */
  offsets: Int32Array;
  /** int32 [edges]: relation of each. */
  relations: Int32Array;
  /** int32 [edges]: where each comes from. */
  heads: Int32Array;
}

/** Aggregation of the edges into an entity. */
export interface Inflow {
  width: number;
  /** @param rng draws a few of the edges while cloning; without it all are given */
  edgesInto(ids: Int32Array, rng?: Rng): InEdges;
  /**
   * @param entities float32 [rows, any]: of the entities that edges lead into, in their order, and of others
   * @param relations float32 [numRelations + 2, any]
   * @param edges heads are places among `entities`
   * @returns float32 [entities that edges lead into, width], differentiable
   */
  rows(entities: Tensor2D, relations: Tensor2D, edges: InEdges): Tensor2D;
}

/** Edges into entities, staying first: it keeps what an entity is itself. @param most edges drawn of an entity while cloning */
export function inEdgesOf(rows: AdjacencyRows, stay: number, most: number): Inflow['edgesInto'] {
  let reversed: AdjacencyRows | undefined;
  return (ids, rng) => {
    const { offsets, relations, tails } = (reversed ??= reversedRows(rows));
    const ends = new Int32Array(ids.length + 1);
    const chosen = { relations: [] as number[], heads: [] as number[] };
    for (let i = 0; i < ids.length; i++) {
      const [begin, end] = [offsets[ids[i]!] ?? 0, offsets[ids[i]! + 1] ?? 0];
      chosen.relations.push(stay);
      chosen.heads.push(ids[i]!);
      const take = (edge: number) => {
        chosen.relations.push(relations[edge]!);
        chosen.heads.push(tails[edge]!);
      };
      if (!rng || end - begin <= most) for (let edge = begin; edge < end; edge++) take(edge);
      else drawn(begin, end, most, rng).forEach(take);
      ends[i + 1] = chosen.heads.length;
    }
    return { offsets: ends, ...int32Lists(chosen) };
  };
}

/** `count` distinct integers of begin .. end − 1, each as likely as any other. @source Floyd, in Bentley and Floyd 1987, doi:10.1145/30401.315746 */
function drawn(begin: number, end: number, count: number, rng: Rng): Set<number> {
  const chosen = new Set<number>();
  for (let last = end - count; last < end; last++) {
    const one = begin + rng.integer(last - begin + 1);
    chosen.add(chosen.has(one) ? last : one);
  }
  return chosen;
}

/** float32 [numEntities, inflow.width]: rows of all entities by all edges into them. @param edgesAtOnce bounds memory */
export async function allInflowRows(
  tf: Tf,
  inflow: Inflow,
  { values, width }: { values: Float32Array; width: number },
  relations: Tensor2D,
  edgesAtOnce = 2 ** 15,
): Promise<Float32Array> {
  const numEntities = values.length / width;
  const all = new Float32Array(numEntities * inflow.width);
  const renumber = renumbering(numEntities);
  let held: number[] = [];
  let count = 0;
  const flush = async () => {
    const entities = Int32Array.from(held);
    const into = inflow.edgesInto(entities);
    const { ids, indices } = renumber(entities, into.heads);
    const made = await readTensor(tf, () =>
      inflow.rows(tf.tensor2d(hostRows(values, width, ids), [ids.length, width]), relations, {
        ...into,
        heads: indices[1]!,
      }),
    );
    all.set(made, entities[0]! * inflow.width);
    [held, count] = [[], 0];
  };
  for (let entity = 0; entity < numEntities; entity++) {
    const own = inflow.edgesInto(Int32Array.of(entity)).heads.length;
    if (count + own > edgesAtOnce && held.length > 0) await flush();
    held.push(entity);
    count += own;
  }
  if (held.length > 0) await flush();
  return all;
}

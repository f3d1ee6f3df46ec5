/**
 * Attention in and out: entities are first mixed with the ends of edges into them, then mass flows out as in `attn-flow`.
 *
 *   α = softmax over edges j → i of LeakyReLU(V_q·E[i] · (V_k·E[j] + V_m·R[r]) / √d), by heads
 *   G[i] = W_h · [Σ α·(V_m·E[j] + V_m·R[r]) of each head, side by side]
 *
 * The dialogue does not enter G, as in the released code, where what is said is added afterwards: so G is one table of all
 * entities, made once for each state of the weights.
 * @source Jung, Son and Lyu 2020 (AttnIO), EMNLP; rajbsk/kg-cruse (its re-implementation)
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../../src/tensor/backend.js';
import { columns, matMul } from '../../../src/tensor/ops.js';
import { segmentLogSoftmaxColumns, weightedRowSums } from '../../../src/tensor/segments.js';
import { trainedDots } from '../../../src/tensor/table-dots.js';
import type { WalkerSettings } from '../settings.js';
import { attentionHeads, outflow, scaledLeaky } from './attn-flow.js';
import type { HeadShape } from './head.js';
import { type Inflow, inEdgesOf } from './inflow.js';
import { type EmbeddedNetwork, type Layers } from './network.js';

type Tensor2D = tfTypes.Tensor2D;

/** The network with in-flow. */
export function attnIoNetwork(tf: Tf, settings: WalkerSettings, shape: HeadShape, layers: Layers): EmbeddedNetwork {
  const { add, weight } = layers;
  const d = settings.embeddingDim;
  const heads = attentionHeads(tf, settings);
  const out = outflow(tf, settings, layers);
  add('inflow.query', d, heads.width);
  add('inflow.key', d, heads.width);
  add('inflow.message', d, heads.width);
  add('inflow.out', heads.width, d);
  const [ofHeads, ofRelations] = [trainedDots(tf), trainedDots(tf)];
  const [sumOfHeads, sumOfRelations] = [weightedRowSums(tf), weightedRowSums(tf)];
  const inflow: Inflow = {
    width: out.width,
    edgesInto: inEdgesOf(shape.rows, shape.numRelations, settings.inEdges),
    rows(entities, relations, edges) {
      const count = edges.offsets.length - 1;
      const part = (k: number) => columns(tf, entities, d + k * heads.width, heads.width);
      const queries = heads.split(tf.slice(part(0), [0, 0], [count, heads.width]) as Tensor2D);
      const [keys, messages] = [heads.split(part(1)), heads.split(part(2))];
      const relationMessages = heads.split(columns(tf, relations, d + heads.width, heads.width));

      const left = heads.rowsOf(ownersOf(edges.offsets));
      const [byHead, byRelation] = [heads.rowsOf(edges.heads), heads.rowsOf(edges.relations)];
      const dots = tf.add(
        ofHeads(queries, [keys], { left, right: [byHead] }),
        ofRelations(queries, [relationMessages], { left, right: [byRelation] }),
      ) as tfTypes.Tensor1D;
      const scores = scaledLeaky(tf, heads.byPair(dots), heads);
      const shares = heads.byHead(tf.exp(segmentLogSoftmaxColumns(tf, scores, edges.offsets)));
      const sums = tf.add(
        sumOfHeads(shares, messages, { left, right: byHead }, count * heads.count),
        sumOfRelations(shares, relationMessages, { left, right: byRelation }, count * heads.count),
      );
      const mixed = matMul(tf, tf.reshape(sums, [count, heads.width]), weight('inflow.out'));
      return out.ofEntities(mixed);
    },
  };
  return {
    prepared: {
      width: 3 * heads.width,
      entities: (rows) =>
        tf.concat(
          ['inflow.query', 'inflow.key', 'inflow.message'].map((name) => matMul(tf, rows, weight(name))),
          1,
        ),
      relations: (rows) => tf.concat([out.ofRelations(rows), matMul(tf, rows, weight('inflow.message'))], 1),
    },
    inflow,
    scores: (scene) => out.scores(scene, scene.entities),
  };
}

/** int32: segment of each row. */
function ownersOf(offsets: Int32Array): Int32Array {
  const owners = new Int32Array(offsets.at(-1)!);
  for (let s = 0; s + 1 < offsets.length; s++) owners.fill(s, offsets[s], offsets[s + 1]);
  return owners;
}

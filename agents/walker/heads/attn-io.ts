/**
 * Attention flow over a graph: each state sends its mass along the out-edges of where it stands, by a softmax of each head of
 * attention, whose mean is the probability of an edge. `attn-io` is the same over entities that their in-edges have mixed.
 *
 *   h_v = G[v] + W_d·text        G = E here
 *   logit(r, t) = ln mean_heads softmax over out-edges of LeakyReLU(W_q·h_v · (W_k·h_t + W_k·R[r]) / √d)
 *
 * @source Jung, Son and Lyu 2020 (AttnIO), EMNLP; its ablation without in-flow
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../../src/tensor/backend.js';
import { columns, gatherRows, matMul } from '../../../src/tensor/ops.js';
import { segmentLogSoftmaxColumns, weightedRowSums } from '../../../src/tensor/segments.js';
import { trainedDots } from '../../../src/tensor/table-dots.js';
import type { WalkerSettings } from '../settings.js';
import type { HeadShape } from './head.js';
import { inEdgesOf, type Inflow } from './inflow.js';
import type { EmbeddedNetwork, Layers, Scene } from './network.js';

type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;

/** The network without in-flow. */
export function attnFlowNetwork(tf: Tf, settings: WalkerSettings, _: HeadShape, layers: Layers): EmbeddedNetwork {
  const out = outflow(tf, settings, layers);
  const d = settings.embeddingDim;
  return {
    prepared: { width: out.width, entities: out.ofEntities, relations: out.ofRelations },
    scores: (scene) => out.scores(scene, columns(tf, scene.entities, d, out.width)),
  };
}

/** Heads of attention side by side: pairs of rows, of which each head compares its own columns. */
function attentionHeads(tf: Tf, { attentionHeads: count, embeddingDim }: WalkerSettings) {
  const width = count * Math.ceil(embeddingDim / count);
  return {
    count,
    width,
    /** float32 [rows, width] as rows of single heads: [rows · count, width / count]. */
    split: (rows: Tensor2D): Tensor2D => tf.reshape(rows, [-1, width / count]),
    /** Rows of single heads, those of the first head first: equal rows of `index` stay side by side. */
    rowsOf(index: Int32Array) {
      const rows = new Int32Array(index.length * count);
      for (let h = 0; h < count; h++) {
        for (let i = 0; i < index.length; i++) rows[h * index.length + i] = index[i]! * count + h;
      }
      return rows;
    },
    /** float32 [pairs · count], in the order of `rowsOf`, as [pairs, count]. */
    byPair: (values: Tensor1D) => tf.transpose(tf.reshape(values, [count, -1])) as Tensor2D,
    /** Backward pass. */
    byHead: (values: Tensor2D) => tf.reshape(tf.transpose(values), [-1]) as Tensor1D,
  };
}

function outflow(tf: Tf, settings: WalkerSettings, { add, weight }: Layers) {
  const { width, embeddingDim: d } = settings;
  const heads = attentionHeads(tf, settings);
  add('outflow.text', width, d);
  add('outflow.query', d, heads.width);
  add('outflow.key', d, heads.width);
  return {
    width: 2 * heads.width,
    ofEntities: (rows: Tensor2D) =>
      tf.concat([matMul(tf, rows, weight('outflow.query')), matMul(tf, rows, weight('outflow.key'))], 1) as Tensor2D,
    ofRelations: (rows: Tensor2D) => matMul(tf, rows, weight('outflow.key')),
    /**
     * @param entities float32 [entities of the batch, width], by `ofEntities`
     * @returns float32 [N]: ln of each edge's share; those of a state sum to 1
     */
    scores({ batch, text, local, dropped, relations }: Omit<Scene, 'entities'>, entities: Tensor2D): Tensor1D {
      const said = matMul(tf, dropped(text), weight('outflow.text'));
      const queries = tf.add(
        gatherRows(tf, columns(tf, entities, 0, heads.width), local.current),
        matMul(tf, said, weight('outflow.query')),
      ) as Tensor2D;
      const saidKeys = matMul(tf, said, weight('outflow.key'));
      const keys = columns(tf, entities, heads.width, heads.width);
      const relationKeys = columns(tf, relations, d, heads.width);

      const own = heads.split(queries);
      const left = heads.rowsOf(batch.stateOf);
      const byText = tf.sum(tf.mul(own, heads.split(saidKeys)), 1, true) as Tensor2D;
      const dots = [
        trainedDots(tf, own, [heads.split(keys)], { left, right: [heads.rowsOf(local.tails)] }),
        trainedDots(tf, own, [heads.split(relationKeys)], { left, right: [heads.rowsOf(batch.relations)] }),
        tf.reshape(gatherRows(tf, byText, left), [-1]),
      ].reduce((sum, part) => tf.add(sum, part)) as Tensor1D;
      const scores = scaledLeaky(tf, heads.byPair(dots), heads);
      const shares = segmentLogSoftmaxColumns(tf, scores, batch.offsets, batch.logWeights);
      return tf.sub(tf.logSumExp(shares, 1), Math.log(heads.count)) as Tensor1D;
    },
  };
}

/** LeakyReLU(x / √d), d the columns of one head. */
function scaledLeaky(tf: Tf, dots: Tensor2D, { width, count }: { width: number; count: number }): Tensor2D {
  return tf.leakyRelu(tf.mul(dots, Math.sqrt(count / width)) as Tensor2D, 0.2);
}

/**
 * The network with in-flow: entities are first mixed with the ends of edges into them, then mass flows out as in `attn-flow`.
 *
 *   α = softmax over edges j → i of LeakyReLU(V_q·E[i] · (V_k·E[j] + V_m·R[r]) / √d), by heads
 *   G[i] = W_h · [Σ α·(V_m·E[j] + V_m·R[r]) of each head, side by side]
 *
 * The dialogue does not enter G, as in the released code, where what is said is added afterwards: so G is one table of all
 * entities, made once for each state of the weights.
 * @source Jung, Son and Lyu 2020 (AttnIO), EMNLP; rajbsk/kg-cruse (its re-implementation)
 */
export function attnIoNetwork(tf: Tf, settings: WalkerSettings, shape: HeadShape, layers: Layers): EmbeddedNetwork {
  const { add, weight } = layers;
  const d = settings.embeddingDim;
  const heads = attentionHeads(tf, settings);
  const out = outflow(tf, settings, layers);
  const by = (rows: Tensor2D, name: string) => matMul(tf, rows, weight(name));
  add('inflow.query', d, heads.width);
  add('inflow.key', d, heads.width);
  add('inflow.message', d, heads.width);
  add('inflow.out', heads.width, d);
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
        trainedDots(tf, queries, [keys], { left, right: [byHead] }),
        trainedDots(tf, queries, [relationMessages], { left, right: [byRelation] }),
      ) as tfTypes.Tensor1D;
      const scores = scaledLeaky(tf, heads.byPair(dots), heads);
      const shares = heads.byHead(tf.exp(segmentLogSoftmaxColumns(tf, scores, edges.offsets)));
      const sums = tf.add(
        weightedRowSums(tf, shares, messages, { left, right: byHead }, count * heads.count),
        weightedRowSums(tf, shares, relationMessages, { left, right: byRelation }, count * heads.count),
      );
      const mixed = matMul(tf, tf.reshape(sums, [count, heads.width]), weight('inflow.out'));
      return out.ofEntities(mixed);
    },
  };
  return {
    prepared: {
      width: 3 * heads.width,
      entities: (rows) => tf.concat([by(rows, 'inflow.query'), by(rows, 'inflow.key'), by(rows, 'inflow.message')], 1),
      relations: (rows) => tf.concat([out.ofRelations(rows), by(rows, 'inflow.message')], 1),
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

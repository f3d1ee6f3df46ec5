/**
 * The recommended head: a trunk over the dialogue and the walk so far meets each edge by two dot products (relation,
 * tail) and by a small MLP that also reads the edge's features.
 *
 *   x = trunk([text ; E[start] ; E[current] ; R[last] ; R[previous path] ; scalars])
 *   logit(r, t) = (Gt·x · E[t] + Gr·x · R[r]) / √d + w·relu(W2·relu(As·x + Ar·R[r] + At·E[t] + Af·f)) + v·f
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../../src/tensor/backend.js';
import { columns, gatherRows, gatherSum, matMul, matMulConst, pairDot, relu } from '../../../src/tensor/ops.js';
import type { WalkerSettings } from '../settings.js';
import { type HeadShape } from './head.js';
import { type EmbeddedNetwork, type Layers, pickRelations } from './network.js';

type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;

export function candidateNetwork(
  tf: Tf,
  { width, embeddingDim: d, hidden }: WalkerSettings,
  { numScalars, numEdgeFeatures }: HeadShape,
  layers: Layers,
): EmbeddedNetwork {
  const { parameters, weight, dense } = layers;
  layers.add('trunk.1', width + 4 * d + numScalars, width, true);
  layers.add('trunk.2', width, width, true);
  layers.add('state.tail', width, d);
  layers.add('state.relation', width, d);
  layers.add('edge.state', width, hidden, true);
  layers.add('edge.tail', d, hidden);
  layers.add('edge.relation', d, hidden);
  layers.add('edge.hidden', hidden, hidden, true);
  layers.add('edge.out', hidden, 1);
  if (numEdgeFeatures > 0) {
    layers.add('edge.features', numEdgeFeatures, hidden);
    parameters.add('edge.linear', [numEdgeFeatures, 1], new Float32Array(numEdgeFeatures));
  }
  return {
    readsFeatures: true,
    prepared: {
      width: hidden,
      entities: (rows) => matMul(tf, rows, weight('edge.tail')),
      relations: (rows) => matMul(tf, rows, weight('edge.relation')),
    },
    scores({ batch, text, local, dropped, ...rows }) {
      const entities = columns(tf, rows.entities, 0, d);
      const relations = columns(tf, rows.relations, 0, d);
      const inputs = tf.concat(
        [
          text,
          gatherRows(tf, entities, local.start),
          gatherRows(tf, entities, local.current),
          gatherRows(tf, relations, batch.lastRelation),
          gatherRows(tf, relations, batch.previousPathRelation),
          tf.tensor2d(batch.scalars, [batch.numStates, numScalars]),
        ],
        1,
      );
      const first = dropped(relu(tf, dense(dropped(inputs), 'trunk.1')));
      const state = dropped(relu(tf, dense(first, 'trunk.2')));

      const toTail = matMul(tf, state, weight('state.tail'));
      const toRelation = matMul(tf, matMul(tf, state, weight('state.relation')), tf.transpose(relations));
      const dots = tf.mul(
        tf.add(pairDot(tf, toTail, entities, batch.stateOf, local.tails), pickRelations(tf, toRelation, batch)),
        1 / Math.sqrt(d),
      );

      const sums = gatherSum(
        tf,
        [dense(state, 'edge.state'), columns(tf, rows.relations, d, hidden), columns(tf, rows.entities, d, hidden)],
        [batch.stateOf, batch.relations, local.tails],
      );
      const features =
        numEdgeFeatures > 0 ? tf.tensor2d(batch.edgeFeatures, [batch.tails.length, numEdgeFeatures]) : undefined;
      const mixed = features ? (tf.add(sums, matMulConst(tf, features, weight('edge.features'))) as Tensor2D) : sums;
      const second = relu(tf, dense(relu(tf, mixed), 'edge.hidden'));
      const byMlp = tf.reshape(matMul(tf, second, weight('edge.out')), [-1]);
      const byFeatures = features ? tf.reshape(matMulConst(tf, features, weight('edge.linear')), [-1]) : undefined;
      const logits = tf.add(dots, byMlp);
      return (byFeatures ? tf.add(logits, byFeatures) : logits) as Tensor1D;
    },
  };
}

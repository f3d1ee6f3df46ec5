/**
 * The recommended head: a trunk over the dialogue and the walk so far meets each edge by two dot products (relation,
 * tail) and by a small MLP that also reads the edge's features.
 *
 *   x = trunk([text ; E[start] ; E[current] ; R[last] ; R[previous path] ; scalars])
 *   logit(r, t) = (Gt·x · E[t] + Gr·x · R[r]) / √d + w·relu(W2·relu(As·x + Ar·R[r] + At·E[t] + Af·f)) + v·f
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../../src/tensor/backend.js';
import { columns, gatherRows, gatherSum, matMul, matMulConst, relu } from '../../../src/tensor/ops.js';
import { pairDot } from '../../../src/tensor/table-dots.js';
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
  for (const layer of candidateLayers({ width, embeddingDim: d, hidden }, { numScalars, numEdgeFeatures })) {
    layers.add(...layer);
  }
  if (numEdgeFeatures > 0) {
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

/** Layers over embedded rows: name, inputs, outputs, true with a bias. */
export const candidateLayers = (
  { width, embeddingDim: d, hidden }: Pick<WalkerSettings, 'width' | 'embeddingDim' | 'hidden'>,
  { numScalars, numEdgeFeatures }: Pick<HeadShape, 'numScalars' | 'numEdgeFeatures'>,
): (readonly [name: string, rows: number, columns: number, biased?: boolean])[] => [
  ['trunk.1', width + 4 * d + numScalars, width, true],
  ['trunk.2', width, width, true],
  ['state.tail', width, d],
  ['state.relation', width, d],
  ['edge.state', width, hidden, true],
  ['edge.tail', d, hidden],
  ['edge.relation', d, hidden],
  ['edge.hidden', hidden, hidden, true],
  ['edge.out', hidden, 1],
  ...(numEdgeFeatures > 0 ? [['edge.features', numEdgeFeatures, hidden] as const] : []),
];

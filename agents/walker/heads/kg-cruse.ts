/**
 * KG-CRuSE: an LSTM reads the dialogue and the walk so far, and what it makes of them meets each edge by one dot product.
 *
 *   h = LSTM(C · text, [E[start] ; R[none]], [E[v1] ; R[r1]], …)     x = L3 · relu(L2 · relu(L1 · h))
 *   logit(r, t) = x · [E[t] ; R[r]] / √(2 d)
 *
 * @source Sarkar et al. 2022, KG-CRuSE, and its public code; what differs is told in docs/dialogue-walkers.md
 */
import type { Tensor1D } from '@tensorflow/tfjs-core';
import type { Tf } from '../../../src/tensor/backend.js';
import { matMul, pairDot, relu } from '../../../src/tensor/ops.js';
import type { WalkerSettings } from '../settings.js';
import { columns, createEmbeddedHead, type EmbeddedNetwork, type Layers, pickRelations } from './embedded-head.js';
import type { HeadShape, WalkerHead } from './head.js';
import { createWalkLstm } from './walk-lstm.js';

/** Builds the head. @param seed what its weights start from */
export function createKgCruseHead(tf: Tf, settings: WalkerSettings, shape: HeadShape, seed?: number): WalkerHead {
  return createEmbeddedHead(tf, settings, shape, (layers) => kgCruseNetwork(tf, settings, shape, layers, seed), seed);
}

function kgCruseNetwork(
  tf: Tf,
  { width, embeddingDim: d, recurrentLayers, recurrentUnits: units }: WalkerSettings,
  shape: HeadShape,
  layers: Layers,
  seed?: number,
): EmbeddedNetwork {
  const { parameters, dense } = layers;
  layers.add('said', width, 2 * d, true);
  const walk = createWalkLstm(tf, parameters, shape, { layers: recurrentLayers, units, embeddingDim: d }, seed);
  layers.add('state.1', units, width, true);
  layers.add('state.2', width, width, true);
  layers.add('state.3', width, 2 * d, true);
  return {
    scores(scene) {
      const { batch, text, entities, relations, local, dropped } = scene;
      const first = dropped(relu(tf, dense(walk(dense(text, 'said'), scene), 'state.1')));
      const second = dropped(relu(tf, dense(first, 'state.2')));
      const state = dense(second, 'state.3');
      const byTail = pairDot(tf, columns(tf, state, 0, d), entities, batch.stateOf, local.tails);
      const toRelations = matMul(tf, columns(tf, state, d, d), tf.transpose(relations));
      return tf.mul(tf.add(byTail, pickRelations(tf, toRelations, batch)), 1 / Math.sqrt(2 * d)) as Tensor1D;
    },
  };
}

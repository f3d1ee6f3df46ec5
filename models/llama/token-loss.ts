/** Cross-entropy of a Llama on the next tokens. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../src/tensor/backend.js';
import { gatherRows } from '../../src/tensor/ops.js';
import type { ParameterSet } from '../../src/tensor/parameters.js';
import type { LlamaConfig } from './config.js';
import { hiddenStates, logitsOf, type TokenBatch } from './forward.js';

type Tensor2D = tfTypes.Tensor2D;
type Save = (tensors: tfTypes.Tensor[]) => void;

/** The places of a batch whose next token counts: place i predicts `labels[i]` with `weights[i]` > 0. */
export interface Targets {
  /** Rows of the batch's states, int32 [m]. */
  rows: Int32Array;
  /** The token that follows, int32 [m]. */
  labels: Int32Array;
  /** float32 [m]. */
  weights: Float32Array;
}

/** Logits of the targets' places alone, float32 [m, vocabSize]: the table is the widest product, and most places do not count. */
export function targetLogits(
  parameters: ParameterSet,
  config: LlamaConfig,
  batch: TokenBatch,
  targets: Targets,
): Tensor2D {
  return logitsOf(parameters, gatherRows(parameters.tf, hiddenStates(parameters, config, batch), targets.rows));
}

/** Σ weight · −log p(label), in nats: a scalar, with its gradient in closed form. */
export function weightedCrossEntropy(tf: Tf, logits: Tensor2D, { labels, weights }: Targets): tfTypes.Scalar {
  const op = tf.customGrad((x, save) => {
    const logs = tf.logSoftmax(x as Tensor2D);
    const right = tf.cast(tf.oneHot(tf.tensor1d(labels, 'int32'), logits.shape[1]), 'float32');
    const weight = tf.tensor2d(weights, [weights.length, 1]);
    (save as Save)([logs, right, weight]);
    return {
      value: tf.neg(tf.sum(tf.mul(tf.sum(tf.mul(logs, right), 1, true), weight))),
      gradFunc: (dy: tfTypes.Tensor, saved: tfTypes.Tensor[]) => {
        const [logP, label, factor] = saved as [Tensor2D, Tensor2D, Tensor2D];
        return tf.mul(tf.sub(tf.exp(logP), label), tf.mul(factor, dy));
      },
    };
  });
  return op(logits) as tfTypes.Scalar;
}

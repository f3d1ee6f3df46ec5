/** The Llama: tokens to states, states to logits; differentiable in every weight, on native TensorFlow and on wasm. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { gatherRows } from '../../src/tensor/ops.js';
import type { ParameterSet } from '../../src/tensor/parameters.js';
import { causalAttention } from './causal-attention.js';
import type { LlamaConfig } from './config.js';
import { gatedUnit, linear, rmsNorm } from './layers.js';
import { rotate, rotation } from './rotary.js';

type Tensor2D = tfTypes.Tensor2D;

/** Equally long sequences of token ids, one after the other. */
export interface TokenBatch {
  /** int32 [batch · length]. */
  ids: Int32Array;
  batch: number;
  /** At most the context length. */
  length: number;
}

/**
 * States after the last norm, float32 [batch · length, dim]. No token sees a later one, so what stands behind a
 * sequence to fill its batch changes nothing before it. Call inside `tf.tidy` or a gradient.
 */
export function hiddenStates(parameters: ParameterSet, config: LlamaConfig, tokens: TokenBatch): Tensor2D {
  const { tf } = parameters;
  const { batch, length } = tokens;
  const { dim, heads, kvHeads, normEps } = config;
  const size = dim / heads;
  const group = heads / kvHeads;
  const weight = (name: string) => parameters.get(`${name}.weight`) as tfTypes.Tensor as Tensor2D;
  const norm = (x: Tensor2D, name: string) =>
    rmsNorm(tf, x, weight(name) as tfTypes.Tensor as tfTypes.Tensor1D, normEps);
  const queryTurn = rotation(tf, config, length, heads);
  const keyTurn = rotation(tf, config, length, kvHeads);

  /** [batch · length, kvHeads · width] → [batch · kvHeads, length · width / headDim, headDim]. */
  const toHeads = (x: Tensor2D, width: number) =>
    tf.reshape(tf.transpose(tf.reshape(x, [batch, length, kvHeads, width]), [0, 2, 1, 3]), [
      batch * kvHeads,
      (length * width) / size,
      size,
    ]) as tfTypes.Tensor3D;
  const fromHeads = (x: tfTypes.Tensor3D): Tensor2D =>
    tf.reshape(tf.transpose(tf.reshape(x, [batch, kvHeads, length, group * size]), [0, 2, 1, 3]), [-1, dim]);

  let x = gatherRows(tf, weight('token_embd'), tokens.ids);
  for (let layer = 0; layer < config.layers; layer++) {
    const own = (name: string) => `blk.${layer}.${name}`;
    const before = norm(x, own('attn_norm'));
    const q = toHeads(rotate(tf, linear(tf, before, weight(own('attn_q'))), queryTurn), group * size);
    const k = toHeads(rotate(tf, linear(tf, before, weight(own('attn_k'))), keyTurn), size);
    const v = toHeads(linear(tf, before, weight(own('attn_v'))), size);
    const attended = fromHeads(causalAttention(tf, q, k, v, group));
    x = tf.add(x, linear(tf, attended, weight(own('attn_output'))));
    const between = norm(x, own('ffn_norm'));
    const inner = gatedUnit(
      tf,
      linear(tf, between, weight(own('ffn_gate'))),
      linear(tf, between, weight(own('ffn_up'))),
    );
    x = tf.add(x, linear(tf, inner, weight(own('ffn_down'))));
  }
  return norm(x, 'output_norm');
}

/** Logits of states: [n, dim] → float32 [n, vocabSize], by the embedding table. */
export function logitsOf(parameters: ParameterSet, states: Tensor2D): Tensor2D {
  return linear(parameters.tf, states, parameters.get('token_embd.weight') as tfTypes.Tensor as Tensor2D);
}

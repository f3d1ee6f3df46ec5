/** Transformer layers over a few tokens a state: attention by several heads, layer norms before each part. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../../src/tensor/backend.js';
import { matMul, relu } from '../../../src/tensor/ops.js';
import type { Layers, Scene } from './network.js';

type Tensor2D = tfTypes.Tensor2D;

/** Rows that are attended to. */
export interface Tokens {
  /** float32 [states · perState, dim], those of a state side by side. */
  rows: Tensor2D;
  perState: number;
  /** float32 [states · perState]: 1 where a token is there, 0 where its place is empty; at least one a state is there. */
  there: Float32Array;
}

/** Layers that share a width. @source Vaswani et al. 2017, arXiv:1706.03762; norms before each part: Xiong et al. 2020, arXiv:2002.04745 */
export function createTransformer(tf: Tf, layers: Layers, { dim, heads }: { dim: number; heads: number }) {
  const { parameters, weight, dense } = layers;
  /** Columns of one head; the last ones are spare where `dim` is no multiple. */
  const own = Math.ceil(dim / heads);

  /** To mean 0 and variance 1 a row, then gain and bias. @source Ba et al. 2016, arXiv:1607.06450 */
  const norm = (name: string) => {
    parameters.add(`${name}.gain`, [dim], new Float32Array(dim).fill(1));
    parameters.add(`${name}.bias`, [dim], new Float32Array(dim));
    return (rows: Tensor2D) => {
      const centred = tf.sub(rows, tf.mean(rows, 1, true));
      const scale = tf.rsqrt(tf.add(tf.mean(tf.square(centred), 1, true), 1e-5));
      return tf.add(tf.mul(tf.mul(centred, scale), weight(`${name}.gain`)), weight(`${name}.bias`)) as Tensor2D;
    };
  };

  /** [states · n, heads · own] → [states · heads, n, own] */
  const split = (rows: Tensor2D, n: number) =>
    tf.reshape(tf.transpose(tf.reshape(rows, [-1, n, heads, own]), [0, 2, 1, 3]), [-1, n, own]) as tfTypes.Tensor3D;

  const attention = (name: string) => {
    for (const part of ['query', 'key', 'value']) layers.add(`${name}.${part}`, dim, heads * own);
    layers.add(`${name}.out`, heads * own, dim, true);
    return (queries: Tensor2D, { rows, perState, there }: Tokens) => {
      const states = rows.shape[0] / perState;
      const asked = queries.shape[0] / states;
      const [query, key, value] = [
        split(matMul(tf, queries, weight(`${name}.query`)), asked),
        split(matMul(tf, rows, weight(`${name}.key`)), perState),
        split(matMul(tf, rows, weight(`${name}.value`)), perState),
      ];
      const hidden = tf.tensor4d(
        there.map((one) => (one ? 0 : -1e9)),
        [states, 1, 1, perState],
      );
      const dots = tf.mul(tf.matMul(query, tf.transpose(key, [0, 2, 1])), 1 / Math.sqrt(own));
      const masked = tf.add(tf.reshape(dots, [states, heads, asked, perState]), hidden);
      const weights = tf.reshape(tf.softmax(masked), [-1, asked, perState]) as tfTypes.Tensor3D;
      const mixed = tf.reshape(tf.matMul(weights, value), [states, heads, asked, own]);
      const joined = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, heads * own]) as Tensor2D;
      return dense(joined, `${name}.out`);
    };
  };

  const feedForward = (name: string) => {
    layers.add(`${name}.hidden`, dim, 2 * dim, true);
    layers.add(`${name}.out`, 2 * dim, dim, true);
    return (rows: Tensor2D) => dense(relu(tf, dense(rows, `${name}.hidden`)), `${name}.out`);
  };

  return {
    norm,
    /** Adds the weights of an encoder layer, and gives what it makes of tokens: as many rows. */
    encoder(name: string) {
      const [before, attend] = [norm(`${name}.norm.1`), attention(`${name}.attention`)];
      const [between, feed] = [norm(`${name}.norm.2`), feedForward(`${name}.feed`)];
      return (tokens: Tokens, dropped: Scene['dropped']): Tokens => {
        const normed = before(tokens.rows);
        const first = tf.add(tokens.rows, dropped(attend(normed, { ...tokens, rows: normed }))) as Tensor2D;
        return { ...tokens, rows: tf.add(first, dropped(feed(between(first)))) as Tensor2D };
      };
    },
    /** Adds the weights of a decoder layer, and gives what it makes of one query a state: float32 [states, dim]. */
    decoder(name: string) {
      const [before, attend] = [norm(`${name}.norm.1`), attention(`${name}.attention`)];
      const [between, feed] = [norm(`${name}.norm.2`), feedForward(`${name}.feed`)];
      return (queries: Tensor2D, tokens: Tokens, dropped: Scene['dropped']) => {
        const first = tf.add(queries, dropped(attend(before(queries), tokens))) as Tensor2D;
        return tf.add(first, dropped(feed(between(first)))) as Tensor2D;
      };
    },
  };
}

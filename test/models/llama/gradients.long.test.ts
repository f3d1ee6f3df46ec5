import { beforeAll, describe, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { causalAttention } from '../../../models/llama/causal-attention.js';
import { gatedUnit, linear, rmsNorm } from '../../../models/llama/layers.js';
import { rotate, rotation } from '../../../models/llama/rotary.js';
import { weightedCrossEntropy } from '../../../models/llama/token-loss.js';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { normalValues } from '../../../src/tensor/parameters.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { backendsHere } from '../../fixtures/tensor-backends.js';
import { tinyLlamaConfig } from '../../fixtures/tiny-llama.js';

type Tensor2D = tfTypes.Tensor2D;
type Tensor3D = tfTypes.Tensor3D;

const targets = {
  rows: Int32Array.of(0, 1, 2),
  labels: Int32Array.of(3, 0, 1),
  weights: Float32Array.of(1, 0.25, 2),
};
/** Longer than a block of attention. */
const long = 130;

interface Case {
  name: string;
  shapes: number[][];
  ours(tf: Tf, inputs: tfTypes.Tensor[]): tfTypes.Tensor;
  plain(tf: Tf, inputs: tfTypes.Tensor[]): tfTypes.Tensor;
}

const cases: Case[] = [
  {
    name: 'a product with a weight',
    shapes: [
      [3, 4],
      [5, 4],
    ],
    ours: (tf, [x, w]) => linear(tf, x as Tensor2D, w as Tensor2D),
    plain: (tf, [x, w]) => tf.matMul(x!, w!, false, true),
  },
  {
    name: 'RMSNorm',
    shapes: [[3, 4], [4]],
    ours: (tf, [x, gain]) => rmsNorm(tf, x as Tensor2D, gain as tfTypes.Tensor1D, 0.1),
    plain: (tf, [x, gain]) => tf.mul(tf.div(x!, tf.sqrt(tf.add(tf.mean(tf.square(x!), 1, true), 0.1))), gain!),
  },
  {
    name: 'the gate of SwiGLU',
    shapes: [
      [3, 4],
      [3, 4],
    ],
    ours: (tf, [gate, up]) => gatedUnit(tf, gate as Tensor2D, up as Tensor2D),
    plain: (tf, [gate, up]) => tf.mul(tf.mul(gate!, tf.sigmoid(gate!)), up!),
  },
  {
    name: 'rotary positions',
    shapes: [[6, 4]],
    ours: (tf, [x]) => rotate(tf, x as Tensor2D, rotation(tf, { ...tinyLlamaConfig, dim: 4, heads: 2 }, 3, 2)),
    // One pair a head, so its angle is the place itself.
    plain: (tf, [x]) => {
      const places = tf.tensor3d([0, 1, 2, 0, 1, 2], [6, 1, 1]);
      const [a, b] = tf.split(tf.reshape(x!, [6, 2, 2]), 2, 2) as [tfTypes.Tensor, tfTypes.Tensor];
      const [cos, sin] = [tf.cos(places), tf.sin(places)];
      const turned = [tf.sub(tf.mul(a, cos), tf.mul(b, sin)), tf.add(tf.mul(a, sin), tf.mul(b, cos))];
      return tf.reshape(tf.concat(turned, 2), [6, 4]);
    },
  },
  ...[3, long].map((length) => ({
    name: `attention over ${length} places`,
    // Fewer heads where there are many places: the plain backend takes long for each.
    shapes: [length * 2, length, length].map((rows) => [length === long ? 2 : 3, rows, 2]),
    ours: (tf: Tf, [q, k, v]: tfTypes.Tensor[]) => causalAttention(tf, q as Tensor3D, k as Tensor3D, v as Tensor3D, 2),
    plain: (tf: Tf, [q, k, v]: tfTypes.Tensor[]) => {
      const rows = tf.expandDims(tf.floor(tf.div(tf.range(0, length * 2), 2)), 1);
      const seen = tf.lessEqual(tf.expandDims(tf.range(0, length), 0), rows);
      const scores = tf.div(tf.matMul(q!, k!, false, true), Math.SQRT2);
      return tf.matMul(tf.softmax(tf.where(seen, scores, tf.fill(scores.shape, -1e9))), v!);
    },
  })),
  {
    name: 'the loss',
    shapes: [[3, 5]],
    ours: (tf, [logits]) => weightedCrossEntropy(tf, logits as Tensor2D, targets),
    plain: (tf, [logits]) => {
      const right = tf.oneHot(tf.tensor1d(targets.labels, 'int32'), 5);
      const each = tf.neg(tf.sum(tf.mul(tf.logSoftmax(logits!), right), 1));
      return tf.sum(tf.mul(each, tf.tensor1d(targets.weights)));
    },
  },
];

describe.each(await backendsHere())('on %s', (name) => {
  let tf: Tf;
  beforeAll(async () => {
    ({ tf } = await openBackend(name));
  });

  test.each(cases)('$name has the value and gradient of the plain operations', ({ shapes, ours, plain }) => {
    const rng = new Rng(5);
    const inputs = shapes.map((shape) =>
      tf.tensor(
        normalValues(
          rng,
          1,
          shape.reduce((a, b) => a * b, 1),
        ),
        shape,
      ),
    );
    const measured = (make: Case['ours']) =>
      tf.tidy(() => {
        const out = make(tf, inputs);
        const weights = tf.tensor(normalValues(new Rng(6), 1, out.size), out.shape);
        const gradients = tf.grads((...given) => tf.sum(tf.mul(make(tf, given), weights)))(inputs);
        return [out, ...gradients].map((tensor) => tensor.dataSync());
      });
    const expected = measured(plain);
    measured(ours).forEach((values, i) => expectClose(values, expected[i]!, 1e-4));
    tf.dispose(inputs);
  });
});

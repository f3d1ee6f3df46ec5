import { beforeAll, describe, expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { matMulConst } from '../../../src/tensor/ops.js';
import { ParameterSet } from '../../../src/tensor/parameters.js';
import { backendsHere } from '../../fixtures/tensor-backends.js';
import { gradientsOf } from '../../fixtures/gradient-check.js';

const input = [1, -2, 3, 4, -5, 6];

describe.each(await backendsHere([]))('gradients on %s', (name) => {
  let tf: Tf;
  let parameters: ParameterSet;
  beforeAll(async () => {
    tf = (await openBackend(name)).tf;
    parameters = new ParameterSet(tf);
    parameters.add('w', [3, 2], Float32Array.of(0.3, -0.1, 0.2, 0.4, -0.6, 0.5));
    parameters.add('b', [2], Float32Array.of(0.1, -0.2));
  });

  /** w serves twice, so that its gradients add up. */
  const outputs = () => {
    const [w, b] = ['w', 'b'].map((key) => parameters.get(key)) as [unknown, tfTypes.Tensor];
    const once = tf.tanh(tf.add(matMulConst(tf, tf.tensor2d(input, [2, 3]), w as tfTypes.Tensor2D), b));
    return tf.add(once, tf.sum(tf.square(w as tfTypes.Tensor2D), 0));
  };
  const read = async (gradients: tfTypes.Tensor[]) => {
    const values = await Promise.all(gradients.map(async (gradient) => Array.from(await gradient.data())));
    tf.dispose(gradients);
    return values;
  };

  test('by a gradient from the host are those of the same loss in tensors', async () => {
    const seen: number[][] = [];
    const grad = (values: Float32Array) => {
      seen.push([...values]);
      return values.map((value, i) => 2 * value * (i + 1));
    };
    const ours = await read(await gradientsOf(tf, { outputs, grad }, parameters.variables));
    const loss = () => tf.sum(tf.mul(tf.square(outputs()), tf.tensor2d([1, 2, 3, 4], [2, 2]))) as tfTypes.Scalar;
    const stock = tf.tidy(() => Object.values(tf.variableGrads(loss, parameters.variables).grads));
    const expected = await read(stock);
    expect(seen).toHaveLength(1);
    expect(ours.flat().some((value) => Math.abs(value) > 0.1)).toBe(true);
    ours.flat().forEach((value, i) => expect(value).toBeCloseTo(expected.flat()[i]!, 5));
  });

  test('are right when other tensors are made, read and freed between the two halves', async () => {
    const grad = (values: Float32Array) => values;
    const alone = await read(await gradientsOf(tf, { outputs, grad }, parameters.variables));
    const ones = (values: Float32Array) => values.map(() => 1);
    const [one, other, third] = await Promise.all(
      [grad, grad, ones].map((by) => gradientsOf(tf, { outputs, grad: by }, parameters.variables).then(read)),
    );
    expect([one, other]).toEqual([alone, alone]);
    expect(third).not.toEqual(alone);
  });

  test('leave nothing behind, nor does a gradient that throws', async () => {
    const held = tf.memory().numTensors;
    const made = await gradientsOf(tf, { outputs, grad: (values) => values }, parameters.variables);
    expect(tf.memory().numTensors).toBe(held + made.length);
    tf.dispose(made);
    const failing = () => {
      throw new Error('not finite');
    };
    await expect(gradientsOf(tf, { outputs, grad: failing }, parameters.variables)).rejects.toThrow('not finite');
    await expect(gradientsOf(tf, { outputs: failing, grad: failing }, parameters.variables)).rejects.toThrow();
    expect(tf.memory().numTensors).toBe(held);
    // The tape is not left open: this would be recorded.
    tf.dispose(await gradientsOf(tf, { outputs, grad: (values) => values }, parameters.variables));
    expect(tf.memory().numTensors).toBe(held);
  });
});

import { beforeAll, describe, expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { AdamW } from '../../../src/tensor/adamw.js';
import type { AdamWOptions, Gather } from '../../../src/tensor/trainable.js';
import { Diverged } from '../../../src/tensor/diverged.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { matMulConst } from '../../../src/tensor/ops.js';
import { ParameterSet } from '../../../src/tensor/parameters.js';
import { gradientsOf } from '../../fixtures/gradient-check.js';
import { backendsHere } from '../../fixtures/tensor-backends.js';

const starts = { a: [1, -2, 0.5], b: [3, 0] };
const targets = { a: [0, 1, 0.5], b: [-1, 2] };
/** Curvature of each parameter's square; large for `b`, so that a clip of the whole norm differs from one of each part. */
const curvature = { a: 1, b: 6 };

/** The same rule in float64, one scalar at a time, with moments divided by their bias as the paper writes it. */
function scalarAdamW(steps: number, learningRate: number, options: AdamWOptions) {
  const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0, maxGradNorm = Infinity } = options;
  const values = [...starts.a, ...starts.b];
  const goals = [...targets.a, ...targets.b];
  const grads = [1, 1, 1, 6, 6];
  const m = values.map(() => 0);
  const v = values.map(() => 0);
  const norms: number[] = [];
  for (let t = 1; t <= steps; t++) {
    const gradients = values.map((value, i) => 2 * grads[i]! * (value - goals[i]!));
    const norm = Math.hypot(...gradients);
    norms.push(norm);
    values.forEach((value, i) => {
      const g = gradients[i]! * Math.min(1, maxGradNorm / norm);
      m[i] = beta1 * m[i]! + (1 - beta1) * g;
      v[i] = beta2 * v[i]! + (1 - beta2) * g * g;
      const mHat = m[i]! / (1 - beta1 ** t);
      const vHat = v[i]! / (1 - beta2 ** t);
      values[i] = value - learningRate * (mHat / (Math.sqrt(vHat) + epsilon) + weightDecay * value);
    });
  }
  return { values, norms };
}

let tf: Tf;
beforeAll(async () => {
  ({ tf } = await openBackend('cpu'));
});

function parameterSet(): ParameterSet {
  const parameters = new ParameterSet(tf);
  parameters.add('a', [3], Float32Array.from(starts.a));
  parameters.add('b', [2, 1], Float32Array.from(starts.b));
  return parameters;
}

function loss(parameters: ParameterSet): tfTypes.Scalar {
  const part = (name: 'a' | 'b') => {
    const parameter = parameters.get(name);
    const difference = tf.sub(parameter, tf.tensor(targets[name], parameter.shape));
    return tf.mul(tf.sum(tf.square(difference)), curvature[name]);
  };
  return tf.add(part('a'), part('b')) as tfTypes.Scalar;
}

const valuesOf = async (parameters: ParameterSet) =>
  Object.values(await parameters.export()).flatMap(({ data }) => Array.from(data));

describe('AdamW', () => {
  test('leaves a weight as it is that a batch does not reach', async () => {
    const parameters = parameterSet();
    const optimizer = new AdamW(parameters, { maxGradNorm: 1 });
    await optimizer.minimize([() => tf.sum(tf.square(parameters.get('a')))], 0.1);
    await optimizer.step(async (record) => {
      const { values, back } = await record(() => tf.square(parameters.get('a')));
      back(values);
    }, 0.1);
    const { a, b } = await parameters.export();
    expect(Array.from(b!.data)).toEqual(starts.b);
    expect(a!.data.every((value, i) => Math.abs(value) < Math.abs(starts.a[i]!))).toBe(true);
  });

  test.each<[string, AdamWOptions]>([
    ['its defaults', {}],
    ['weight decay', { weightDecay: 0.1 }],
    ['a clip of the global norm', { maxGradNorm: 2 }],
    ['everything set', { beta1: 0.8, beta2: 0.95, epsilon: 1e-3, weightDecay: 0.05, maxGradNorm: 5 }],
  ])('with %s follows an independent scalar version for 25 steps', async (_, options) => {
    const parameters = parameterSet();
    const optimizer = new AdamW(parameters, options);
    const norms: number[] = [];
    for (let i = 0; i < 25; i++) norms.push(await optimizer.minimize([() => loss(parameters)], 0.05));
    const expected = scalarAdamW(25, 0.05, options);
    (await valuesOf(parameters)).forEach((value, i) => expect(value).toBeCloseTo(expected.values[i]!, 4));
    norms.forEach((norm, i) => expect(norm / expected.norms[i]!).toBeCloseTo(1, 4));
  });

  test('after its state is restored elsewhere, one more step is equal to the bit', async () => {
    const options = { weightDecay: 0.01, maxGradNorm: 3 };
    const original = parameterSet();
    const optimizer = new AdamW(original, options);
    for (let i = 0; i < 5; i++) await optimizer.minimize([() => loss(original)], 0.1);
    const { steps, tensors } = await optimizer.exportState('optimizer/');
    const weights = await original.export();
    expect(steps).toBe(5);
    const names = ['first/a', 'first/b', 'second/a', 'second/b'].map((name) => `optimizer/${name}`);
    expect(Object.keys(tensors).sort()).toEqual(names);

    const copy = parameterSet();
    const resumed = new AdamW(copy, options);
    copy.import(weights);
    resumed.importState('optimizer/', steps, { ...tensors, 'other/first/a': weights.a! });
    for (const one of [optimizer, resumed]) await one.minimize([() => loss(one.parameters as ParameterSet)], 0.1);
    expect(await copy.export()).toEqual(await original.export());
    expect(await resumed.exportState('')).toEqual(await optimizer.exportState(''));
  });

  test('a state that lacks a moment is refused', async () => {
    const parameters = parameterSet();
    const optimizer = new AdamW(parameters);
    const { tensors } = await optimizer.exportState('');
    const { 'second/b': _left, ...others } = tensors;
    expect(() => optimizer.importState('', 3, others)).toThrow('expected float32 parameter b of shape [2,1], got none');
  });

  describe.each([
    ['tensors', false],
    ['the host', true],
  ])('on %s stops before anything is changed', (_, onHost) => {
    /** Makes a step that must fail, and says why it did. */
    async function failureOf(options: AdamWOptions, losses: (parameters: ParameterSet) => tfTypes.Scalar, rate = 0.1) {
      const parameters = parameterSet();
      const optimizer = new AdamW(parameters, options, onHost);
      const before = { weights: await parameters.export(), state: await optimizer.exportState('') };
      const held = tf.memory().numTensors;
      const failure: unknown = await optimizer
        .minimize([() => losses(parameters)], rate)
        .catch((error: unknown) => error);
      expect({ weights: await parameters.export(), state: await optimizer.exportState('') }).toEqual(before);
      expect(tf.memory().numTensors).toBe(held);
      optimizer.dispose();
      parameters.dispose();
      expect(failure).toBeInstanceOf(Diverged);
      return (failure as Diverged).first;
    }
    const timesB = (factors: number[]) => (parameters: ParameterSet) =>
      tf.add(loss(parameters), tf.sum(tf.mul(parameters.get('b'), tf.tensor2d(factors, [2, 1])))) as tfTypes.Scalar;

    test.each([NaN, Infinity, -Infinity])('at a gradient of %f', async (value) => {
      const first = await failureOf({ maxGradNorm: 1 }, timesB([1, value]));
      expect(first).toEqual({ tensor: 'gradient of b', index: 1, value });
    });

    test('at a gradient whose norm overflows float32', async () => {
      const first = await failureOf({ maxGradNorm: 1 }, timesB([1e25, 0]));
      expect(first).toEqual({ tensor: 'sum with gradient of b', index: 0, value: Infinity });
    });

    test('at a weight that would overflow', async () => {
      const first = await failureOf({}, loss, 3e38);
      expect(first.tensor).toMatch(/^weight [ab]$/);
    });

    test('at 0 / 0, where nothing is added to the root of a second moment that is 0', async () => {
      const first = await failureOf({ epsilon: 0 }, loss);
      // The gradient of the third number is 0.
      expect(first).toEqual({ tensor: 'weight a', index: 2, value: NaN });
    });

    test('at a second moment that is infinite, which would hold its weight for ever', async () => {
      const parameters = parameterSet();
      const optimizer = new AdamW(parameters, {}, onHost);
      const { tensors } = await optimizer.exportState('');
      tensors['second/a']!.data[1] = Infinity;
      optimizer.importState('', 3, tensors);
      const step = () => optimizer.minimize([() => loss(parameters)], 0.1);
      await expect(step()).rejects.toThrow('expected finite second moment of a, got Infinity, at index 1');
      expect(await parameters.export()).toEqual(await parameterSet().export());
    });
  });

  describe('inside the step of another network, for losses on the outputs of both', () => {
    const outputsOf = (parameters: ParameterSet) => () =>
      tf.concat(parameters.variables.map((variable) => tf.reshape(variable, [-1])));
    const gradOf = (values: Float32Array, others: Float32Array, part: number) =>
      values.map((value, i) => value * (i + part) - others[i]!);

    /** One step of both in two parts. @param between called before each part goes back */
    async function stepBoth(one: AdamW, other: AdamW, between: (part: number) => void): Promise<void> {
      const inner: Gather = async (recordOther) => {
        await one.step(async (recordOne) => {
          for (const part of [1, 2]) {
            const [mine, theirs] = await Promise.all([
              recordOne(outputsOf(one.parameters)),
              recordOther(outputsOf(other.parameters)),
            ]);
            between(part);
            mine.back(gradOf(mine.values, theirs.values, part));
            theirs.back(gradOf(theirs.values, mine.values, part));
          }
        }, 0.1);
      };
      await other.step(inner, 0.2);
    }
    const two = () => {
      const [one, other] = [parameterSet(), parameterSet()];
      other.get('a').assign(tf.tensor1d([4, 5, -6]));
      return [new AdamW(one, { maxGradNorm: 1 }), new AdamW(other, { weightDecay: 0.1 })] as const;
    };

    test('is to the bit the step of each alone', async () => {
      const [one, other] = two();
      const [aloneOne, aloneOther] = two();
      const values = await Promise.all([one, other].map(({ parameters }) => parameters.read(outputsOf(parameters))));
      const alone = (optimizer: AdamW, others: Float32Array, rate: number) =>
        optimizer.step(async (record) => {
          for (const part of [1, 2]) {
            const mine = await record(outputsOf(optimizer.parameters));
            mine.back(gradOf(mine.values, others, part));
          }
        }, rate);
      await alone(aloneOne, values[1]!, 0.1);
      await alone(aloneOther, values[0]!, 0.2);
      await stepBoth(one, other, () => {});
      expect(await valuesOf(one.parameters)).toEqual(await valuesOf(aloneOne.parameters));
      expect(await valuesOf(other.parameters)).toEqual(await valuesOf(aloneOther.parameters));
      expect(await valuesOf(other.parameters)).not.toEqual(await valuesOf(two()[1].parameters));
    });

    test('changes neither and leaves no tensor behind where the loss throws', async () => {
      const [one, other] = two();
      const before = [await valuesOf(one.parameters), await valuesOf(other.parameters)];
      const held = tf.memory().numTensors;
      const failing = (part: number) => {
        if (part === 2) throw new Error('not finite');
      };
      await expect(stepBoth(one, other, failing)).rejects.toThrow('not finite');
      expect([await valuesOf(one.parameters), await valuesOf(other.parameters)]).toEqual(before);
      expect(tf.memory().numTensors).toBe(held);
    });
  });

  test.each([
    ['tensors', false, 4],
    ['the host', true, 0],
  ])('steps on %s leave no tensor behind, and disposing frees the moments', async (_, onHost, moments) => {
    const parameters = parameterSet();
    const before = tf.memory().numTensors;
    const optimizer = new AdamW(parameters, { weightDecay: 0.1, maxGradNorm: 1 }, onHost);
    await optimizer.minimize([() => loss(parameters)], 0.1);
    const held = tf.memory().numTensors;
    // Those of the moments, where the host does not keep them.
    expect(held).toBe(before + moments);
    for (let i = 0; i < 3; i++) await optimizer.minimize([() => loss(parameters)], 0.1);
    expect(tf.memory().numTensors).toBe(held);
    optimizer.dispose();
    expect(tf.memory().numTensors).toBe(before);
    parameters.dispose();
  });

  test.each(
    (['cpu', 'wasm'] as const).flatMap((name) =>
      [{}, { maxGradNorm: 1, weightDecay: 1e-4 }, { maxGradNorm: 1e9, beta1: 0.8, epsilon: 1e-3 }].map(
        (options: AdamWOptions) => ({ name, options }),
      ),
    ),
  )('on $name with $options, steps of the host are to the bit those of tensors', async ({ name, options }) => {
    const { tf: backend } = await openBackend(name);
    const sides = [true, false].map((onHost) => {
      const parameters = new ParameterSet(backend, 'net/');
      for (const k of [0, 1, 2]) {
        const values = Float32Array.from({ length: 7 * (11 + k) }, (_, i) => Math.sin(i * k + i));
        parameters.add(`p${k}`, [7, 11 + k], values);
      }
      return new AdamW(parameters, options, onHost);
    });
    // Gradients from 1e-30 to 1e10: squares below what float32 keeps in full, and norms over the clip.
    const lossOf = (parameters: ParameterSet, step: number) =>
      backend.addN(
        parameters.variables.map((weight, k) => {
          const grads = Float32Array.from({ length: weight.size }, (_, i) => 10 ** (((i * 7 + step * k) % 41) - 30));
          return backend.sum(backend.mul(backend.square(weight), backend.tensor(grads, weight.shape)));
        }),
      ) as tfTypes.Scalar;
    for (let step = 0; step < 8; step++) {
      const norms: number[] = [];
      for (const side of sides) norms.push(await side.minimize([() => lossOf(side.parameters, step)], 0.01));
      expect(norms[0]).toBe(norms[1]);
    }
    const [onHost, onTensors] = sides as [AdamW, AdamW];
    expect(await onHost.parameters.export()).toEqual(await onTensors.parameters.export());
    expect(await onHost.exportState('x/')).toEqual(await onTensors.exportState('x/'));
    await openBackend('cpu');
  });
});

describe.each(await backendsHere())('recorded gradients on %s', (name) => {
  const input = [1, -2, 3, 4, -5, 6];
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

import { describe, expect, test } from '@jest/globals';
import { AdamW, type AdamWOptions } from '../../../src/nn/adamw.js';
import { Diverged } from '../../../src/nn/diverged.js';
import type { Executor } from '../../../src/nn/executor.js';
import { type InitialValues, Parameters } from '../../../src/nn/parameters.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { type Outputs, Tape } from '../../../src/nn/tape.js';
import { TfjsExecutor } from '../../../src/nn/tfjs/executor.js';
import { openHere } from '../../fixtures/executors.js';
import { expectNear } from '../../fixtures/tape-check.js';

const starts = { a: [1, -2, 0.5], b: [3, 0] };
const goals = [0, 1, 0.5, -1, 2];
/** Curvature of each number's square; large for `b`, so that a clip of the whole norm differs from one of each part. */
const curvature = [1, 1, 1, 6, 6];

/** The rule in float64, one scalar at a time, with moments divided by their bias as the paper writes it. */
function scalarAdamW(steps: number, learningRate: number, options: AdamWOptions) {
  const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0, maxGradNorm = Infinity } = options;
  const values = [...starts.a, ...starts.b];
  const [m, v] = [values.map(() => 0), values.map(() => 0)];
  const norms: number[] = [];
  for (let t = 1; t <= steps; t++) {
    const gradients = values.map((value, i) => 2 * curvature[i]! * (value - goals[i]!));
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

/** Parameters with outputs that are their values, and an optimizer. */
class Subject {
  readonly parameters: Parameters;
  readonly tape: Tape;
  readonly optimizer: AdamW;

  constructor(
    executor: Executor,
    options: AdamWOptions = {},
    initial: InitialValues = {
      a: { shape: [3], data: Float32Array.from(starts.a) },
      b: { shape: [2, 1], data: Float32Array.from(starts.b) },
    },
  ) {
    this.parameters = new Parameters(executor, initial);
    this.tape = new Tape(this.parameters);
    this.optimizer = new AdamW(this.parameters, options);
  }

  readonly outputs = (): Outputs => {
    this.tape.begin();
    return this.tape.outputs(this.parameters.names.map((name) => this.tape.parameter(name, 1)));
  };

  /** A step down a gradient by the values. @param grad default that of Σ curvature · (value − goal)² */
  step(learningRate: number, grad = (value: number, i: number) => 2 * curvature[i]! * (value - goals[i]!)) {
    return this.down(learningRate, async () => {
      const outputs = this.outputs();
      outputs.backward((await outputs.read()).map(grad));
    });
  }

  /** @param gather adds to the gradients */
  async down(learningRate: number, gather: () => Promise<void>): Promise<number> {
    this.optimizer.zeroGrad();
    await gather();
    return this.optimizer.step(learningRate);
  }

  async values(): Promise<Float32Array> {
    const all = Object.values(await this.parameters.export());
    return Float32Array.from(all.flatMap(({ data }) => [...data]));
  }

  async everything() {
    return { weights: await this.parameters.export(), state: await this.optimizer.exportState('') };
  }

  dispose(): void {
    this.tape.begin();
    this.optimizer.dispose();
    this.parameters.dispose();
  }
}

describe.each(await openHere())('AdamW on %s', (_, executor) => {
  test('leaves a weight as it is that a batch does not reach', async () => {
    const one = new Subject(executor, { maxGradNorm: 1 });
    for (let i = 0; i < 2; i++) await one.step(0.1, (value, k) => (k < 3 ? value : 0));
    const { a, b } = await one.parameters.export();
    expect([...b!.data]).toEqual(starts.b);
    expect(a!.data.every((value, i) => Math.abs(value) < Math.abs(starts.a[i]!))).toBe(true);
  });

  test.each<[string, AdamWOptions]>([
    ['its defaults', {}],
    ['weight decay', { weightDecay: 0.1 }],
    ['a clip of the global norm', { maxGradNorm: 2 }],
    ['everything set', { beta1: 0.8, beta2: 0.95, epsilon: 1e-3, weightDecay: 0.05, maxGradNorm: 5 }],
  ])('with %s follows an independent scalar version for 25 steps', async (_, options) => {
    const one = new Subject(executor, options);
    const norms: number[] = [];
    for (let i = 0; i < 25; i++) norms.push(await one.step(0.05));
    const expected = scalarAdamW(25, 0.05, options);
    (await one.values()).forEach((value, i) => expect(value).toBeCloseTo(expected.values[i]!, 4));
    norms.forEach((norm, i) => expect(norm / expected.norms[i]!).toBeCloseTo(1, 4));
  });

  test('after its state is restored elsewhere, one more step is equal to the bit', async () => {
    const options = { weightDecay: 0.01, maxGradNorm: 3 };
    const original = new Subject(executor, options);
    for (let i = 0; i < 5; i++) await original.step(0.1);
    const { steps, tensors } = await original.optimizer.exportState('optimizer/');
    const weights = await original.parameters.export();
    expect(steps).toBe(5);
    const names = ['first/a', 'first/b', 'second/a', 'second/b'].map((name) => `optimizer/${name}`);
    expect(Object.keys(tensors).sort()).toEqual(names);

    const copy = new Subject(executor, options);
    copy.parameters.import(weights);
    copy.optimizer.importState('optimizer/', steps, { ...tensors, 'other/first/a': weights.a! });
    for (const one of [original, copy]) await one.step(0.1);
    expect(await copy.everything()).toEqual(await original.everything());
  });

  test('refuses a state that lacks a moment', async () => {
    const { optimizer } = new Subject(executor);
    const { tensors } = await optimizer.exportState('');
    const { 'second/b': _left, ...others } = tensors;
    expect(() => optimizer.importState('', 3, others)).toThrow('expected float32 parameter b of shape [2,1], got none');
  });

  test.each<AdamWOptions>([{}, { maxGradNorm: 1, weightDecay: 1e-4 }, { maxGradNorm: 1e9, beta1: 0.8, epsilon: 1e-3 }])(
    'takes the steps of SIMD kernels with %j',
    async (options) => {
      const data = (k: number) => Float32Array.from({ length: 7 * (111 + k) }, (_, i) => Math.sin(i * k + i));
      const initial = Object.fromEntries([0, 1, 2].map((k) => [`p${k}`, { shape: [7, 111 + k], data: data(k) }]));
      // Gradients from 1e-30 to 1e10: squares below what float32 keeps in full, and norms over the clip.
      const grad = (step: number) => (value: number, i: number) => value * 10 ** (((i * 7 + step * 5) % 41) - 30);
      const [ours, simd] = [executor, new SimdExecutor()].map((on) => new Subject(on, options, initial)) as [
        Subject,
        Subject,
      ];
      for (let step = 0; step < 8; step++) {
        const [norm, expected] = [await ours.step(0.01, grad(step)), await simd.step(0.01, grad(step))];
        expect(Math.abs(norm / expected - 1)).toBeLessThan(1e-6);
      }
      expectNear(await ours.values(), await simd.values(), 1e-6);
      const [state, expected] = [await ours.optimizer.exportState(''), await simd.optimizer.exportState('')];
      expect(state.steps).toBe(expected.steps);
      for (const [name, tensor] of Object.entries(expected.tensors)) {
        expectNear(state.tensors[name]!.data, tensor.data, 1e-6);
      }
    },
  );

  describe('stops before anything is changed', () => {
    /** Makes a step that must fail, and says why it did. */
    async function failureOf(options: AdamWOptions, rate: number, more?: Record<number, number>) {
      const one = new Subject(executor, options);
      await one.step(0.01);
      const before = await one.everything();
      const grad = (value: number, i: number) => more?.[i] ?? 2 * curvature[i]! * (value - goals[i]!);
      const failure: unknown = await one.step(rate, grad).catch((error: unknown) => error);
      expect(await one.everything()).toEqual(before);
      one.dispose();
      expect(failure).toBeInstanceOf(Diverged);
      return (failure as Diverged).first;
    }

    test.each([NaN, Infinity, -Infinity])('at a gradient of %f', async (value) => {
      const first = await failureOf({ maxGradNorm: 1 }, 0.1, { 4: value });
      expect(first).toEqual({ tensor: 'gradient of b', index: 1, value });
    });

    test('at a gradient whose square overflows float32', async () => {
      const first = await failureOf({}, 0.1, { 3: 1e25 });
      expect(first).toMatchObject({
        tensor: expect.stringMatching(/^(second moment of b|sum of squares)$/),
        value: Infinity,
      });
    });

    test('at a weight that would overflow', async () => {
      expect((await failureOf({}, 3e38)).tensor).toMatch(/^weight [ab]$/);
    });

    test('at 0 / 0, where nothing is added to the root of a second moment that is 0', async () => {
      // The gradient of the third number is 0.
      const one = new Subject(executor, { epsilon: 0 });
      await expect(one.step(0.1)).rejects.toThrow('expected finite weight a, got NaN, at index 2');
      expect(await one.everything()).toEqual(await new Subject(executor).everything());
    });

    test('at a second moment that is infinite, which would hold its weight for ever', async () => {
      const one = new Subject(executor);
      const { tensors } = await one.optimizer.exportState('');
      tensors['second/a']!.data[1] = Infinity;
      one.optimizer.importState('', 3, tensors);
      await expect(one.step(0.1)).rejects.toThrow('expected finite second moment of a, got Infinity, at index 1');
      expect(await one.parameters.export()).toEqual(await new Subject(executor).parameters.export());
    });

    test('at a loss that throws', async () => {
      const one = new Subject(executor);
      await one.step(0.1);
      const before = await one.everything();
      const failing = () => {
        throw new Error('not finite');
      };
      await expect(one.step(0.1, failing)).rejects.toThrow('not finite');
      expect(await one.everything()).toEqual(before);
    });
  });

  describe('of two networks, for losses on the outputs of both', () => {
    const gradOf = (values: Float32Array, others: Float32Array, part: number) =>
      values.map((value, i) => value * (i + part) - others[i]!);

    /** One step of both in two parts. @param between called before the backward passes of each part */
    async function stepBoth(one: Subject, other: Subject, between: (part: number) => void): Promise<void> {
      one.optimizer.zeroGrad();
      other.optimizer.zeroGrad();
      for (const part of [1, 2]) {
        const [mine, theirs] = [one.outputs(), other.outputs()];
        const [values, others] = await Promise.all([mine.read(), theirs.read()]);
        between(part);
        mine.backward(gradOf(values, others, part));
        theirs.backward(gradOf(others, values, part));
      }
      await one.optimizer.step(0.1);
      await other.optimizer.step(0.2);
    }
    const two = () => {
      const [one, other] = [new Subject(executor, { maxGradNorm: 1 }), new Subject(executor, { weightDecay: 0.1 })];
      executor.write(other.parameters.value('a'), Float32Array.of(4, 5, -6));
      return [one, other] as const;
    };

    test('is to the bit the step of each alone', async () => {
      const [one, other] = two();
      const [aloneOne, aloneOther] = two();
      const [ofOne, ofOther] = [await one.values(), await other.values()];
      const alone = (subject: Subject, others: Float32Array, rate: number) =>
        subject.down(rate, async () => {
          for (const part of [1, 2]) {
            const outputs = subject.outputs();
            outputs.backward(gradOf(await outputs.read(), others, part));
          }
        });
      await alone(aloneOne, ofOther, 0.1);
      await alone(aloneOther, ofOne, 0.2);
      await stepBoth(one, other, () => {});
      expect(await one.everything()).toEqual(await aloneOne.everything());
      expect(await other.everything()).toEqual(await aloneOther.everything());
      expect(await other.values()).not.toEqual(ofOther);
    });

    test('changes neither where the loss throws', async () => {
      const [one, other] = two();
      const before = [await one.values(), await other.values()];
      const failing = (part: number) => {
        if (part === 2) throw new Error('not finite');
      };
      await expect(stepBoth(one, other, failing)).rejects.toThrow('not finite');
      expect([await one.values(), await other.values()]).toEqual(before);
    });
  });

  (executor instanceof TfjsExecutor ? test : test.skip)('leaves no tensor behind', async () => {
    const { tf } = executor as TfjsExecutor;
    const before = tf.memory().numTensors;
    const one = new Subject(executor, { weightDecay: 0.1, maxGradNorm: 1 });
    // The first step keeps moments of zeros, which take no tensor.
    for (let i = 0; i < 2; i++) await one.step(0.1);
    one.tape.begin();
    const held = tf.memory().numTensors;
    for (let i = 0; i < 3; i++) await one.step(0.1);
    one.tape.begin();
    expect(tf.memory().numTensors).toBe(held);
    one.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});

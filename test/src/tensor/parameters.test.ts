import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { normalValues, orthogonalValues, ParameterSet, uniformFanIn } from '../../../src/tensor/parameters.js';

let tf: Tf;
let parameters: ParameterSet;
beforeAll(async () => {
  ({ tf } = await openBackend('cpu'));
});
afterEach(() => parameters?.dispose());

const twoParts = () => {
  parameters = new ParameterSet(tf);
  parameters.add('weight', [2, 3], Float32Array.from([1, 2, 3, 4, 5, 6]));
  parameters.add('bias', [3], new Float32Array(3));
  return parameters;
};

describe('a set of parameters', () => {
  test('keeps insertion order and counts its scalars', () => {
    const set = twoParts();
    expect(set.names).toEqual(['weight', 'bias']);
    expect(set.size).toBe(9);
    expect(set.variables.map(({ shape }) => shape)).toEqual([[2, 3], [3]]);
  });

  test('copies what it is given and what it gives', async () => {
    parameters = new ParameterSet(tf);
    const data = Float32Array.from([1, 2]);
    parameters.add('weight', [2], data);
    data[0] = 99;
    const exported = await parameters.export();
    exported.weight!.data[1] = 99;
    expect(Array.from((await parameters.export()).weight!.data)).toEqual([1, 2]);
  });

  test('gives back what was exported before an update', async () => {
    const set = twoParts();
    const exported = await set.export();
    set.get('weight').assign(tf.zeros([2, 3]));
    set.import(exported);
    expect(await set.export()).toEqual(exported);
  });

  test.each<[string, object | undefined]>([
    ['another shape', { shape: [3, 2], data: new Float32Array(6) }],
    ['another number of dimensions', { shape: [6], data: new Float32Array(6) }],
    ['another type', { shape: [2, 3], data: new Int32Array(6) }],
    ['nothing', undefined],
  ])('refuses a parameter of %s', async (_, stored) => {
    const set = twoParts();
    const tensors = { ...(await set.export()), weight: stored } as never;
    expect(() => set.import(tensors)).toThrow(/expected float32 parameter weight of shape \[2,3\], got/);
    expect(Array.from((await set.export()).weight!.data)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('refuses a name twice and a name it lacks', () => {
    const set = twoParts();
    expect(() => set.add('bias', [1], new Float32Array(1))).toThrow('got bias twice');
    expect(() => set.get('missing')).toThrow('got missing');
  });

  test('frees its tensors when it is disposed', async () => {
    const before = tf.memory().numTensors;
    const set = twoParts();
    set.import(await set.export());
    expect(tf.memory().numTensors).toBe(before + 2);
    set.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('initial values', () => {
  const dot = (values: Float32Array, width: number, i: number, j: number, byRow: boolean) => {
    let sum = 0;
    const length = byRow ? width : values.length / width;
    for (let k = 0; k < length; k++) {
      sum += byRow ? values[i * width + k]! * values[j * width + k]! : values[k * width + i]! * values[k * width + j]!;
    }
    return sum;
  };

  test.each([
    [3, 7],
    [7, 3],
    [5, 5],
  ])('orthogonal values of [%d, %d] have orthogonal rows or columns of length `gain`', (rows, columns) => {
    const values = orthogonalValues(new Rng(4), rows, columns, 1.5);
    const count = Math.min(rows, columns);
    for (let i = 0; i < count; i++) {
      for (let j = 0; j < count; j++) {
        expect(dot(values, columns, i, j, rows <= columns)).toBeCloseTo(i === j ? 2.25 : 0, 5);
      }
    }
  });

  test('uniform values fill ±1/√fanIn and stay inside', () => {
    const values = Array.from(uniformFanIn(new Rng(1), 16, 2000));
    expect(Math.max(...values)).toBeLessThanOrEqual(0.25);
    expect(Math.max(...values)).toBeGreaterThan(0.24);
    expect(Math.min(...values)).toBeGreaterThanOrEqual(-0.25);
    expect(Math.min(...values)).toBeLessThan(-0.24);
  });

  test('normal values have the asked deviation', () => {
    const values = normalValues(new Rng(2), 0.5, 4000);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    // Four standard errors: 0.5/√4000 and 0.25·√(2/4000).
    expect(Math.abs(mean)).toBeLessThan(0.032);
    expect(Math.abs(variance - 0.25)).toBeLessThan(0.023);
  });

  test('equal seeds give equal values', () => {
    expect(orthogonalValues(new Rng(7), 4, 6, 1)).toEqual(orthogonalValues(new Rng(7), 4, 6, 1));
    expect(normalValues(new Rng(7), 1, 9)).not.toEqual(normalValues(new Rng(8), 1, 9));
  });
});

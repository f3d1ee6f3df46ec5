import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { normalValues, orthogonalValues, ParameterSet, uniformFanIn } from '../../../src/tensor/parameters.js';
import { principalComponents, scaledToMeanNorm } from '../../../src/tensor/principal-components.js';

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
});

describe('tables', () => {
  let tf: Tf;
  beforeAll(async () => {
    ({ tf } = await openBackend('wasm'));
  });

  const whole = (table: Float32Array, width: number) => (begin: number, end: number) =>
    table.subarray(begin * width, end * width);
  const column = (rows: Float32Array, dim: number, c: number) =>
    Array.from({ length: rows.length / dim }, (_, i) => rows[i * dim + c]!);
  const sumOfSquares = (values: readonly number[]) => values.reduce((sum, value) => sum + value * value, 0);

  describe('principal components', () => {
    // Points (10, −2) + a·(3, 4)/5 + b·(−4, 3)/5: variance of a is 10 times that of b.
    const long = [-5, -5, 5, 5];
    const short = [-Math.sqrt(2.5), Math.sqrt(2.5), -Math.sqrt(2.5), Math.sqrt(2.5)];
    const table = Float32Array.from(
      long.flatMap((a, i) => [10 + (3 * a - 4 * short[i]!) / 5, -2 + (4 * a + 3 * short[i]!) / 5]),
    );

    test('find the axes of a table made by hand, the longest first', async () => {
      const { rows, dim } = await principalComponents(tf, whole(table, 2), 4, 2, 2);
      expect(dim).toBe(2);
      const first = column(rows, 2, 0);
      // All rows have the same norm, so scaling divides by √(25 + 2.5).
      const scale = Math.sqrt(27.5);
      const sign = Math.sign(first[0]!) * Math.sign(long[0]!);
      first.forEach((value, i) => expect(sign * value).toBeCloseTo(long[i]! / scale, 5));
      expect(sumOfSquares(first) / sumOfSquares(column(rows, 2, 1))).toBeCloseTo(10, 3);
    });

    test('of a lower number keep the variance of the longest axes, and are no more than the table is wide', async () => {
      const { rows, dim } = await principalComponents(tf, whole(table, 2), 4, 2, 1);
      expect(dim).toBe(1);
      rows.forEach((value) => expect(Math.abs(value)).toBeCloseTo(1, 5));
      expect((await principalComponents(tf, whole(table, 2), 4, 2, 64)).dim).toBe(2);
    });

    test('of a table in blocks are those of the whole: uncorrelated, and all the variance is there', async () => {
      const width = 3;
      const numRows = 9001;
      const rng = Rng.named(1, 'test/components');
      const wide = Float32Array.from(
        { length: numRows * width },
        (_, i) => (1 + (i % width)) * rng.normal() + (i % width),
      );
      for (let i = 0; i < wide.length; i += width) wide[i + 2]! += 2 * wide[i]!;
      const asked: number[] = [];
      const block = (begin: number, end: number) => {
        asked.push(end - begin);
        return whole(wide, width)(begin, end);
      };
      const { rows } = await principalComponents(tf, block, numRows, width, width);
      expect(Math.max(...asked)).toBeLessThan(numRows);
      const columns = [0, 1, 2].map((c) => column(rows, width, c));
      const total = sumOfSquares(columns.flat());
      columns.forEach((one, c) => {
        expect(Math.abs(one.reduce((sum, value) => sum + value, 0)) / numRows).toBeLessThan(1e-4);
        columns.slice(c + 1).forEach((other) => {
          const product = one.reduce((sum, value, i) => sum + value * other[i]!, 0);
          expect(Math.abs(product) / total).toBeLessThan(1e-4);
        });
      });
      // The ratio of the total variance to the squared mean norm survives a rotation and a scaling.
      const means = [0, 1, 2].map((c) => column(wide, width, c).reduce((sum, value) => sum + value, 0) / numRows);
      const centred = wide.map((value, i) => value - means[i % width]!);
      const norms = Array.from({ length: numRows }, (_, i) =>
        Math.hypot(...centred.subarray(i * width, (i + 1) * width)),
      );
      const meanNorm = norms.reduce((sum, norm) => sum + norm, 0) / numRows;
      expect((total * meanNorm ** 2) / sumOfSquares(Array.from(centred))).toBeCloseTo(1, 4);
    });

    test('are equal on every call and leave no tensor behind', async () => {
      const before = tf.memory().numTensors;
      const once = await principalComponents(tf, whole(table, 2), 4, 2, 2);
      expect(await principalComponents(tf, whole(table, 2), 4, 2, 2)).toEqual(once);
      expect(tf.memory().numTensors).toBe(before);
    });
  });

  describe('scaling to a mean norm of one', () => {
    test('divides by the mean length of the rows', () => {
      const scaled = scaledToMeanNorm(Float32Array.from([3, 4, 0, 15]), 2);
      [0.3, 0.4, 0, 1.5].forEach((value, i) => expect(scaled[i]).toBeCloseTo(value, 6));
    });

    test('leaves a table of zeros alone', () => {
      expect(Array.from(scaledToMeanNorm(new Float32Array(4), 2))).toEqual([0, 0, 0, 0]);
    });
  });
});

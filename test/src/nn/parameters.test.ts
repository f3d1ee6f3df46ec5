import { describe, expect, test } from '@jest/globals';
import { normalValues, orthogonalValues, Parameters, uniformFanIn, xavierUniform } from '../../../src/nn/parameters.js';
import { Rng } from '../../../src/run/seeds.js';
import { openHere } from '../../fixtures/executors.js';

describe.each(await openHere())('parameters on %s', (_, executor) => {
  const weight = Float32Array.of(1, 2, 3, 4, 5, 6);
  const twoParts = () =>
    new Parameters(executor, {
      weight: { shape: [2, 3], data: weight },
      bias: { shape: [3], data: new Float32Array(3) },
    });

  test('have the names and shapes they were given, in that order', () => {
    const parameters = twoParts();
    expect(parameters.names).toEqual(['weight', 'bias']);
    expect([parameters.size, parameters.sizeOf('weight'), parameters.shapeOf('weight')]).toEqual([9, 6, [2, 3]]);
  });

  test('copy what they are given and what they give', async () => {
    const data = Float32Array.of(1, 2);
    const parameters = new Parameters(executor, { weight: { shape: [2], data } });
    data[0] = 99;
    const exported = await parameters.export();
    exported.weight!.data[1] = 99;
    exported.weight!.shape[0] = 99;
    expect((await parameters.export()).weight).toEqual({ shape: [2], data: Float32Array.of(1, 2) });
  });

  test('give back what was exported before an update, and what was computed before is then out of date', async () => {
    const parameters = twoParts();
    const exported = await parameters.export();
    executor.fill(parameters.weights.whole, 7);
    expect([...(await parameters.export()).bias!.data]).toEqual([7, 7, 7]);
    const { version } = parameters;
    parameters.import(exported);
    expect(await parameters.export()).toEqual(exported);
    expect(parameters.version).toBeGreaterThan(version);
  });

  test.each<[string, object | undefined]>([
    ['another shape', { shape: [3, 2], data: new Float32Array(6) }],
    ['another number of dimensions', { shape: [6], data: new Float32Array(6) }],
    ['another type', { shape: [2, 3], data: new Int32Array(6) }],
    ['nothing', undefined],
  ])('refuse a stored %s, and nothing has changed then', async (_, stored) => {
    const parameters = twoParts();
    const bias = { shape: [3], data: Float32Array.of(1, 1, 1) };
    expect(() => parameters.import({ bias, weight: stored } as never)).toThrow(
      /expected float32 parameter weight of shape \[2,3\], got/,
    );
    const { weight: after, bias: biasAfter } = await parameters.export();
    expect([after!.data, biasAfter!.data]).toEqual([weight, new Float32Array(3)]);
  });

  test('refuse a name that they lack', () => {
    expect(() => twoParts().value('missing')).toThrow('expected a parameter of the network, got missing');
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

  test.each([
    ['±1/√fanIn', 0.25, uniformFanIn(new Rng(1), 16, 2000)],
    ['±√(6 / (rows + columns))', Math.sqrt(6 / 90), xavierUniform(new Rng(1), 40, 50)],
  ])('uniform values fill %s and stay inside', (_, bound, values) => {
    expect(Math.max(...values)).toBeLessThanOrEqual(Math.fround(bound));
    expect(Math.max(...values)).toBeGreaterThan(0.96 * bound);
    expect(Math.min(...values)).toBeGreaterThanOrEqual(-Math.fround(bound));
    expect(Math.min(...values)).toBeLessThan(-0.96 * bound);
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

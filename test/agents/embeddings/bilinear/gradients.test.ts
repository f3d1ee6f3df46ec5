import { describe, expect, test } from '@jest/globals';
import {
  addCubeGradient,
  addQueryGradient,
  moveRow,
  softmaxGrad,
} from '../../../../agents/embeddings/bilinear/gradients.js';
import { freshBilinear } from '../../../../agents/embeddings/bilinear/step.js';
import { composeQuery, type BilinearModel, type BilinearTable } from '../../../../src/embedding/bilinear.js';
import { Rng } from '../../../../src/run/seeds.js';

const dim = 8;

/** A table of large enough numbers for differences in float32. */
function tableOf(model: BilinearModel): BilinearTable {
  const { table } = freshBilinear({ model, dim }, { numEntities: 3, numRelations: 2, seed: 4 });
  const large = (rows: Float32Array) => rows.map((value) => value * 10);
  return { ...table, entities: large(table.entities), relations: large(table.relations) };
}

/** (f(x + e) − f(x − e)) / 2e at every number of some rows. */
function differences(values: Float32Array, f: () => number): number[] {
  const step = 1 / 64;
  return Array.from(values, (value, i) => {
    values[i] = value + step;
    const above = f();
    values[i] = value - step;
    const below = f();
    values[i] = value;
    return (above - below) / (2 * step);
  });
}

function expectNear(got: ArrayLike<number>, wanted: ArrayLike<number>, digits = 3): void {
  expect(got.length).toBe(wanted.length);
  for (let i = 0; i < wanted.length; i++) expect(got[i]).toBeCloseTo(wanted[i]!, digits);
}

describe.each(['complex', 'distmult'] as const)('%s', (model) => {
  test('scores as defined', () => {
    const table = tableOf(model);
    const query = new Float64Array(dim);
    composeQuery(table, 1, 0, query, 0);
    const [h, r, t] = [table.entities.subarray(dim, 2 * dim), table.relations, table.entities.subarray(2 * dim)];
    let wanted = 0;
    if (model === 'distmult') for (let k = 0; k < dim; k++) wanted += h[k]! * r[k]! * t[k]!;
    else {
      // Re(h · r · conj(t)), one complex product after the other.
      for (let k = 0; k < dim / 2; k++) {
        const i = k + dim / 2;
        const [a, b] = [h[k]! * r[k]! - h[i]! * r[i]!, h[k]! * r[i]! + h[i]! * r[k]!];
        wanted += a * t[k]! - b * -t[i]!;
      }
    }
    const score = query.reduce((sum, value, k) => sum + value * t[k]!, 0);
    expect(score).toBeCloseTo(wanted, 6);
  });

  test('pulls gradients of a query back to its head and relation', () => {
    const table = tableOf(model);
    const rng = Rng.named(1, 'upstream');
    const upstream = Float32Array.from({ length: dim }, () => rng.normal());
    const value = () => {
      const query = new Float64Array(dim);
      composeQuery(table, 2, 1, query, 0);
      return query.reduce((sum, one, k) => sum + one * upstream[k]!, 0);
    };
    const gradients = { entities: new Float32Array(3 * dim), relations: new Float32Array(2 * dim) };
    addQueryGradient(table, gradients, 2, 1, upstream, 0);
    expectNear(gradients.entities, differences(table.entities, value));
    expectNear(gradients.relations, differences(table.relations, value));
  });

  test('regularises by cubes of absolute values', () => {
    const table = tableOf(model);
    const size = (row: number, k: number) => {
      const at = row * dim + k;
      if (model === 'distmult') return Math.abs(table.entities[at]!);
      return Math.hypot(table.entities[at]!, table.entities[at + dim / 2]!);
    };
    const count = model === 'distmult' ? dim : dim / 2;
    const value = () => {
      let sum = 0;
      for (let k = 0; k < count; k++) sum += 0.3 * size(1, k) ** 3;
      return sum;
    };
    const gradients = new Float32Array(3 * dim);
    addCubeGradient(table, table.entities, gradients, 1, 0.3);
    expectNear(gradients, differences(table.entities, value), 2);
  });
});

test('the gradient of the softmax loss, of answers that compete with all candidates', () => {
  const scores = Float32Array.from([9, 0.5, -1, 2, 0.25, 9]);
  const indices = Int32Array.of(1, 3);
  const loss = () => {
    const inside = Array.from(scores.subarray(1, 5));
    const total = inside.reduce((sum, score) => sum + Math.exp(score), 0);
    return indices.reduce((sum, index) => sum - Math.log(Math.exp(inside[index]!) / total), 0);
  };
  const wanted = differences(scores, loss);
  const grad = scores.slice();
  expect(softmaxGrad(grad, 1, 4, indices)).toBeCloseTo(loss(), 6);
  expectNear(grad.subarray(1, 5), wanted.slice(1, 5));
  // The rest belongs to other queries.
  expect([grad[0], grad[5]]).toEqual([9, 9]);
});

test('scores whose exponentials are beyond float64 have a finite loss', () => {
  const scores = Float32Array.from([2000, 0]);
  expect(softmaxGrad(scores, 0, 2, Int32Array.of(1))).toBe(2000);
  expect([...scores]).toEqual([1, -1]);
});

test('Adagrad divides by the root of all squares so far, and leaves other rows alone', () => {
  const rows = {
    values: Float32Array.of(1, 1, 1, 1),
    squares: Float32Array.of(0, 0, 9, 0),
    gradients: Float32Array.of(5, 5, 8, 0),
  };
  moveRow(rows, 1, 2, 0.1, 0.5);
  expectNear(rows.values, [1, 1, 1 - (0.1 * 4) / 5, 1], 6);
  expect([...rows.squares]).toEqual([0, 0, 25, 0]);
  expect([...rows.gradients]).toEqual([5, 5, 0, 0]);
});

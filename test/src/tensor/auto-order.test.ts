import { expect, test } from '@jest/globals';
import { autoOrder, backendNames, type NetworkSize } from '../../../src/tensor/backend.js';

const gpus = ['tensorflow-gpu', 'webgpu'];
const plain = ['wasm', 'cpu'];
const host = ['host', ...plain, 'tensorflow'];

test.each<[NetworkSize, string[], string]>([
  [{ rows: 64, inputs: 128, units: 128 }, [...plain, 'tensorflow'], '1.0 million multiply-adds, where wasm is fastest'],
  [
    { rows: 128, inputs: 384, units: 128 },
    ['tensorflow', 'tensorflow-gpu', ...plain],
    '6.3 million multiply-adds, too small for a GPU to pay',
  ],
  [
    { rows: 100, inputs: 1024, units: 1024 },
    ['tensorflow-gpu', 'tensorflow', 'webgpu', ...plain],
    '105 million multiply-adds, where CUDA or native TensorFlow pays, else a GPU',
  ],
  [{ rows: 2000, inputs: 1024, units: 1024 }, [...backendNames], '2097 million multiply-adds, where a GPU pays'],
  // Networks with SIMD kernels take them at any size; only graphics cards come before them.
  [
    { rows: 256, inputs: 256, units: 64, onHost: true },
    host,
    '4.2 million multiply-adds, where SIMD kernels without a library are fastest',
  ],
  [
    { rows: 10_000, inputs: 256, units: 64, onHost: true },
    [...gpus, ...host],
    '164 million multiply-adds, where a GPU pays, else SIMD kernels',
  ],
  // WebGPU is passed by where states are compared with the vectors of many edges.
  [
    { rows: 10_000, inputs: 256, units: 64, onHost: true, meetsEdges: true },
    ['tensorflow-gpu', ...host],
    '164 million multiply-adds, where a GPU pays, else SIMD kernels',
  ],
  [
    { rows: 100, inputs: 1024, units: 1024, meetsEdges: true },
    ['tensorflow-gpu', 'tensorflow', ...plain],
    '105 million multiply-adds, where CUDA or native TensorFlow pays',
  ],
])('networks of the size %o take the first of %j', (size, names, why) => {
  const product = `the largest product is ${size.rows} × ${size.inputs} × ${size.units}, `;
  expect(autoOrder(size)).toEqual({ names, why: product + why });
});

test('without a size all rungs are tried, those for large networks first', () => {
  expect(autoOrder().names).toEqual(backendNames);
});

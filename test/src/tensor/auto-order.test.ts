import { expect, test } from '@jest/globals';
import { autoOrder, backendNames } from '../../../src/tensor/backend.js';

const first = (rows: number, inputs: number, units: number) => autoOrder({ rows, inputs, units }).names[0];

test('a small network goes to wasm, a middling one to native TensorFlow, a large one to a GPU', () => {
  expect([first(64, 128, 128), first(256, 128, 128), first(1024, 576, 400)]).toEqual([
    'wasm',
    'tensorflow',
    'tensorflow-gpu',
  ]);
});

test('WebGPU goes before wasm where a GPU pays, and before native TensorFlow for the largest products alone', () => {
  const after = (rows: number) => autoOrder({ rows, inputs: 1024, units: 1024 }).names.slice(1, 4);
  expect(after(100)).toEqual(['tensorflow', 'webgpu', 'wasm']);
  expect(after(2000)).toEqual(['webgpu', 'tensorflow', 'wasm']);
});

test('a network with SIMD kernels takes them on the processor, at any size; only graphics cards come before them', () => {
  const order = (rows: number, meetsEdges = false) =>
    autoOrder({ rows, inputs: 256, units: 64, onHost: true, meetsEdges });
  for (const rows of [1, 1024]) expect(order(rows).names[0]).toBe('host');
  for (const rows of [10_000, 1_000_000]) {
    expect(order(rows).names.slice(0, 3)).toEqual(['tensorflow-gpu', 'webgpu', 'host']);
    expect(order(rows, true).names.slice(0, 2)).toEqual(['tensorflow-gpu', 'host']);
  }
  expect(order(256).why).toBe(
    'the largest product is 256 × 256 × 64, 4.2 million multiply-adds, where SIMD kernels without a library are fastest',
  );
  expect(order(10_000).why).toBe(
    'the largest product is 10000 × 256 × 64, 164 million multiply-adds, where a GPU pays, else SIMD kernels',
  );
});

test('without a size all rungs are tried, those for large networks first; every order ends with one that always works', () => {
  expect(autoOrder().names).toEqual(backendNames);
  for (const rows of [1, 400, 10_000]) expect(autoOrder({ rows, inputs: 128, units: 128 }).names).toContain('cpu');
});

test('the reason names the product and what follows from it', () => {
  expect(autoOrder({ rows: 128, inputs: 384, units: 128 }).why).toBe(
    'the largest product is 128 × 384 × 128, 6.3 million multiply-adds, too small for a GPU to pay',
  );
});

test('WebGPU is not taken where states are compared with the vectors of many edges, for any product', () => {
  for (const rows of [200, 10_000]) {
    const size = { rows, inputs: 1024, units: 1024 };
    expect(autoOrder(size).names).toContain('webgpu');
    expect(autoOrder({ ...size, meetsEdges: true }).names).toEqual(
      autoOrder(size).names.filter((name) => name !== 'webgpu'),
    );
  }
});

import { expect, test } from '@jest/globals';
import { WorkbenchError } from '../../../../src/run/errors.js';
import { Heap } from '../../../../src/nn/webgpu/heap.js';

/** A heap of buffers that are their sizes. @param most bytes */
function heapOf(most: number) {
  const sizes: number[] = [];
  const heap = new Heap(most, (size) => {
    sizes.push(size);
    return { size } as GPUBuffer;
  });
  return { heap, sizes };
}

test('runs lie apart, and what is given back is handed out again', () => {
  const { heap } = heapOf(2 ** 24);
  const [first, second, third] = [5, 1, 8].map((length) => heap.take(length)) as [number, number, number];
  expect([first, second, third]).toEqual([0, 8, 12]);
  heap.give(first, 5);
  heap.give(second, 1);
  // They are neighbours.
  expect(heap.take(12)).toBe(first);
  expect(heap.take(1)).toBe(20);
});

test('a heap doubles with its contents, up to what the device binds', () => {
  const { heap, sizes } = heapOf(2 ** 23);
  const begin = heap.take(2 ** 18);
  expect(heap.take(4)).toBe(begin + 2 ** 18);
  expect(sizes).toEqual([2 ** 20, 2 ** 21]);
  expect(() => heap.take(2 ** 22)).toThrow(
    new WorkbenchError('native', 'expected the card to bind 18 MiB at once, got at most 8 MiB'),
  );
  // Nothing is lost by it.
  expect(heap.take(4)).toBe(begin + 2 ** 18 + 4);
});

/** A device in software, where there is one. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { Parameters } from '../../../../src/nn/parameters.js';
import { SimdExecutor } from '../../../../src/nn/simd/executor.js';
import { Tape } from '../../../../src/nn/tape.js';
import { openDevice } from '../../../../src/nn/webgpu/device.js';
import { WebGpuExecutor } from '../../../../src/nn/webgpu/executor.js';
import type { Executor } from '../../../../src/nn/executor.js';
import { executorsHere } from '../../../fixtures/executors.js';
import { expectNear } from '../../../fixtures/tape-check.js';

const device = (await executorsHere()).includes('webgpu') ? await openDevice() : undefined;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Gradient by a table of which one row is read by most of many entries. */
async function gradientOn(executor: Executor): Promise<Float32Array> {
  const [rows, width, entries] = [9, 70, 6000];
  const table = { shape: [rows, width], data: Float32Array.from({ length: rows * width }, (_, i) => Math.sin(i)) };
  const parameters = new Parameters(executor, { table });
  const tape = new Tape(parameters);
  tape.begin();
  const index = Int32Array.from({ length: entries }, (_, i) => (i % 5 === 0 ? i % rows : 4));
  const outputs = tape.outputs([tape.rows(tape.parameter('table'), index)]);
  outputs.backward(Float32Array.from({ length: entries * width }, (_, i) => Math.cos(i * i)));
  return (await parameters.export(parameters.gradients)).table!.data;
}

(device ? describe : describe.skip)('a device', () => {
  test('adds up rows that very many entries read', async () => {
    expectNear(await gradientOn(new WebGpuExecutor(device!)), await gradientOn(new SimdExecutor()), 1e-5);
  });

  test('gives the same bytes each time', async () => {
    const executor = new WebGpuExecutor(device!);
    expect(await gradientOn(executor)).toEqual(await gradientOn(executor));
  });

  test('holds a table as long as networks refer to it, though its array is gone', async () => {
    const executor = new WebGpuExecutor(device!);
    const tables = Array.from({ length: 20 }, (_, i) => executor.hold(Float32Array.of(i, 2, 3)));
    await setImmediate();
    collectGarbage();
    await setTimeout(20);
    const others = Array.from({ length: 20 }, () => executor.hold(new Float32Array(3)));
    expect(others).toHaveLength(20);
    for (const [i, table] of tables.entries()) expect(await executor.read(table)).toEqual(Float32Array.of(i, 2, 3));
  });

  test('keeps what lies in its memory when that grows', async () => {
    const executor = new WebGpuExecutor(device!);
    const before = executor.run([3]);
    executor.write(before.parts[0]!, Float32Array.of(1, 2, 3));
    const { size } = device!.floats.buffer;
    const large = executor.run([size / 4]);
    expect(device!.floats.buffer.size).toBeGreaterThan(size);
    expect(await executor.read(before.parts[0]!)).toEqual(Float32Array.of(1, 2, 3));
    executor.free(large);
  });
});

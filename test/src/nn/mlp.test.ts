import { describe, expect, test } from '@jest/globals';
import { AdamW } from '../../../src/nn/adamw.js';
import { mlp } from '../../../src/nn/mlp.js';

const rows = [
  [0, 0],
  [0, 1],
  [1, 0],
  [1, 1],
];

describe('a dense network over vectors', () => {
  test('goes back along the gradients that differences measure, in every parameter', async () => {
    const network = mlp({ inputs: 2, hidden: [5, 3], outputs: 2, seed: 4 });
    const { parameters } = network;
    const weights = [0.3, -1, 0.5, 2, -0.4, 0.1, 1, -0.7];
    const objective = async () => (await network.values(rows)).reduce((sum, value, i) => sum + value * weights[i]!, 0);
    network.outputs(rows).backward(Float32Array.from(weights));
    const grads = await parameters.export(parameters.gradients);
    const start = await parameters.export();
    expect(parameters.names).toEqual(['mlp.1', 'mlp.1.bias', 'mlp.2', 'mlp.2.bias', 'mlp.out', 'mlp.out.bias']);
    for (const [name, { shape, data }] of Object.entries(start)) {
      for (let i = 0; i < data.length; i++) {
        const at = (offset: number) => {
          const moved = (data as Float32Array).slice();
          moved[i]! += offset;
          parameters.import({ ...start, [name]: { shape, data: moved } });
          return objective();
        };
        const measured = ((await at(2 ** -7)) - (await at(-(2 ** -7)))) / 2 ** -6;
        expect(Math.abs(measured - grads[name]!.data[i]!)).toBeLessThan(2e-3);
      }
    }
    expect((await parameters.export())['mlp.1']!.shape).toEqual([2, 5]);
  });

  test('learns exclusive or, and a copy with its weights says the same', async () => {
    const network = mlp({ inputs: 2, hidden: [8], outputs: 1, seed: 1 });
    const wanted = [0, 1, 1, 0];
    const optimizer = new AdamW(network.parameters);
    for (let step = 0; step < 400; step++) {
      const outputs = network.outputs(rows);
      optimizer.zeroGrad();
      outputs.backward((await outputs.read()).map((value, i) => value - wanted[i]!));
      await optimizer.step(0.03);
    }
    const learned = [...(await network.values(rows))];
    learned.forEach((value, i) => expect(value).toBeCloseTo(wanted[i]!, 2));
    const copy = mlp({ inputs: 2, hidden: [8], outputs: 1 });
    expect([...(await copy.values(rows))]).toEqual([0, 0, 0, 0]);
    copy.parameters.import(await network.parameters.export());
    expect([...(await copy.values(rows))]).toEqual(learned);
    // Independent of the other rows.
    expect((await copy.values([rows[1]!]))[0]).toBe(learned[1]);
  });

  test('refuses the backward pass of an earlier computation', () => {
    const network = mlp({ inputs: 2, hidden: [], outputs: 1, seed: 1 });
    const early = network.outputs(rows);
    network.outputs(rows);
    expect(() => early.backward(new Float32Array(4))).toThrow('expected the latest computation, got an earlier one');
  });
});

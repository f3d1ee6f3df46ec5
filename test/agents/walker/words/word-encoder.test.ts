import { describe, expect, test } from '@jest/globals';
import type { Layers } from '../../../../agents/walker/heads/network.js';
import { createSequenceReader, createWordEncoder } from '../../../../agents/walker/words/word-encoder.js';
import type { SaidWords, Sequences } from '../../../../agents/walker/words/said-words.js';
import { Rng } from '../../../../src/run/seeds.js';
import { openBackend } from '../../../../src/tensor/backend.js';
import { matMul, readTensor } from '../../../../src/tensor/ops.js';
import { ParameterSet } from '../../../../src/tensor/parameters.js';
import { createRecurrentLayer } from '../../../../src/tensor/recurrent.js';
import { checkGradient, expectClose } from '../../../fixtures/gradient-check.js';
import { randomize } from '../../../fixtures/toy-walker.js';

const { tf } = await openBackend('wasm');

const units = 3;
const inputs = 4;
const numbers = Rng.named(1, 'test/rows');
const rows = Float32Array.from({ length: 5 * inputs }, () => numbers.normal());
/** Four sequences of four lengths, out of order. */
const sequences: Sequences = {
  rows: Int32Array.of(2, 0, 4, 4, 1, 3, 0, 2, 2, 1),
  offsets: Int32Array.of(0, 2, 3, 8, 10),
};

function emptyLayers(): Layers {
  const parameters = new ParameterSet(tf);
  const weight = (name: string) => parameters.get(name) as unknown as ReturnType<Layers['weight']>;
  return {
    parameters,
    weight,
    add(name, fanIn, fanOut, biased) {
      parameters.add(name, [fanIn, fanOut], new Float32Array(fanIn * fanOut));
      if (biased) parameters.add(`${name}.bias`, [fanOut], new Float32Array(fanOut));
    },
    lstm: (name, width, dim) => createRecurrentLayer(tf, parameters, { cell: 'lstm', name, inputs: width, dim }),
    dense: (input, name) => tf.add(matMul(tf, input, weight(name)), weight(`${name}.bias`)),
  };
}

/** The same by loops over plain numbers, a sequence at a time. */
async function readPlainly(parameters: ParameterSet, sequence: Int32Array): Promise<number[]> {
  const tensors = await parameters.export();
  const of = (name: string) => tensors[name]!.data as Float32Array;
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
  const direction = (name: string, words: number[]) => {
    let [hidden, memory]: number[][] = [Array(units).fill(0), Array(units).fill(0)];
    return words.map((row) => {
      const gate = (at: number) => {
        let sum = of(`${name}.bias`)[at]!;
        for (let j = 0; j < inputs; j++) sum += rows[row * inputs + j]! * of(`${name}.input`)[j * 4 * units + at]!;
        for (let j = 0; j < units; j++) sum += hidden![j]! * of(`${name}.recurrent`)[j * 4 * units + at]!;
        return sum;
      };
      const gates = Array.from({ length: 4 * units }, (_, at) => gate(at));
      memory = memory!.map((kept, u) => {
        return sigmoid(gates[units + u]!) * kept + sigmoid(gates[u]!) * Math.tanh(gates[3 * units + u]!);
      });
      hidden = memory.map((kept, u) => sigmoid(gates[2 * units + u]!) * Math.tanh(kept));
      return hidden;
    });
  };
  const forward = direction('r.forward', [...sequence]);
  const backward = direction('r.backward', [...sequence].reverse()).reverse();
  const both = forward.map((row, i) => [...row, ...backward[i]!]);
  const weights = both.map((row) => {
    let score = 0;
    for (let u = 0; u < units; u++) {
      const inner = row.reduce((sum, x, j) => sum + x * of('r.attention')[j * units + u]!, of('r.attention.bias')[u]!);
      score += Math.tanh(inner) * of('r.attention.out')[u]!;
    }
    return Math.exp(score);
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return both[0]!.map((_, j) => both.reduce((sum, row, i) => sum + (weights[i]! / total) * row[j]!, 0));
}

describe('a reader of sequences', () => {
  test('equals loops over the rows of each, for any length', async () => {
    const layers = emptyLayers();
    const read = createSequenceReader(tf, layers, { name: 'r', inputs, units });
    await randomize(layers.parameters, 4);
    const made = await readTensor(tf, () => read(tf.tensor2d(rows, [5, inputs]), sequences));
    const expected: number[] = [];
    for (let i = 0; i < 4; i++) {
      const own = sequences.rows.subarray(sequences.offsets[i], sequences.offsets[i + 1]);
      expected.push(...(await readPlainly(layers.parameters, own)));
    }
    expectClose(made, expected);
    layers.parameters.dispose();
  });

  test('has the gradients that its outputs have as gradients', async () => {
    const layers = emptyLayers();
    const read = createSequenceReader(tf, layers, { name: 'r', inputs, units });
    layers.parameters.add('rows', [5, inputs], rows);
    await randomize(layers.parameters, 4);
    await checkGradient(tf, layers.parameters, () => read(layers.weight('rows'), sequences));
    layers.parameters.dispose();
  });
});

/** Two dialogues over three messages; the first message was said last in both. */
const words: SaidWords = {
  messages: { rows: Int32Array.of(1, 2, 3, 0, 2, 2), offsets: Int32Array.of(0, 3, 4, 6) },
  numLast: 1,
  dialogues: { rows: Int32Array.of(2, 1, 0, 0), offsets: Int32Array.of(0, 3, 4) },
  dialogueOf: Int32Array.of(0, 0, 1),
  stateOf: Int32Array.of(0, 2),
  tasks: [],
};
const said = { words, start: Int32Array.of(0, 0, 2) };
const saying = (...rows: number[]) => ({
  ...said,
  words: { ...words, messages: { ...words.messages, rows: Int32Array.from(rows) } },
});

describe('the encoder of words', () => {
  const make = async () => {
    const layers = emptyLayers();
    const starts = { entities: rows, entityDim: inputs };
    const encode = createWordEncoder(tf, layers, { numWords: 5, starts, width: 6, seed: 1 });
    await randomize(layers.parameters, 7);
    return { parameters: layers.parameters, encode };
  };

  test('makes one vector a dialogue', async () => {
    const { parameters, encode } = await make();
    const made = await readTensor(tf, () => encode(said));
    expect(made).toHaveLength(2 * 6);
    expect(made.subarray(6)).not.toEqual(made.subarray(0, 6));
    parameters.dispose();
  });

  test('reads the order of words, and what was said before', async () => {
    const { parameters, encode } = await make();
    const made = await readTensor(tf, () => encode(said));
    expect(await readTensor(tf, () => encode(saying(3, 2, 1, 0, 2, 2)))).not.toEqual(made);
    const moved = await readTensor(tf, () => encode(saying(1, 2, 3, 4, 2, 2)));
    expect(moved.subarray(0, 6)).not.toEqual(made.subarray(0, 6));
    expectClose(moved.subarray(6), made.subarray(6));
    parameters.dispose();
  });

  test('has the gradients that its outputs have as gradients, the table of words among them', async () => {
    const { parameters, encode } = await make();
    await checkGradient(tf, parameters, () => encode(said));
    parameters.dispose();
  });
});

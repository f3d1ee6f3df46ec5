import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Starts } from '../../../../agents/dialogue-walker/heads/network.js';
import {
  type SaidWords,
  WordReader,
  readVocabulary,
  vocabularyOf,
  wordsOf,
  writeVocabulary,
} from '../../../../agents/dialogue-walker/words/said-words.js';
import { sequenceReader, wordEncoder } from '../../../../agents/dialogue-walker/words/word-encoder.js';
import type { WalkSample } from '../../../../datasets/walk-sample.js';
import { Rng } from '../../../../src/run/seeds.js';
import type { Sequences } from '../../../../src/nn/bidirectional.js';
import type { Executor } from '../../../../src/nn/executor.js';
import { Parameters } from '../../../../src/nn/parameters.js';
import { SimdExecutor } from '../../../../src/nn/simd/executor.js';
import { Tape, type Taped } from '../../../../src/nn/tape.js';
import { checkGradient, expectClose } from '../../../fixtures/gradient-check.js';
import { randomize } from '../../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../../fixtures/toy-walks.js';

const units = 3;
const inputs = 4;
const numbers = Rng.named(1, 'test/rows');
const rows = Float32Array.from({ length: 5 * inputs }, () => numbers.normal());
/** Four sequences of four lengths, out of order. */
const sequences: Sequences = {
  rows: Int32Array.of(2, 0, 4, 4, 1, 3, 0, 2, 2, 1),
  offsets: Int32Array.of(0, 2, 3, 8, 10),
};

/** Random weights, and what computes with them. */
async function withWeights(starts: Starts, build: (tape: Tape) => Taped) {
  const executor: Executor = new SimdExecutor();
  const parameters = new Parameters(executor, starts.values);
  await randomize(parameters, 4);
  const tape = new Tape(parameters);
  const outputs = (made = build) => {
    tape.begin();
    return tape.outputs([made(tape)]);
  };
  return { parameters, outputs };
}

/** A reader of the sequences, whose rows are trained too. */
function reader() {
  const starts = new Starts(1);
  const read = sequenceReader(starts, { name: 'r', inputs, units });
  starts.set('rows', [5, inputs], rows);
  return withWeights(starts, (tape) => read(tape, tape.parameter('rows'), sequences));
}

/** The same by loops over plain numbers, a sequence at a time. */
async function readPlainly(parameters: Parameters, sequence: Int32Array): Promise<number[]> {
  const tensors = await parameters.export();
  const of = (name: string) => tensors[name]!.data;
  const rows = of('rows');
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
    const { parameters, outputs } = await reader();
    const expected: number[] = [];
    for (let i = 0; i < 4; i++) {
      const own = sequences.rows.subarray(sequences.offsets[i], sequences.offsets[i + 1]);
      expected.push(...(await readPlainly(parameters, own)));
    }
    expectClose(await outputs().read(), expected);
  });

  test('has the gradients that its outputs have as gradients', async () => {
    const { parameters, outputs } = await reader();
    await checkGradient(parameters, () => outputs());
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
    const starts = new Starts(1);
    const tables = { entities: rows, entityDim: inputs };
    const encode = wordEncoder(starts, { numWords: 5, tables, width: 6 });
    const { parameters, outputs } = await withWeights(starts, (tape) => encode(tape, said));
    return { parameters, outputs, read: (batch = said) => outputs((tape) => encode(tape, batch)).read() };
  };

  test('makes one vector a dialogue', async () => {
    const made = await (await make()).read();
    expect(made).toHaveLength(2 * 6);
    expect(made.subarray(6)).not.toEqual(made.subarray(0, 6));
  });

  test('reads the order of words, and what was said before', async () => {
    const { read } = await make();
    const made = await read();
    expect(await read(saying(3, 2, 1, 0, 2, 2))).not.toEqual(made);
    const moved = await read(saying(1, 2, 3, 4, 2, 2));
    expect(moved.subarray(0, 6)).not.toEqual(made.subarray(0, 6));
    expectClose(moved.subarray(6), made.subarray(6));
  });

  test('has the gradients that its outputs have as gradients, the table of words among them', async () => {
    const { parameters, outputs } = await make();
    await checkGradient(parameters, () => outputs());
  });
});

const [model] = toyTwoHop().samples;

function turn(dialogueId: string, ...texts: string[]): WalkSample {
  const messages = texts.map((text) => ({ sender: 'user' as const, text }));
  return { ...model!, task: { ...model!.task, id: `${dialogueId}/${texts.length}`, dialogueId, messages } };
}

describe('the words of a walker', () => {
  test('are runs of letters in lower case', () => {
    expect(wordsOf("I'd love Amélie (2001)!")).toEqual(['i', 'd', 'love', 'amélie']);
    expect(wordsOf('42 …')).toEqual([]);
  });

  test('are those that messages of train say twice; turns that share messages do not count them again', () => {
    const train = [
      turn('a', 'seen Dune', 'who directed it'),
      turn('a', 'seen Dune', 'who directed it', 'Dune rocks'),
      turn('b', 'who rocks'),
    ];
    expect(vocabularyOf(train)).toEqual(['dune', 'rocks', 'who']);
  });
});

describe('words of a batch', () => {
  const reader = new WordReader(['dune', 'who']);
  const rowsOf = ({ rows, offsets }: { rows: Int32Array; offsets: Int32Array }) =>
    Array.from({ length: offsets.length - 1 }, (_, i) => [...rows.subarray(offsets[i], offsets[i + 1])]);

  test('hold each message once, unknown words as row 0, and say which messages each dialogue has', () => {
    const [a, b] = [turn('a', 'one', 'Dune', 'who made Dune'), turn('b', 'zero', 'one', 'two', 'who made Dune')];
    const said = reader.of([a.task, a.task, b.task]);
    expect(rowsOf(said.messages)).toEqual([[2, 0, 1], [0], [1], [0]]);
    expect(said.numLast).toBe(1);
    // Only the last three of the second dialogue.
    expect(rowsOf(said.dialogues)).toEqual([
      [1, 2, 0],
      [1, 3, 0],
    ]);
    expect([...said.dialogueOf]).toEqual([0, 0, 1]);
    expect([...said.stateOf]).toEqual([0, 2]);
  });

  test('are one unknown word where a message has none, or where there is no message', () => {
    const said = reader.of([turn('a', '?!').task, { ...turn('b').task }]);
    expect(rowsOf(said.messages)).toEqual([[0], [0]]);
  });

  test('are kept of no more texts than may be, and those forgotten are read as before', () => {
    const vocabulary = ['red', 'green', 'blue'];
    const tasks = ['red green', 'green blue', 'blue', 'red'].map((said) => turn(said, said).task);
    const [small, large] = [new WordReader(vocabulary, 2), new WordReader(vocabulary)];
    for (const task of [...tasks, ...tasks]) {
      expect(small.of([task])).toEqual(large.of([task]));
      expect(small.kept).toBeLessThanOrEqual(2);
    }
    expect(small.of(tasks)).toEqual(large.of(tasks));
    expect(large.kept).toBe(tasks.length);
  });

  test('of a long message are its last ones', () => {
    const said = reader.of([turn('a', `who ${'x '.repeat(47)}Dune`).task]);
    expect(said.messages.rows).toHaveLength(48);
    expect([said.messages.rows[0], said.messages.rows[47]]).toEqual([0, 1]);
  });
});

describe('the words of a run', () => {
  let run: string;
  beforeEach(() => {
    run = mkdtempSync(join(tmpdir(), 'kgwalk-words-'));
    mkdirSync(join(run, 'embeddings'));
  });
  afterEach(() => rmSync(run, { recursive: true }));
  const file = () => join(run, 'embeddings', 'walker-words.json');

  test('come back as they were kept', () => {
    expect(readVocabulary(run)).toBeUndefined();
    writeVocabulary(run, ['dune', 'who']);
    expect(readVocabulary(run)).toEqual(['dune', 'who']);
  });

  test('are not there for a network that reads none', () => {
    writeVocabulary(run, undefined);
    expect(readVocabulary(run)).toBeUndefined();
  });

  test('are refused when the file was cut short or holds something else', () => {
    writeVocabulary(run, ['dune', 'who']);
    const text = readFileSync(file(), 'utf8');
    for (const bad of [text.slice(0, -6), '{"words": [1]}', '[]']) {
      writeFileSync(file(), bad);
      expect(() => readVocabulary(run)).toThrow('expected the words of a walker');
    }
  });
});
